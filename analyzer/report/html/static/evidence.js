// The panel beside the views: what a step was asked and what came back, each piece folded, each id to be copied.
"use strict";
Critiqor.Evidence = (() => {
  const { h, useEffect, useSelection, select, words, Copy, byId } = Critiqor;
  const SHORT = 900; // characters that are shown unfolded

  const Part = ({ part, open }) => {
    const text = words.pretty(part.text, part.isJson && !part.leftOut);
    return h("details", { class: "part", open: open && text.length <= SHORT },
      h("summary", null, part.label, h("span", { class: "part-size" }, words.plural(part.text.length + part.leftOut, "character"))),
      h("pre", { dir: "auto", tabindex: 0 }, text),
      part.leftOut > 0 && h("p", { class: "hint" }, `${words.plural(part.leftOut, "character")} more are in the session file.`));
  };

  const HEX = /^[0-9a-f]+$/i;
  const jaegerLink = (base, event) => (base && HEX.test(event.traceId) && HEX.test(event.spanId)
    ? `${base.replace(/\/+$/, "")}/trace/${encodeURIComponent(event.traceId)}?uiFind=${encodeURIComponent(event.spanId)}` : null);

  const OneEvent = ({ model, number, jaeger, heading, cited }) => {
    const event = model.event(number);
    const link = jaegerLink(jaeger, event);
    return h("section", { class: `event${cited ? " event-cited" : ""}` },
      h("h3", null, heading, cited && h("span", { class: "tag tag-strong" }, "evidence")),
      h("dl", { class: "facts" },
        h("div", null, h("dt", null, "Event"), h("dd", null, h(Copy, { text: event.id, what: "event id" }))),
        event.time != null && h("div", null, h("dt", null, "At"), h("dd", null, `${words.duration(event.time)} after the start`)),
        event.spanId && h("div", null, h("dt", null, "Span"), h("dd", null, h(Copy, { text: event.spanId, what: "span id" }),
          link && h("a", { href: link, target: "_blank", rel: "noreferrer noopener", class: "jaeger" }, "Open in Jaeger ↗"))),
        event.traceId && h("div", null, h("dt", null, "Trace"), h("dd", null, h(Copy, { text: event.traceId, what: "trace id" })))),
      event.parts.length ? event.parts.map((part) => h(Part, { key: `${number}-${part.label}`, part, open: true })) : h("p", { class: "hint" }, "This page holds no content of this event."));
  };

  const HEADINGS = { tool_call: "Call", tool_execution_start: "Call", tool_result: "Output", tool_execution_end: "Output", before_provider_request: "Request", after_provider_response: "Response" };

  const Evidence = ({ model, jaeger }) => {
    const { step, cause, open, focus } = useSelection();
    const panel = byId("panel");
    const shown = open && step >= 0;
    useEffect(() => {
      panel.hidden = !shown;
      document.body.classList.toggle("with-panel", shown);
      if (shown) panel.scrollTop = 0;
    }, [shown, step]);
    useEffect(() => {
      if (!shown || !focus) return;
      select({ focus: false });
      panel.querySelector("h2").focus();
    });
    if (!shown) return null;
    const causes = model.causesOf.get(step) || [];
    const cited = new Set(causes.flatMap((number) => model.causes[number].events));
    const events = model.eventsOf(step);
    const above = [];
    for (let at = model.parent[step]; at >= 0 && above.length < 6; at = model.parent[at]) above.unshift(at);
    const steps = cause >= 0 ? model.causes[cause].steps : [];
    const place = steps.indexOf(step);
    const go = (to) => select({ step: to, open: true });
    const close = () => { select({ open: false }); document.querySelector(".rows")?.focus({ preventScroll: true }); };
    return h("div", { class: `panel-in kind-${model.kindOf(step)}`, onKeyDown: (event) => { if (event.key === "Escape") { event.stopPropagation(); close(); } } },
      h("header", { class: "panel-head" },
        h("span", { class: "icon", "aria-hidden": "true" }, Critiqor.Timeline.ICONS[model.kindOf(step)]),
        h("h2", { tabindex: -1 }, h("bdi", null, model.name(step))),
        h("button", { type: "button", class: "icon-button", "aria-label": "Close the evidence", onClick: close }, "✕")),
      h("div", { class: "panel-tags" },
        h("span", { class: "tag" }, model.kindOf(step)),
        model.failed(step) && h("span", { class: "tag tag-bad" }, "✕ failed"),
        model.again(step) && h("span", { class: "tag tag-again" }, "↻ tried again"),
        model.pseudo(step) && h("span", { class: "tag" }, "only carries the answer"),
        model.derived(step) && h("span", { class: "tag" }, "known from messages alone"),
        model.timed && h("span", { class: "panel-time" }, `${words.duration(model.length[step])}, ${words.duration(model.start[step])} after the start`),
        model.timed && !model.folded[step] && h("button", { type: "button", class: "link", onClick: () => Critiqor.zoomTo(step) }, "zoom to it"),
        !model.folded[step] && h("button", { type: "button", class: "link", onClick: () => { Critiqor.openInGraph(step); byId("graph").scrollIntoView(); } }, "show in the graph")),
      above.length > 0 && h("nav", { class: "path", "aria-label": "Lies in" }, above.map((at) => h("button", { type: "button", key: at, onClick: () => go(at) }, h("bdi", null, model.name(at))))),
      causes.length > 0 && h("div", { class: "panel-causes" }, h("p", null, "Shows"), causes.map((number) => h("button", {
        type: "button", key: number, class: `cause-chip evidence-${model.causes[number].severity}`, "aria-pressed": String(number === cause),
        onClick: () => select({ cause: number === cause ? -1 : number }) }, model.causes[number].title, h("small", null, model.causes[number].severity)))),
      model.rootOf.has(step) && h("p", { class: "began" }, h("b", null, "Where it may have begun "), h("span", { class: "count" }, `${model.rootOf.get(step).confidence} confidence: `, h("bdi", null, model.rootOf.get(step).why))),
      place >= 0 && steps.length > 1 && h("div", { class: "stepper" },
        h("button", { type: "button", class: "toggle", disabled: place === 0, onClick: () => go(steps[place - 1]) }, "← previous"),
        h("span", null, `evidence ${place + 1} of ${steps.length}`),
        h("button", { type: "button", class: "toggle", disabled: place === steps.length - 1, onClick: () => go(steps[place + 1]) }, "next →")),
      model.folded[step] > 0 && h("p", { class: "hint" }, "These steps are only counted in this page. The session file has them all."),
      events.slice(0, 40).map((number) => {
        const type = model.texts[model.events.type[number]];
        return h(OneEvent, { key: number, model, number, jaeger, heading: HEADINGS[type] || type, cited: cited.has(number) });
      }),
      events.length > 40 && h("p", { class: "hint" }, `${words.plural(events.length - 40, "event")} more of this step are not listed.`));
  };
  return Evidence;
})();
