// Puts the views of one run into its page and ties them together.
"use strict";
(async () => {
  const { h, render, Model, Timeline, Graph, Evidence, Charts, byId, select, selection, startTheme, startKeys, inField, copy, inflated } = Critiqor;
  startTheme();
  const showKeys = startKeys([
    ["/", "filter the timeline"], ["↑ ↓", "previous, next step"], ["← →", "close, open a step"], ["Enter", "show the evidence of a step"],
    ["n p", "next, previous evidence of the failure"], ["+ − 0", "zoom in, out, whole run"], ["z", "zoom to the step"], ["Esc", "close the evidence"], ["?", "this list"],
  ]);
  const settings = JSON.parse(byId("settings").textContent);
  let model;
  try {
    model = new Model(await inflated(byId("data")));
  } catch (error) {
    // A browser from before 2023 can't unpack; what stands in the page without scripts is still there.
    byId("timeline-view").textContent = `This browser could not unpack the timeline (${error.message}); a newer one can.`;
    byId("timeline-view").classList.add("empty");
    return;
  }
  const cards = [...document.querySelectorAll("[data-cause-card]")];
  Critiqor.causeOrder = cards.map((card) => Number(card.dataset.causeCard));
  const put = (view, place) => { byId(place).replaceChildren(); render(h(view, { model, jaeger: settings.jaeger }), byId(place)); };
  put(Timeline, "timeline-view");
  put(Graph, "graph-view");
  put(Charts.Tokens, "tokens-view");
  put(Evidence, "panel");

  const showEvidence = (cause, place) => {
    const event = model.causes[cause].events[place];
    if (event !== undefined) select({ cause, step: model.events.step[event], open: true });
  };
  const act = (element) => {
    const cause = Number(element.dataset.cause);
    if (element.dataset.evidence !== undefined) return showEvidence(cause, Number(element.dataset.evidence));
    if (element.dataset.show === undefined) return select({ cause });
    select({ cause, step: element.dataset.show === "timeline" && model.causes[cause].steps.length ? model.causes[cause].steps[0] : selection.step });
    byId(element.dataset.show).scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    return undefined;
  };
  document.addEventListener("click", (event) => {
    const element = event.target.closest("[data-cause]");
    if (element) act(element);
    const root = event.target.closest("[data-root]") && model.roots[0];
    if (root && root.event !== null) select({ step: model.events.step[root.event], open: true });
    const copied = event.target.closest("[data-copy]");
    if (copied) copy(copied.dataset.copy);
  });
  // The card of the failure that is selected anywhere stands out.
  const mark = () => cards.forEach((card) => card.classList.toggle("cause-active", Number(card.dataset.causeCard) === selection.cause));
  render(h(() => { Critiqor.useSelection(); mark(); return null; }), document.createElement("div"));

  const along = (way) => {
    const cause = selection.cause >= 0 ? selection.cause : Critiqor.causeOrder[0];
    if (cause === undefined) return;
    const { steps } = model.causes[cause];
    const place = steps.indexOf(selection.step);
    const next = place < 0 ? (way > 0 ? 0 : steps.length - 1) : (place + way + steps.length) % steps.length;
    if (steps.length) select({ cause, step: steps[next], open: true });
  };
  const keys = {
    "/": () => Critiqor.focusSearch(), "?": showKeys, n: () => along(1), p: () => along(-1), "+": () => Critiqor.zoom(0.5), "=": () => Critiqor.zoom(0.5),
    "-": () => Critiqor.zoom(2), 0: () => Critiqor.zoom(0), z: () => selection.step >= 0 && Critiqor.zoomTo(selection.step), Escape: () => select({ open: false }),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open || (inField(event) && event.key !== "Escape")) return;
    const does = keys[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  document.documentElement.dataset.ready = "yes";
})();
