// What all views share: elements, what is selected, how a thing is said aloud, light and dark.
"use strict";
const Critiqor = (() => {
  const { h, render, Fragment } = preact;
  const { useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback } = preactHooks;

  // What is selected, in one place; views are told when it changes.
  const selection = { step: -1, cause: -1, open: false, focus: false };
  const listeners = new Set();
  const select = (change) => {
    Object.assign(selection, change);
    listeners.forEach((tell) => tell());
  };
  const useSelection = () => {
    const [, again] = useState(0);
    useEffect(() => {
      const tell = () => again((count) => count + 1);
      listeners.add(tell);
      return () => listeners.delete(tell);
    }, []);
    return selection;
  };

  const byId = (id) => document.getElementById(id);
  const say = (text) => {
    const place = byId("said");
    if (place) place.textContent = text;
  };
  const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const remembered = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // a page from a file may not remember
    }
  };
  const remember = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      // see above
    }
  };

  const themeListeners = new Set();
  const isDark = () => {
    const theme = document.documentElement.dataset.theme;
    return theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  };
  const setTheme = (theme) => {
    document.documentElement.dataset.theme = theme;
    themeListeners.forEach((tell) => tell());
  };
  const startTheme = () => {
    const wanted = remembered("critiqor-theme");
    if (wanted === "dark" || wanted === "light") setTheme(wanted);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => themeListeners.forEach((tell) => tell()));
    byId("theme-button").addEventListener("click", () => {
      const theme = isDark() ? "light" : "dark";
      setTheme(theme);
      remember("critiqor-theme", theme);
    });
  };

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "hidden";
      document.body.append(area);
      area.select();
      document.execCommand("copy"); // a page from a file may have no clipboard
      area.remove();
    }
    say(`copied ${text}`);
  };
  const Copy = ({ text, what }) => {
    const [done, setDone] = useState(false);
    const act = async () => {
      await copy(text);
      setDone(true);
      setTimeout(() => setDone(false), 1200);
    };
    return h("button", { type: "button", class: "copy", title: `Copy the ${what}`, onClick: act },
      h("code", null, h("bdi", null, text)),
      h("svg", { class: "copy-sign", viewBox: "0 0 16 16", "aria-hidden": "true" }, h("path", { d: done ? "M3 8.5l3.5 3.5L13 4.5" : "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" })),
      h("span", { class: "hidden" }, done ? "copied" : `copy the ${what}`));
  };

  const startKeys = (groups) => {
    const dialog = byId("keys");
    const show = () => {
      render([
        h("h2", { id: "keys-title" }, "Keyboard"),
        h("dl", null, groups.map(([keys, does]) => h("div", null,
          h("dt", null, keys.split(" ").map((key) => h("kbd", null, key))), h("dd", null, does)))),
        h("form", { method: "dialog" }, h("button", { class: "button", type: "button", onClick: () => dialog.close() }, "Close")),
      ], dialog);
      dialog.showModal();
    };
    byId("keys-button").addEventListener("click", show);
    return show;
  };

  const inField = (event) => /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);

  // The width of an element, as it changes.
  const useWidth = (ref) => {
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
      const element = ref.current;
      if (!element) return undefined;
      const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
      observer.observe(element);
      setWidth(Math.floor(element.clientWidth));
      return () => observer.disconnect();
    }, []);
    return width;
  };
  const useTheme = () => {
    const [dark, setDark] = useState(isDark());
    useEffect(() => {
      const tell = () => setDark(isDark());
      themeListeners.add(tell);
      return () => themeListeners.delete(tell);
    }, []);
    return dark;
  };

  const inflated = async (element) => {
    const text = element.textContent;
    if (element.dataset.encoding !== "gzip") return JSON.parse(text);
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  return {
    h, render, Fragment, useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback,
    selection, select, useSelection, byId, say, cssColour, startTheme, copy, Copy, startKeys, inField, useWidth, useTheme,
    inflated, remembered, remember,
  };
})();
