/* The inspector: marks in the stored page, hover in both directions, picking, the slider. The page
   in the frame runs no scripts: everything here works on its document from outside. */
"use strict";

(() => {
  const root = document.querySelector("[data-inspector]");
  if (!root) return;
  const frame = root.querySelector("[data-frame]");
  const form = root.querySelector("[data-rule-form]");
  const pick = root.querySelector("[data-pick]");
  const STYLE = `
    [data-scout-rules] { outline: 2px dashed #bf4328 !important; outline-offset: 1px; }
    [data-scout-lit] { outline: 3px solid #24587f !important; background: #fbeee9 !important; color: #20242a !important; }
    [data-scout-picking] * { cursor: crosshair !important; }
  `;
  let page = null;

  const rows = (place) => [...root.querySelectorAll(`[data-rule="${place}"]`)];
  const places = (element) => (element.getAttribute("data-scout-rules") || "").split(" ").filter(Boolean);

  function light(elements, isLit) {
    elements.forEach((element) => element.toggleAttribute("data-scout-lit", isLit));
  }

  function lightRule(place, isLit) {
    if (!page) return;
    const hit = [...page.querySelectorAll(`[data-scout-rules~="${place}"]`)];
    light(hit, isLit);
    if (isLit && hit.length) hit[0].scrollIntoView({ block: "center" });
  }

  function lightRows(element, isLit) {
    places(element).forEach((place) => rows(place).forEach((row) => {
      row.classList.toggle("lit", isLit);
      const panel = row.closest(".panel");
      if (panel) panel.classList.toggle("lit", isLit);
    }));
  }

  function stopPicking() {
    if (pick) pick.setAttribute("aria-pressed", "false");
    if (page) page.documentElement.removeAttribute("data-scout-picking");
  }

  const isPicking = () => pick && pick.getAttribute("aria-pressed") === "true";

  function suggest(parameters) {
    const query = new URLSearchParams({ attribute: form.elements.attribute.value, ...parameters });
    htmx.ajax("GET", `${root.dataset.base}/suggest?${query}`, { target: "#suggestions", swap: "innerHTML" });
    form.closest("details").open = true;
  }

  function bindFrame() {
    page = frame.contentDocument;
    // Before the page is there, the frame has an empty document.
    if (!page || !page.body || page.URL === "about:blank") return;
    const style = page.createElement("style");
    style.textContent = STYLE;
    page.head.append(style);
    page.addEventListener("mouseover", (event) => {
      if (isPicking()) light([event.target], true);
      const hit = event.target.closest("[data-scout-rules]");
      if (hit) lightRows(hit, true);
    });
    page.addEventListener("mouseout", (event) => {
      light([event.target], false);
      const hit = event.target.closest("[data-scout-rules]");
      if (hit) lightRows(hit, false);
    });
    page.addEventListener("click", (event) => {
      event.preventDefault();
      if (!isPicking()) return;
      const element = event.target.closest("[data-scout-n]");
      stopPicking();
      if (element) suggest({ node: element.getAttribute("data-scout-n") });
    });
  }

  frame.addEventListener("load", bindFrame);
  if (frame.contentDocument && frame.contentDocument.readyState === "complete") bindFrame();

  for (const [enter, leave] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
    root.addEventListener(enter, (event) => {
      const row = event.target.closest("[data-rule]");
      if (row) lightRule(row.dataset.rule, true);
    });
    root.addEventListener(leave, (event) => {
      const row = event.target.closest("[data-rule]");
      if (row) lightRule(row.dataset.rule, false);
    });
  }

  root.addEventListener("click", (event) => {
    if (event.target.closest("[data-pick]")) {
      const starts = !isPicking();
      pick.setAttribute("aria-pressed", String(starts));
      if (page) page.documentElement.toggleAttribute("data-scout-picking", starts);
      return;
    }
    const leaf = event.target.closest("[data-pick-data]");
    if (leaf) {
      suggest({ css: leaf.dataset.css, block: leaf.dataset.block, path: leaf.dataset.path });
      return;
    }
    const use = event.target.closest("[data-use]");
    if (!use) return;
    for (const field of ["css", "name", "block", "path", "left", "right"]) form.elements[field].value = use.dataset[field];
    root.querySelectorAll("[data-use]").forEach((button) => button.setAttribute("aria-pressed", String(button === use)));
  });

  // The slider: how many offers of the shop would keep their value, and whether this page would.
  root.querySelectorAll("[data-slider]").forEach((slider) => {
    const input = slider.querySelector("input");
    const effect = slider.querySelector("[data-effect]");
    const counts = slider.dataset.histogram.split(",").map(Number);
    const all = counts.reduce((sum, count) => sum + count, 0);
    function show() {
      const least = Number(input.value);
      const first = Math.round(least * counts.length);
      const taken = counts.slice(first).reduce((sum, count) => sum + count, 0);
      const isTaken = Number(slider.dataset.confidence) >= least;
      slider.querySelector("output").textContent = least.toFixed(2);
      effect.textContent = effect.dataset.taken
        .replace("{taken}", taken)
        .replace("{all}", all)
        .replace("{page}", isTaken ? effect.dataset.yes : effect.dataset.no);
    }
    input.addEventListener("input", show);
    show();
  });
})();
