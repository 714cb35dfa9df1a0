// The list of runs: filtered and sorted here; on a live page new ones come in as they seal.
"use strict";
(async () => {
  const { h, render, useState, useEffect, useMemo, useRef, byId, say, startTheme, startKeys, inField, inflated, words } = Critiqor;
  const AT_ONCE = 200;
  const EVERY_MS = 2000;
  const READINESS = { safe_to_deploy: ["Safe to deploy", "safe"], review_recommended: ["Review recommended", "review"], unsafe_for_production: ["Unsafe for production", "unsafe"], insufficient_evidence: ["Insufficient evidence", "none"], unjudged: ["Not judged yet", "none"] };
  const RANK = { low: 1, medium: 2, high: 3, critical: 4 };
  const text = (key) => (row) => (row[key] || "").toLowerCase();
  const number = (key) => (row) => (row[key] == null ? -1 : row[key]);
  const COLUMNS = [
    { key: "trust", label: "Trust", by: number("trust") },
    { key: "run_id", label: "Run", by: text("run_id") },
    { key: "agent", label: "Agent", by: text("agent"), wide: true },
    { key: "failure", label: "Main failure", by: (row) => RANK[row.severity] || 0, down: true },
    { key: "status", label: "Status", by: text("status"), wide: true },
    { key: "tool_calls", label: "Tool calls", by: number("tool_calls"), number: true, wide: true, down: true },
    { key: "tokens", label: "Tokens", by: number("tokens"), number: true, wide: true, down: true },
    { key: "seconds", label: "Duration", by: number("seconds"), number: true, wide: true, down: true },
    { key: "started", label: "Started", by: text("started"), wide: true, down: true },
  ];

  const Cell = ({ row, column }) => {
    const { key } = column;
    if (key === "trust") return h("td", null, h("span", { class: `trust tone-${(READINESS[row.readiness] || READINESS.insufficient_evidence)[1]}`, title: (READINESS[row.readiness] || [row.readiness])[0] }, row.trust == null ? "?" : row.trust));
    if (key === "run_id") return h("td", { title: row.run_id }, row.link ? h("a", { href: row.link }, h("bdi", null, words.visible(row.run_id) || "(no id)")) : h("bdi", null, words.visible(row.run_id)));
    if (key === "failure") {
      return h("td", null, row.failure
        ? h("span", { class: "failure-name" }, words.visible(row.failure), h("span", { class: `severity severity-${row.severity}` }, h("span", { class: "severity-shape", "aria-hidden": "true" }), row.severity), row.failures > 1 && h("span", { class: "count" }, `+${row.failures - 1}`))
        : h("span", { class: "count" }, row.readiness === "unjudged" ? "not judged yet" : "none found"));
    }
    const shown = {
      agent: () => h("bdi", null, words.visible(row.agent || "?")),
      status: () => (row.readiness === "unjudged" ? "?" : row.status),
      tool_calls: () => [words.count(row.tool_calls), row.tool_errors ? h("span", { class: "bad" }, ` ${row.tool_errors} failed`) : null],
      tokens: () => (row.tokens == null ? "?" : `${row.tokens_complete ? "" : "≥ "}${words.count(row.tokens)}`),
      seconds: () => (row.seconds == null ? "?" : words.duration(row.seconds * 1e6)),
      started: () => (row.started ? row.started.slice(0, 19).replace("T", " ") : "?"),
    };
    return h("td", { class: [column.number && "number", column.wide && "wide"].filter(Boolean).join(" ") }, shown[key]());
  };

  const Runs = ({ first, live, search }) => {
    const [rows, setRows] = useState(first);
    const [fresh, setFresh] = useState(new Set());
    const [query, setQuery] = useState("");
    const [only, setOnly] = useState(null);
    const [sort, setSort] = useState({ key: "started", down: true });
    const [most, setMost] = useState(AT_ONCE);
    const [linked, setLinked] = useState(true);
    const version = useRef(-1);

    useEffect(() => {
      if (!live) return undefined;
      let timer = 0;
      const ask = async () => {
        try {
          const answer = await fetch(`${live}?since=${version.current}`, { cache: "no-store", credentials: "same-origin" });
          if (!answer.ok) throw new Error(answer.status);
          const { version: reached, rows: changed } = await answer.json();
          const known = version.current >= 0;
          version.current = reached;
          setLinked(true);
          if (changed.length) {
            setRows((before) => {
              const byRun = new Map(before.map((row) => [row.link, row]));
              changed.forEach((row) => byRun.set(row.link, row));
              return [...byRun.values()];
            });
            if (known) {
              setFresh(new Set(changed.map((row) => row.link)));
              say(words.plural(changed.length, "new run"));
            }
          }
        } catch {
          setLinked(false);
        }
        timer = setTimeout(ask, EVERY_MS);
      };
      ask();
      return () => clearTimeout(timer);
    }, []);

    const counts = useMemo(() => {
      const found = {};
      rows.forEach((row) => { found[row.readiness] = (found[row.readiness] || 0) + 1; });
      return found;
    }, [rows]);
    const shown = useMemo(() => {
      const wanted = query.trim().toLowerCase();
      const column = COLUMNS.find((one) => one.key === sort.key);
      const kept = rows.filter((row) => (!only || row.readiness === only)
        && (!wanted || `${row.run_id} ${row.agent || ""} ${row.failure || ""} ${row.status} ${row.severity || ""}`.toLowerCase().includes(wanted)));
      const keyed = kept.map((row) => [column.by(row), row]);
      const way = sort.down ? -1 : 1;
      keyed.sort(([a, one], [b, other]) => (a < b ? -way : a > b ? way : one.run_id < other.run_id ? -1 : 1));
      return keyed.map(([, row]) => row);
    }, [rows, query, only, sort]);

    return [
      h("div", { class: "runs-head" }, h("h1", null, "Runs"), h("span", { class: "count", role: "status" }, shown.length === rows.length ? words.plural(rows.length, "run") : `${words.count(shown.length)} of ${words.plural(rows.length, "run")}`),
        live && h("span", { class: `live${linked ? "" : " live-off"}` }, linked ? "live" : "the server does not answer")),
      h("div", { class: "card" },
        h("div", { class: "tools" },
          h("label", { class: "search" }, h("span", { class: "hidden" }, "Filter runs"), h("input", { type: "search", ref: search, placeholder: "Filter by run, agent, failure or status", value: query, onInput: (event) => { setQuery(event.target.value); setMost(AT_ONCE); } })),
          h("div", { class: "group scroll-x", role: "group", "aria-label": "Show only" }, Object.entries(READINESS).filter(([key]) => counts[key]).map(([key, [label, tone]]) => h("button", {
            type: "button", class: "toggle", "aria-pressed": String(only === key), onClick: () => setOnly(only === key ? null : key) }, h("span", { class: `dot tone-${tone}`, "aria-hidden": "true" }), label, " ", h("span", { class: "count" }, words.count(counts[key])))))),
        h("div", { class: "runs-box", tabindex: 0, role: "region", "aria-label": "Runs" },
          h("table", { class: "runs" },
            h("thead", null, h("tr", null, COLUMNS.map((column) => h("th", { scope: "col", class: [column.number && "number", column.wide && "wide"].filter(Boolean).join(" "), "aria-sort": sort.key === column.key ? (sort.down ? "descending" : "ascending") : "none" },
              h("button", { type: "button", onClick: () => setSort({ key: column.key, down: sort.key === column.key ? !sort.down : Boolean(column.down) }) }, column.label, sort.key === column.key ? (sort.down ? " ↓" : " ↑") : ""))))),
            h("tbody", null, shown.slice(0, most).map((row) => h("tr", { key: row.link || row.run_id, class: fresh.has(row.link) ? "new" : "" }, COLUMNS.map((column) => h(Cell, { row, column })))))),
          shown.length === 0 && h("p", { class: "empty" }, rows.length ? "No run passes the filter." : live ? "No run is sealed yet. Send traces to this receiver; each run appears here when it is sealed." : "No runs."),
          shown.length > most && h("p", { class: "hint" }, h("button", { type: "button", class: "button", onClick: () => setMost(most + 5 * AT_ONCE) }, `Show more (${words.count(shown.length - most)} left)`)))),
    ];
  };

  startTheme();
  const search = { current: null };
  const showKeys = startKeys([["/", "filter the runs"], ["Tab", "through headings and runs"], ["Enter", "sort, or open a run"], ["?", "this list"]]);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open || inField(event)) return;
    if (event.key === "/") { event.preventDefault(); search.current.focus(); }
    if (event.key === "?") showKeys();
  });
  const first = await inflated(byId("data"));
  const place = byId("runs-view");
  place.replaceChildren();
  render(h(Runs, { first, live: document.body.dataset.live || null, search }), place);
  document.documentElement.dataset.ready = "yes";
})();
