// What led to what: first a failure and what shows it, then whatever the reader opens.
"use strict";
Critiqor.Graph = (() => {
  const { h, useState, useEffect, useMemo, useRef, useSelection, select, useWidth, words } = Critiqor;
  const [WIDE, HIGH] = [196, 52];
  const HEAD = 2; // of a long chain, the first are shown, and the last
  const TAIL = 1;
  const WHOLE = 5; // a chain of so many is shown as it is
  const MORE = 8; // steps that one click on a group opens
  const AT_ONCE = 4; // neighbours that one click opens
  const MEANING = { causes: "shows the failure", reinforces: "next evidence", informs: "is used by", retries: "tried again", repeats: "called again", exhausts: "fills the context of",
    delegates: "hands over to", blocks: "holds up", produces: "asks for", precedes: "then", contains: "holds", leads: "leads to" };

  // Edges between steps, each pair and relation once, from both ends.
  const neighbours = (model) => {
    const found = new Map();
    const seen = new Set();
    const { from, to, relation, rule } = model.edges;
    for (let i = 0; i < from.length; i += 1) {
      const [a, b] = [model.events.step[from[i]], model.events.step[to[i]]];
      const key = `${a} ${b} ${relation[i]}`;
      if (a === b || seen.has(key)) continue;
      seen.add(key);
      const edge = { from: a, to: b, relation: model.texts[relation[i]], rule: model.texts[rule[i]] };
      for (const end of [a, b]) {
        if (!found.has(end)) found.set(end, []);
        found.get(end).push(edge);
      }
    }
    return found;
  };

  // Parts of a failure's evidence that are shown: all of a short one, both ends of a long one and what was opened.
  const shortened = (steps, opened = 0) => {
    const head = HEAD + opened * MORE;
    if (steps.length <= Math.max(WHOLE, head + TAIL)) return { shown: steps, hidden: [], head };
    return { shown: [...steps.slice(0, head), ...steps.slice(-TAIL)], hidden: steps.slice(head, -TAIL), head };
  };

  const build = (model, edgesOf, causes, opened) => {
    const nodes = new Map();
    const edges = [];
    const more = new Map();
    const add = (step) => nodes.set(`s${step}`, { id: `s${step}`, kind: "step", step });
    // What ties two steps is told by the strongest edge between them.
    const tie = (from, to, otherwise) => {
      const found = (edgesOf.get(from) || []).filter((edge) => edge.from === from && edge.to === to && edge.relation !== "reinforces");
      return found.length ? { relation: found[0].relation, rule: found[0].rule } : { relation: otherwise };
    };
    for (const number of causes) {
      const cause = model.causes[number];
      const ordered = [...cause.steps].sort((a, b) => a - b);
      const { shown, hidden, head } = shortened(ordered, [...opened].filter((id) => id.startsWith(`g${number}#`)).length);
      nodes.set(`c${number}`, { id: `c${number}`, kind: "cause", cause: number });
      shown.forEach(add);
      if (hidden.length) nodes.set(`g${number}`, { id: `g${number}`, kind: "group", cause: number, hidden });
      const chain = shown.map((step) => `s${step}`);
      if (hidden.length) chain.splice(head, 0, `g${number}`);
      const between = (a, b, otherwise) => ({ from: a, to: b, cause: number, ...(a[0] === "s" && b[0] === "s" ? tie(Number(a.slice(1)), Number(b.slice(1)), otherwise) : { relation: otherwise }) });
      chain.slice(1).forEach((id, i) => edges.push(between(chain[i], id, "reinforces")));
      const { shown: way } = shortened(cause.path);
      way.forEach(add);
      way.slice(1).forEach((step, i) => edges.push(between(`s${way[i]}`, `s${step}`, "leads")));
      const last = way[way.length - 1];
      if (way.length && !shown.includes(last)) {
        const next = shown.find((step) => step > last);
        edges.push(between(`s${last}`, next === undefined ? `c${number}` : `s${next}`, "leads"));
      }
      if (chain.length) edges.push({ from: chain[chain.length - 1], to: `c${number}`, relation: "causes", cause: number });
    }
    for (const id of opened) {
      if (id[0] !== "s") continue;
      const step = Number(id.slice(1));
      add(step);
      for (const edge of (edgesOf.get(step) || []).filter((one) => one.relation !== "reinforces").slice(0, AT_ONCE)) add(edge.from === step ? edge.to : edge.from);
      if (model.parent[step] >= 0) add(model.parent[step]);
    }
    const drawn = new Set();
    for (let i = edges.length - 1; i >= 0; i -= 1) {
      const pair = `${edges[i].from} ${edges[i].to}`;
      if (drawn.has(pair)) edges.splice(i, 1);
      drawn.add(pair);
    }
    for (const node of [...nodes.values()].filter((one) => one.kind === "step")) {
      let left = 0;
      for (const edge of edgesOf.get(node.step) || []) {
        if (edge.relation === "causes") continue;
        const [from, to] = [`s${edge.from}`, `s${edge.to}`];
        if (!nodes.has(from) || !nodes.has(to)) {
          left += edge.relation !== "reinforces" ? 1 : 0;
          continue;
        }
        if (drawn.has(`${from} ${to}`)) continue;
        drawn.add(`${from} ${to}`);
        edges.push({ from, to, relation: edge.relation, rule: edge.rule });
      }
      const above = model.parent[node.step];
      if (above >= 0 && nodes.has(`s${above}`)) {
        if (!drawn.has(`s${above} ${node.id}`)) edges.push({ from: `s${above}`, to: node.id, relation: "contains" });
        drawn.add(`s${above} ${node.id}`);
      } else if (above >= 0) left += 1;
      if (left && !opened.has(node.id)) more.set(node.id, left);
    }
    return { nodes: [...nodes.values()], edges, more };
  };

  const laidOut = ({ nodes, edges }, direction) => {
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: direction, nodesep: 22, ranksep: direction === "LR" ? 54 : 40, marginx: 14, marginy: 18 });
    graph.setDefaultEdgeLabel(() => ({}));
    nodes.forEach((node) => graph.setNode(node.id, { width: WIDE, height: HIGH }));
    edges.forEach((edge) => graph.setEdge(edge.from, edge.to, {}));
    dagre.layout(graph);
    const size = graph.graph();
    return {
      width: Math.max(size.width || 0, WIDE), height: Math.max(size.height || 0, HIGH),
      at: (id) => graph.node(id), points: (edge) => graph.edge(edge.from, edge.to)?.points || [],
    };
  };

  const curve = (points) => {
    if (points.length < 2) return "";
    let path = `M${points[0].x},${points[0].y}`;
    for (let i = 1; i < points.length - 1; i += 1) {
      const [here, next] = [points[i], points[i + 1]];
      path += ` Q${here.x},${here.y} ${(here.x + next.x) / 2},${(here.y + next.y) / 2}`;
    }
    const end = points[points.length - 1];
    return `${path} L${end.x},${end.y}`;
  };
  // Several failures of one type are numbered.
  const labels = (model) => {
    const totals = new Map();
    model.causes.forEach(({ title }) => totals.set(title, (totals.get(title) || 0) + 1));
    const seen = new Map();
    return model.causes.map(({ title }) => {
      seen.set(title, (seen.get(title) || 0) + 1);
      return totals.get(title) > 1 ? `${title} ${seen.get(title)}` : title;
    });
  };
  const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

  const Node = ({ model, node, place, chosen, related, left, open }) => {
    const press = (act) => ({ onClick: act, onKeyDown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } } });
    const shift = `translate(${place.x - WIDE / 2},${place.y - HIGH / 2})`;
    if (node.kind === "cause") {
      const cause = model.causes[node.cause];
      const active = chosen.cause === node.cause;
      return h("g", { class: `node node-cause evidence-${cause.severity}${active ? " node-active" : ""}`, transform: shift, role: "button", tabindex: 0, "aria-pressed": String(active),
        "aria-label": `Failure: ${cause.title}, ${cause.severity}`, ...press(() => select({ cause: active ? -1 : node.cause })) },
        h("rect", { width: WIDE, height: HIGH, rx: 10 }),
        h("text", { x: 14, y: 22, class: "node-title" }, cut(cause.title, 24)), h("text", { x: 14, y: 39, class: "node-text" }, `${cause.severity} failure`));
    }
    if (node.kind === "group") {
      return h("g", { class: "node node-group", transform: shift, role: "button", tabindex: 0, "aria-label": `Show ${node.hidden.length} more steps`, ...press(() => open(node.id)) },
        h("rect", { width: WIDE, height: HIGH, rx: 10 }),
        h("text", { x: WIDE / 2, y: 31, class: "node-title", "text-anchor": "middle" }, `+ ${words.plural(node.hidden.length, "more step")}`));
    }
    const { step } = node;
    const kind = model.kindOf(step);
    const worst = model.worst(step);
    const classes = ["node", `kind-${kind}`, model.failed(step) && "node-failed", worst && `evidence-${worst}`, model.rootOf.has(step) && "node-root", chosen.step === step && "node-active", related && "node-related"];
    return h("g", { class: classes.filter(Boolean).join(" "), transform: shift },
      h("g", { role: "button", tabindex: 0, "aria-pressed": String(chosen.step === step), "data-node": step,
        "aria-label": `${kind} ${model.name(step)}${model.failed(step) ? ", failed" : ""}${worst ? `, shows a ${worst} failure` : ""}${model.rootOf.has(step) ? ", where it may have begun" : ""}`,
        ...press(() => select({ step, open: true, cause: chosen.cause >= 0 && related ? chosen.cause : (model.causesOf.get(step) || [-1])[0] })) },
        h("rect", { width: WIDE, height: HIGH, rx: 10 }), h("rect", { class: "node-stripe", width: 4, height: HIGH - 16, x: 6, y: 8, rx: 2 }),
        h("text", { x: 18, y: 22, class: "node-title" }, cut(`${model.failed(step) ? "✕ " : ""}${model.again(step) ? "↻ " : ""}${model.name(step)}`, 21)),
        h("text", { x: 18, y: 39, class: "node-text" }, cut(model.detail(step) || kind, 27)),
        model.rootOf.has(step) && h("g", { class: "node-flag", "aria-hidden": "true" }, h("rect", { x: 12, y: -9, width: 98, height: 17, rx: 8.5 }), h("text", { x: 61, y: 3.5, "text-anchor": "middle" }, "where it began"))),
      left > 0 && h("g", { class: "node-more", role: "button", tabindex: 0, transform: `translate(${WIDE - 8},${HIGH - 10})`, "aria-label": `Show what ${model.name(step)} is tied to`, ...press(() => open(node.id)) },
        h("circle", { r: 11 }), h("text", { y: 4, "text-anchor": "middle" }, `+${left > 9 ? "" : left}`)));
  };

  const Graph = ({ model }) => {
    const chosen = useSelection();
    const [opened, setOpened] = useState(new Set());
    const [wanted, setWanted] = useState(null);
    const box = useRef(null);
    const drawing = useRef(null);
    const mover = useRef(null);
    const width = useWidth(box);
    const edgesOf = useMemo(() => neighbours(model), [model]);
    const names = useMemo(() => labels(model), [model]);
    const first = useMemo(() => Critiqor.causeOrder.filter((number) => model.causes[number].steps.length), [model]);
    Critiqor.openInGraph = (step) => setOpened(new Set([...opened, `s${step}`]));
    useEffect(() => { if (chosen.cause >= 0 && wanted !== "all") setWanted(chosen.cause); }, [chosen.cause]);
    const causes = useMemo(() => (wanted === "all" ? first.slice(0, 12) : wanted === "step" ? [] : [wanted === null ? first[0] : wanted]).filter((number) => number !== undefined), [wanted, first]);
    const start = useMemo(() => (first.length ? opened : new Set([...opened, ...(chosen.step >= 0 ? [`s${chosen.step}`] : [])])), [opened, first, first.length ? 0 : chosen.step]);
    const graph = useMemo(() => build(model, edgesOf, causes, start), [model, edgesOf, causes, start]);
    const narrow = width < 720;
    const layout = useMemo(() => laidOut(graph, narrow ? "TB" : "LR"), [graph, narrow]);
    const scale = Math.min(1, Math.max(narrow ? 0.6 : 0.68, (width - 8) / layout.width));
    useEffect(() => {
      if (!drawing.current) return undefined;
      mover.current = Panzoom(drawing.current, { maxScale: 4, minScale: 0.25, step: 0.25, canvas: true, touchAction: "pan-y", cursor: "grab", noBind: false });
      return () => mover.current.destroy();
    }, [graph.nodes.length === 0]);
    useEffect(() => { mover.current?.reset({ animate: false }); }, [layout]);
    if (!graph.nodes.length) return h("p", { class: "empty" }, first.length ? "The evidence of this failure is not in this page." : "No failure was found, so nothing led to one. Select a step in the timeline to see what it is tied to.");
    const related = new Set(chosen.cause >= 0 ? model.causes[chosen.cause].steps : []);
    const open = (id) => setOpened(new Set([...opened, id[0] === "g" ? `${id}#${opened.size}` : id]));
    const relations = [...new Set(graph.edges.map((edge) => edge.relation))];
    const height = Math.min(620, Math.max(150, layout.height * scale + 8));
    const button = (label, sign, act) => h("button", { type: "button", class: "toggle", "aria-label": label, onClick: act }, sign);
    return [
      h("div", { class: "tools" },
        first.length > 0 && h("div", { class: "group scroll-x", role: "group", "aria-label": "Failure" },
          first.slice(0, 8).map((number) => h("button", { type: "button", class: "toggle", "aria-pressed": String(causes.length === 1 && causes[0] === number),
            onClick: () => { setWanted(number); setOpened(new Set()); select({ cause: number }); } }, h("span", { class: `dot evidence-${model.causes[number].severity}`, "aria-hidden": "true" }), names[number])),
          first.length > 1 && h("button", { type: "button", class: "toggle", "aria-pressed": String(wanted === "all"), onClick: () => { setWanted("all"); setOpened(new Set()); } }, "All")),
        h("div", { class: "group group-end", role: "group", "aria-label": "View of the graph" },
          opened.size > 0 && h("button", { type: "button", class: "toggle", onClick: () => setOpened(new Set()) }, "Only what matters"),
          button("Zoom the graph out", "−", () => mover.current.zoomOut()), button("Zoom the graph in", "+", () => mover.current.zoomIn()),
          button("Show the whole graph", "Reset", () => mover.current.reset()))),
      h("div", { class: "graph-box", ref: box, style: { height: `${height}px` } },
        h("div", { class: "graph-drawing", ref: drawing },
          h("svg", { width: layout.width * scale, height: layout.height * scale, viewBox: `0 0 ${layout.width} ${layout.height}`, role: "group", "aria-label": "Steps and the failures they lead to" },
            h("defs", null, relations.map((relation) => h("marker", { id: `tip-${relation}`, class: `tip relation-${relation}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, h("path", { d: "M0 0L8 4L0 8z" })))),
            graph.edges.map((edge) => h("path", { class: `edge relation-${edge.relation}${edge.cause !== undefined && edge.cause === chosen.cause ? " edge-active" : ""}`, d: curve(layout.points(edge)), "marker-end": `url(#tip-${edge.relation})` },
              h("title", null, `${MEANING[edge.relation] || edge.relation}${edge.rule ? ` (${edge.rule})` : ""}`))),
            graph.nodes.map((node) => h(Node, { key: node.id, model, node, place: layout.at(node.id), chosen, related: related.has(node.step), left: graph.more.get(node.id) || 0, open }))))),
      h("ul", { class: "graph-legend", "aria-label": "What the lines mean" }, relations.map((relation) => h("li", null, h("span", { class: `line relation-${relation}`, "aria-hidden": "true" }), MEANING[relation] || relation))),
    ];
  };
  return Graph;
})();
