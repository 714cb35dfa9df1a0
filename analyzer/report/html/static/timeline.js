// The waterfall: a row a step, to scale; only the rows in sight are in the document.
"use strict";
Critiqor.Timeline = (() => {
  const { h, useState, useEffect, useLayoutEffect, useMemo, useRef, useSelection, select, useWidth, useTheme, cssColour, words, say } = Critiqor;
  const ROW = 30;
  const TALLEST = 18; // rows in sight
  const AT_ONCE = 400; // a run of more steps opens with its depths closed
  const BUCKETS = 240;
  const ICONS = {
    agent: "◆", turn: "↳", model: "✦", tool: "⚙\ufe0e", memory: "▤", skill: "✧", retry: "↻", error: "✕", context: "◐", decision: "◇",
    message: "❝", process: "▸", other: "·",
  };
  const NAMES = { agent: "Agents", turn: "Turns", model: "Model calls", tool: "Tools", memory: "Memory", skill: "Skills", retry: "Retries",
    error: "Errors", context: "Context", decision: "Decisions", message: "Messages", process: "Processes", other: "Other" };

  // What may be closed at once: all that holds something, but for a step that holds the whole run.
  const closable = (model) => {
    const roots = model.parent.reduce((count, above) => count + (above < 0 ? 1 : 0), 0);
    return (step) => model.inside[step] > 0 && (model.depth[step] > 0 || roots > 1);
  };

  const closedAtFirst = (model) => {
    const closed = new Set();
    if (model.size <= AT_ONCE) return closed;
    const open = new Set();
    for (const cause of model.causes) {
      for (const step of cause.steps.slice(0, 3)) {
        for (let above = model.parent[step]; above >= 0; above = model.parent[above]) open.add(above);
      }
    }
    const mayClose = closable(model);
    for (let step = 0; step < model.size; step += 1) if (mayClose(step) && !open.has(step)) closed.add(step);
    return closed;
  };

  // The steps that pass the filter, with all they lie in; null when there is no filter.
  const passing = (model, filter) => {
    const query = filter.query.trim().toLowerCase();
    if (!query && !filter.hidden.size && !filter.only) return null;
    const shown = new Uint8Array(model.size);
    const keep = (step) => {
      shown[step] = 2;
      for (let above = model.parent[step]; above >= 0 && !shown[above]; above = model.parent[above]) shown[above] = 1;
    };
    const tests = { evidence: (step) => model.causesOf.has(step), failed: (step) => model.failed(step), again: (step) => model.again(step) || model.kindOf(step) === "retry" };
    for (let step = 0; step < model.size; step += 1) {
      if (filter.hidden.has(model.kindOf(step))) continue;
      if (filter.only && !tests[filter.only](step)) continue;
      if (query && !`${model.name(step)} ${model.detail(step)} ${model.kindOf(step)}`.toLowerCase().includes(query)) {
        const ids = model.eventsOf(step).some((event) => model.event(event).id.toLowerCase() === query);
        if (!ids) continue;
      }
      keep(step);
    }
    return shown;
  };

  const rowsOf = (model, closed, shown) => {
    const rows = [];
    for (let place = 0; place < model.size; place += 1) {
      const step = model.order[place];
      if (shown && !shown[step]) continue;
      rows.push(step);
      if (!shown && closed.has(step)) place += model.inside[step];
    }
    return rows;
  };

  const Overview = ({ model, view, setView }) => {
    const ref = useRef(null);
    const chart = useRef(null);
    const width = useWidth(ref);
    const dark = useTheme();
    const data = useMemo(() => {
      const all = new Float64Array(BUCKETS);
      const bad = new Float64Array(BUCKETS);
      const size = model.end / BUCKETS;
      for (let step = 0; step < model.size; step += 1) {
        if (model.kindOf(step) === "agent" || model.kindOf(step) === "turn") continue;
        const first = Math.min(BUCKETS - 1, Math.floor(model.start[step] / size));
        const last = Math.min(BUCKETS - 1, Math.floor((model.start[step] + model.length[step]) / size), first + BUCKETS);
        const weight = model.folded[step] ? model.folded[step] / (last - first + 1) : 1;
        for (let at = first; at <= last; at += 1) all[at] += weight;
        if (model.failed(step)) bad[first] += 1;
      }
      return [Array.from(all, (_, at) => (at + 0.5) * size), Array.from(all), Array.from(bad, (value) => value || null)];
    }, [model]);
    useEffect(() => {
      if (!width) return undefined;
      const bars = (fraction) => uPlot.paths.bars({ size: [fraction, 40] });
      const plot = new uPlot({
        width, height: 52, legend: { show: false }, padding: [4, 0, 0, 0],
        cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
        scales: { x: { time: false, range: () => [0, model.end] }, y: { range: (_, low, high) => [0, Math.max(1, high)] } },
        axes: [{ show: false }, { show: false }],
        series: [{}, { paths: bars(0.9), fill: cssColour("--overview"), width: 0, points: { show: false } },
          { paths: bars(0.9), fill: cssColour("--bad"), width: 0, points: { show: false } }],
        hooks: { setSelect: [(self) => {
          if (self.select.width < 4) return;
          setView([self.posToVal(self.select.left, "x"), self.posToVal(self.select.left + self.select.width, "x")]);
          self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }] },
      }, data, ref.current);
      chart.current = plot;
      return () => plot.destroy();
    }, [width, dark, data]);
    const [from, to] = view;
    return h("div", { class: "overview", ref, role: "img", "aria-label": "When how much happened; drag over it to zoom in" },
      (from > 0 || to < model.end) && h("div", { class: "overview-window", style: { left: `${(from / model.end) * 100}%`, width: `${((to - from) / model.end) * 100}%` } }));
  };

  const Row = ({ model, step, top, active, related, view, closed, onToggle, index, filtered }) => {
    const [from, to] = view;
    const span = to - from;
    const left = (model.start[step] - from) / span;
    const right = (model.start[step] + model.length[step] - from) / span;
    const away = right < 0 || left > 1;
    const kind = model.kindOf(step);
    const worst = model.worst(step);
    const hasInside = model.inside[step] > 0 && !filtered;
    const isClosed = closed.has(step);
    const clipped = Math.max(0, left);
    const flags = [model.failed(step) && "failed", model.again(step) && "tried again", worst && `shows a ${worst} failure`, model.rootOf.has(step) && "where it may have begun"].filter(Boolean);
    const classes = ["row", `kind-${kind}`, active && "row-active", related && "row-related", model.failed(step) && "row-failed",
      worst && `row-evidence evidence-${worst}`, model.folded[step] && "row-folded", filtered && filtered[step] === 1 && "row-dim"];
    const length = model.folded[step] ? "" : model.timed ? words.duration(model.length[step]) : "";
    return h("div", {
      id: `row-${step}`, role: "row", class: classes.filter(Boolean).join(" "), style: { transform: `translateY(${top}px)` },
      "aria-level": model.depth[step] + 1, "aria-rowindex": index + 1, "aria-selected": active ? "true" : "false",
      "aria-expanded": hasInside ? String(!isClosed) : undefined, "data-step": step,
      onClick: () => select({ step, open: true, cause: (model.causesOf.get(step) || [-1])[0] }),
    },
      h("div", { class: "row-name", role: "gridcell", style: { paddingLeft: `${Math.min(model.depth[step], 10) * 14 + 6}px` } },
        hasInside
          ? h("span", { class: `twisty${isClosed ? " twisty-closed" : ""}`, "aria-hidden": "true", onClick: (event) => { event.stopPropagation(); onToggle(step); } }, "▾")
          : h("span", { class: "twisty", "aria-hidden": "true" }),
        h("span", { class: "icon", "aria-hidden": "true" }, ICONS[kind]),
        h("span", { class: "row-title" }, h("bdi", null, model.name(step))),
        model.failed(step) && h("span", { class: "sign sign-bad", title: "failed", "aria-hidden": "true" }, "✕"),
        model.again(step) && h("span", { class: "sign sign-again", title: "tried again", "aria-hidden": "true" }, "↻"),
        model.rootOf.has(step) && h("span", { class: "sign sign-root", title: "where it may have begun", "aria-hidden": "true" }, "⚑"),
        h("span", { class: "row-detail" }, h("bdi", null, model.detail(step))),
        h("span", { class: "hidden" }, `${kind}${flags.length ? `, ${flags.join(", ")}` : ""}`)),
      h("div", { class: "row-lane", role: "gridcell" },
        away
          ? h("span", { class: left > 1 ? "beyond beyond-right" : "beyond", "aria-hidden": "true" }, left > 1 ? "›" : "‹")
          : h("span", { class: "bar-mark", style: { left: `${clipped * 100}%`, width: `max(3px, ${(Math.min(1, right) - clipped) * 100}%)` } }),
        !away && h("span", { class: clipped > 0.8 ? "length length-before" : "length", style: clipped > 0.8 ? { right: `${(1 - clipped) * 100}%` } : { left: `${Math.min(1, right) * 100}%` } }, length)));
  };

  const Filters = ({ model, filter, setFilter, count, zoom, shownRef, closed, setClosed, isZoomed }) => {
    const kinds = useMemo(() => {
      const found = new Map();
      for (let step = 0; step < model.size; step += 1) {
        const kind = model.kindOf(step);
        found.set(kind, (found.get(kind) || 0) + 1);
      }
      return model.kinds.filter((kind) => found.has(kind)).map((kind) => [kind, found.get(kind)]);
    }, [model]);
    const only = [["evidence", "Evidence"], ["failed", "Failed"], ["again", "Retries"]];
    const flip = (kind) => {
      const hidden = new Set(filter.hidden);
      if (!hidden.delete(kind)) hidden.add(kind);
      setFilter({ ...filter, hidden });
    };
    const canClose = useMemo(() => Array.from({ length: model.size }, (_, step) => step).filter(closable(model)), [model]);
    return h("div", { class: "tools" },
      h("label", { class: "search" }, h("span", { class: "hidden" }, "Filter steps"),
        h("input", { type: "search", placeholder: "Filter by name, content or event id", ref: shownRef, value: filter.query, onInput: (event) => setFilter({ ...filter, query: event.target.value }) })),
      h("div", { class: "group", role: "group", "aria-label": "Show only" }, only.map(([key, label]) => h("button", {
        type: "button", class: "toggle", "aria-pressed": String(filter.only === key), onClick: () => setFilter({ ...filter, only: filter.only === key ? null : key }) }, label))),
      h("div", { class: "group group-end", role: "group", "aria-label": "Zoom" },
        canClose.length > 0 && h("button", { type: "button", class: "toggle", onClick: () => setClosed(closed.size ? new Set() : new Set(canClose)) }, closed.size ? "Expand all" : "Collapse"),
        h("button", { type: "button", class: "toggle", "aria-label": "Zoom out", onClick: () => zoom(2) }, "−"),
        h("button", { type: "button", class: "toggle", "aria-label": "Zoom in", onClick: () => zoom(0.5) }, "+"),
        h("button", { type: "button", class: "toggle", disabled: !isZoomed, onClick: () => zoom(0) }, "Whole run")),
      h("div", { class: "legend", role: "group", "aria-label": "Kinds of steps" }, kinds.map(([kind, number]) => h("button", {
        type: "button", class: `legend-item kind-${kind}`, "aria-pressed": String(!filter.hidden.has(kind)), onClick: () => flip(kind),
      }, h("span", { class: "icon", "aria-hidden": "true" }, ICONS[kind]), NAMES[kind], h("span", { class: "count" }, words.count(number)))),
      h("span", { class: "shown", role: "status" }, count)));
  };

  const Timeline = ({ model }) => {
    const chosen = useSelection();
    const [closed, setClosed] = useState(() => closedAtFirst(model));
    const [filter, setFilter] = useState({ query: "", hidden: new Set(), only: null });
    const [view, setView] = useState([0, model.end]);
    const [scrolled, setScrolled] = useState(0);
    const scroller = useRef(null);
    const search = useRef(null);
    const lane = useRef(null);
    const laneWidth = useWidth(lane);
    const shown = useMemo(() => passing(model, filter), [model, filter]);
    const rows = useMemo(() => rowsOf(model, closed, shown), [model, closed, shown]);
    const placeOf = useMemo(() => new Map(rows.map((step, place) => [step, place])), [rows]);
    const inSight = Math.min(rows.length, TALLEST);
    const first = Math.max(0, Math.floor(scrolled / ROW) - 6);
    const last = Math.min(rows.length, first + TALLEST + 14);
    const related = chosen.cause >= 0 ? new Set(model.causes[chosen.cause].steps) : new Set();

    const toggle = (step) => {
      const next = new Set(closed);
      if (!next.delete(step)) next.add(step);
      setClosed(next);
    };
    const zoom = (factor) => {
      if (!factor) return setView([0, model.end]);
      const middle = chosen.step >= 0 ? model.start[chosen.step] + model.length[chosen.step] / 2 : (view[0] + view[1]) / 2;
      const half = Math.max(5, ((view[1] - view[0]) * factor) / 2);
      const from = Math.max(0, Math.min(middle - half, model.end - 2 * half));
      return setView([from, Math.min(model.end, from + 2 * half)]);
    };
    // What is selected elsewhere comes into sight here, once: afterwards one may scroll and filter it away.
    const sought = useRef(-1);
    useLayoutEffect(() => { sought.current = chosen.step; }, [chosen.step]);
    useLayoutEffect(() => {
      const step = sought.current;
      if (step < 0) return;
      if (!placeOf.has(step)) {
        if (shown) { setFilter({ query: "", hidden: new Set(), only: null }); return; }
        const next = new Set(closed);
        for (let above = model.parent[step]; above >= 0; above = model.parent[above]) next.delete(above);
        if (next.size !== closed.size) setClosed(next);
        return;
      }
      sought.current = -1;
      const top = placeOf.get(step) * ROW;
      const box = scroller.current;
      if (top < box.scrollTop) box.scrollTop = Math.max(0, top - ROW);
      else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight + 2 * ROW;
      const at = model.start[step];
      if (at > view[1] || at + model.length[step] < view[0]) {
        const half = (view[1] - view[0]) / 2;
        const from = Math.max(0, Math.min(at - half, model.end - 2 * half));
        setView([from, from + 2 * half]);
      }
    }, [chosen.step, placeOf]);
    useEffect(() => {
      Critiqor.focusSearch = () => search.current.focus();
      Critiqor.zoom = zoom;
      Critiqor.zoomTo = (step) => {
        const margin = Math.max(20, model.length[step] * 0.6, model.end / 1e5);
        setView([Math.max(0, model.start[step] - margin), Math.min(model.end, model.start[step] + model.length[step] + margin)]);
      };
    });

    const move = (place) => {
      const step = rows[Math.max(0, Math.min(rows.length - 1, place))];
      if (step !== undefined) select({ step, cause: (model.causesOf.get(step) || [-1])[0] });
    };
    const onKey = (event) => {
      const place = placeOf.has(chosen.step) ? placeOf.get(chosen.step) : -1;
      const step = chosen.step;
      const acts = {
        ArrowDown: () => move(place + 1),
        ArrowUp: () => move(place - 1),
        PageDown: () => move(place + inSight - 1),
        PageUp: () => move(place - inSight + 1),
        Home: () => move(0),
        End: () => move(rows.length - 1),
        ArrowRight: () => (closed.has(step) ? toggle(step) : move(place + 1)),
        ArrowLeft: () => (step >= 0 && model.inside[step] && !closed.has(step) && !shown ? toggle(step) : step >= 0 && model.parent[step] >= 0 && move(placeOf.get(model.parent[step]))),
        Enter: () => select({ open: true, focus: true }),
        " ": () => select({ open: !chosen.open }),
      };
      if (acts[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        acts[event.key]();
      }
    };
    const marks = words.ticks(view[0], view[1], Math.max(2, Math.floor(laneWidth / 110)));
    const spot = (at) => `${((at - view[0]) / (view[1] - view[0])) * 100}%`;
    const counted = shown ? `${words.count(shown.reduce((sum, kind) => sum + (kind === 2 ? 1 : 0), 0))} of ${words.plural(model.size, "step")}` : words.plural(model.size, "step");
    return [
      h(Filters, { model, filter, setFilter: (next) => { setFilter(next); say("filtered"); }, count: counted, zoom, shownRef: search, closed, setClosed, isZoomed: view[0] > 0 || view[1] < model.end }),
      model.leftOut > 0 && h("p", { class: "hint" }, `This run is very long: ${words.plural(model.leftOut, "step")} are only counted here, in the rows named “more steps”. All that failed, was tried again or shows a failure is there, as far as it fits; the session file has everything.`),
      !model.timed && h("p", { class: "hint" }, "The events of this run tell no times: the steps are drawn in their order, one as long as the other."),
      h("div", { class: "waterfall" },
        h("div", { class: "waterfall-head" },
          h("div", { class: "head-name" }, "Step"),
          h("div", { class: "head-lane", ref: lane }, h(Overview, { model, view, setView }),
            h("div", { class: "axis", "aria-hidden": "true" }, marks.map((at) => h("span", { key: at, style: { left: spot(at) } }, model.timed ? words.duration(at) : `#${at + 1}`))))),
        h("div", {
          class: "rows", role: "treegrid", tabindex: 0, "aria-label": "Steps of the run", "aria-rowcount": rows.length, ref: scroller,
          "aria-activedescendant": placeOf.has(chosen.step) ? `row-${chosen.step}` : undefined,
          style: { height: `${Math.max(1, inSight) * ROW + 2}px` }, onScroll: (event) => setScrolled(event.target.scrollTop), onKeyDown: onKey,
        },
          rows.length
            ? h("div", { class: "rows-all", role: "rowgroup", style: { height: `${rows.length * ROW}px` } },
              h("div", { class: "grid-lines", role: "presentation", "aria-hidden": "true" }, marks.map((at) => h("i", { key: at, style: { left: spot(at) } }))),
              rows.slice(first, last).map((step, offset) => h(Row, {
                key: step, model, step, top: (first + offset) * ROW, index: first + offset, active: step === chosen.step, related: related.has(step), view, closed, onToggle: toggle, filtered: shown })))
            : h("div", { role: "rowgroup" }, h("div", { role: "row" }, h("div", { class: "empty", role: "gridcell" }, "No step passes the filter."))))),
    ];
  };
  Timeline.ICONS = ICONS;
  return Timeline;
})();
