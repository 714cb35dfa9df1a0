// What each model call consumed: bars for a look, a table for whoever reads on.
"use strict";
Critiqor.Charts = (() => {
  const { h, useEffect, useMemo, useRef, useState, useWidth, useTheme, cssColour, words, select } = Critiqor;
  const BARS = 240;
  const LISTED = 200;

  // Calls in order, several to a bar where there are very many.
  const barsOf = (usage) => {
    const each = Math.max(1, Math.ceil(usage.length / BARS));
    const bars = [];
    for (let first = 0; first < usage.length; first += each) {
      const bar = { first, calls: 0, input: 0, cached: 0, output: 0, other: 0 };
      for (const [, input, output, cached, total] of usage.slice(first, first + each)) {
        bar.calls += 1;
        bar.input += input || 0;
        bar.output += output || 0;
        bar.cached += cached || 0;
        bar.other += input == null && output == null ? total || 0 : 0;
      }
      bars.push(bar);
    }
    return bars;
  };

  const Tokens = ({ model }) => {
    const ref = useRef(null);
    const width = useWidth(ref);
    const dark = useTheme();
    const [tabled, setTabled] = useState(false);
    const bars = useMemo(() => barsOf(model.usage), [model]);
    useEffect(() => {
      if (!width || !bars.length) return undefined;
      const text = cssColour("--muted");
      const axis = { stroke: text, font: "12px system-ui, sans-serif", grid: { stroke: cssColour("--line"), width: 1 }, ticks: { show: false } };
      const paths = uPlot.paths.bars({ size: [0.72, 56] });
      let spent = 0;
      const running = bars.map((bar) => { spent += bar.input + bar.output + bar.other; return spent; });
      const figures = (_, marks) => marks.map((mark) => mark.toLocaleString("en-US"));
      const data = [bars.map((_, place) => place + 1), bars.map((bar) => bar.input + bar.output + bar.other), bars.map((bar) => bar.input), bars.map((bar) => bar.cached || null), running];
      const plot = new uPlot({
        width, height: 220, legend: { show: false }, cursor: { points: { show: false }, y: false, drag: { x: false, y: false } },
        scales: { x: { time: false, range: () => [0.4, Math.max(bars.length, 3) + 0.6] }, y: { range: (_, low, high) => [0, Math.max(1, high * 1.06)] },
          sum: { range: (_, low, high) => [0, Math.max(1, high * 1.06)] } },
        axes: [{ ...axis, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100] }, { ...axis, size: 62, values: figures },
          { ...axis, scale: "sum", side: 1, size: 70, grid: { show: false }, values: figures }],
        series: [{}, ...["--output", "--input", "--cached"].map((colour) => ({ paths, fill: cssColour(colour), width: 0, points: { show: false } })),
          { scale: "sum", stroke: cssColour("--text"), width: 1.5, dash: [4, 3], points: { show: bars.length < 2 } }],
      }, data, ref.current);
      const hit = (event) => {
        const place = Math.round(plot.posToVal(event.offsetX, "x")) - 1;
        if (bars[place]) select({ step: model.events.step[model.usage[bars[place].first][0]], open: true });
      };
      plot.over.addEventListener("click", hit);
      return () => plot.destroy();
    }, [width, dark, bars]);
    if (!bars.length) return h("p", { class: "empty" }, "No model call reports what it consumed.");
    const sum = (at) => model.usage.reduce((all, row) => all + (row[at] || 0), 0);
    const legend = [["input", "Input", sum(1)], ["cached", "of that, cached", sum(3)], ["output", "Output", sum(2)]].filter(([name, , total]) => total || name !== "cached");
    return [
      h("ul", { class: "chart-legend" }, legend.map(([name, label, total]) => h("li", null, h("span", { class: `swatch swatch-${name}`, "aria-hidden": "true" }), `${label} ${words.count(total)}`)),
        h("li", null, h("span", { class: "swatch-line", "aria-hidden": "true" }), "in all so far (right)")),
      h("div", { class: "chart", ref, role: "img", "aria-label": `Tokens of ${words.plural(model.usage.length, "model call")}; the table below has the numbers` }),
      bars[0].calls > 1 && h("p", { class: "hint" }, `Each bar is ${words.plural(bars[0].calls, "model call")}.`),
      h("details", { onToggle: (event) => setTabled(event.target.open) }, h("summary", null, "As a table"),
        tabled && h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tokens of each model call" }, h("table", { class: "plain" },
          h("thead", null, h("tr", null, ["Model call", "Input", "Cached", "Output", "In all"].map((label, at) => h("th", { scope: "col", class: at ? "number" : "" }, label)))),
          h("tbody", null, model.usage.slice(0, LISTED).map(([event, input, output, cached, total], place) => h("tr", null,
            h("th", { scope: "row" }, h("button", { type: "button", class: "link", onClick: () => select({ step: model.events.step[event], open: true }) }, `${place + 1}. `, h("bdi", null, model.name(model.events.step[event])))),
            [input, cached, output, total].map((number) => h("td", { class: "number" }, words.count(number))))))),
        model.usage.length > LISTED && h("p", { class: "hint" }, `The first ${LISTED} of ${words.count(model.usage.length)}.`))),
    ];
  };
  return { Tokens };
})();
