// Numbers, times and texts as people read them.
"use strict";
Critiqor.words = (() => {
  const count = (number) => (number == null ? "?" : number.toLocaleString("en-US"));

  const UNITS = [[3.6e9, "h"], [6e7, "min"], [1e6, "s"], [1e3, "ms"], [1, "µs"]];
  const duration = (micros) => {
    if (micros >= 6e7) {
      const [size, unit, inner, small] = micros >= 3.6e9 ? [3.6e9, "h", 6e7, "min"] : [6e7, "min", 1e6, "s"];
      const rest = Math.floor((micros % size) / inner);
      return `${Math.floor(micros / size)} ${unit}${rest ? ` ${rest} ${small}` : ""}`;
    }
    const [size, unit] = UNITS.find(([least]) => micros >= least) || [1, "µs"];
    const value = micros / size;
    return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(value >= 10 ? 1 : 2)} ${unit}`;
  };

  // Round marks for an axis of time: 1, 2, 5, 10 … and whole parts of minutes and hours.
  const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1.5e7, 3e7,
    6e7, 1.2e8, 3e8, 6e8, 9e8, 1.8e9, 3.6e9, 7.2e9, 2.16e10, 4.32e10, 8.64e10];
  const ticks = (from, to, most) => {
    const least = (to - from) / Math.max(1, most);
    const step = STEPS.find((size) => size >= least) || 8.64e10 * Math.ceil(least / 8.64e10);
    const found = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
    return found;
  };

  // Characters that reorder or hide text are spelled out, as in every other form of the report.
  // eslint-disable-next-line no-control-regex
  const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  const visible = (text) => text.replace(HARMFUL, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const pretty = (text, isJson) => {
    if (!isJson) return visible(text);
    try {
      return visible(JSON.stringify(JSON.parse(text), null, 2));
    } catch {
      return visible(text); // it was cut
    }
  };
  const plural = (number, thing) => `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
  return { count, duration, ticks, visible, pretty, plural };
})();
