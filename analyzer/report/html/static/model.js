// The data of the page, unpacked: steps with their events, failures with what shows them.
"use strict";
Critiqor.Model = class {
  constructor(data) {
    const { steps, events, texts } = data;
    this.texts = texts;
    this.startMs = data.start;
    this.timed = data.timed;
    this.leftOut = data.left_out;
    this.kinds = data.kinds;
    this.size = steps.kind.length;
    this.kind = steps.kind;
    this.flags = steps.flags;
    this.folded = steps.folded;
    this.parent = steps.parent;
    this._name = steps.name;
    this._detail = steps.detail;
    this.length = Float64Array.from(steps.length);
    this.start = new Float64Array(this.size);
    let at = 0;
    for (let number = 0; number < this.size; number += 1) {
      at += steps.start[number];
      this.start[number] = this.timed ? at : number;
      if (!this.timed) this.length[number] = 1;
    }
    this.events = events;
    this.contents = data.contents;
    this.usage = data.usage;
    this.edges = data.edges;
    this.causes = data.causes;
    this.roots = data.roots;
    this._tree();
    this._eventsOfSteps();
    this._causesOfSteps();
    this.end = 1;
    for (let number = 0; number < this.size; number += 1) this.end = Math.max(this.end, this.start[number] + this.length[number]);
  }

  // Steps in the order in which a tree is read, and how many lie inside each.
  _tree() {
    const size = this.size;
    const children = Array.from({ length: size + 1 }, () => null);
    for (let number = 0; number < size; number += 1) {
      const above = this.parent[number] + 1;
      (children[above] ||= []).push(number);
    }
    this.depth = new Uint16Array(size);
    this.inside = new Uint32Array(size);
    this.order = new Uint32Array(size);
    const stack = [...(children[0] || [])].reverse();
    let place = 0;
    while (stack.length) {
      const number = stack.pop();
      this.order[place] = number;
      place += 1;
      const above = this.parent[number];
      this.depth[number] = above < 0 ? 0 : Math.min(60000, this.depth[above] + 1);
      const below = children[number + 1];
      if (below) for (let i = below.length - 1; i >= 0; i -= 1) stack.push(below[i]);
    }
    for (let i = size - 1; i >= 0; i -= 1) {
      const above = this.parent[i];
      if (above >= 0) this.inside[above] += this.inside[i] + 1;
    }
    this.placeOf = new Uint32Array(size);
    this.order.forEach((number, i) => { this.placeOf[number] = i; });
  }

  _eventsOfSteps() {
    this._events = Array.from({ length: this.size }, () => []);
    this.events.step.forEach((step, event) => this._events[step].push(event));
  }

  _causesOfSteps() {
    this.causesOf = new Map();
    const stepsOf = (events) => [...new Set(events.map((event) => this.events.step[event]))];
    // Where something may have begun: step → how sure that is, and why.
    this.rootOf = new Map();
    for (const root of [...this.roots, ...this.causes.map((cause) => cause.root)]) {
      if (root && root.event !== null && !this.rootOf.has(this.events.step[root.event])) this.rootOf.set(this.events.step[root.event], root);
    }
    this.causes.forEach((cause, number) => {
      cause.steps = stepsOf(cause.events);
      cause.path = cause.root ? stepsOf(cause.root.path) : [];
      for (const step of cause.steps) {
        if (!this.causesOf.has(step)) this.causesOf.set(step, []);
        this.causesOf.get(step).push(number);
      }
    });
  }

  kindOf(step) { return this.kinds[this.kind[step]]; }
  name(step) { return this.texts[this._name[step]]; }
  detail(step) { return this.texts[this._detail[step]]; }
  eventsOf(step) { return this._events[step]; }
  failed(step) { return (this.flags[step] & 1) !== 0; }
  again(step) { return (this.flags[step] & 2) !== 0; }
  pseudo(step) { return (this.flags[step] & 4) !== 0; }
  derived(step) { return (this.flags[step] & 8) !== 0; }

  event(number) {
    const { id, type, time, trace, span } = this.events;
    const spanId = span[number] || null;
    const text = id[number];
    return {
      id: text[0] === "~" ? `${spanId}${text.slice(1)}` : text.slice(1),
      type: this.texts[type[number]],
      time: time[number],
      traceId: trace[number] < 0 ? null : this.texts[trace[number]],
      spanId,
      parts: (this.contents[number] || []).map(([label, body, isJson, leftOut]) => (
        { label: this.texts[label], text: this.texts[body], isJson: isJson === 1, leftOut })),
    };
  }

  // The worst failure that a step shows, or null.
  worst(step) {
    const RANK = { low: 0, medium: 1, high: 2, critical: 3 };
    const causes = this.causesOf.get(step);
    if (!causes) return null;
    return causes.map((number) => this.causes[number].severity).reduce((a, b) => (RANK[b] > RANK[a] ? b : a));
  }
};
