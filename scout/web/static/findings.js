/* The list of findings: selection, keys, and the drawer that htmx fills. */
"use strict";

(() => {
  const drawer = document.getElementById("drawer");
  let current = -1;

  const rows = () => [...document.querySelectorAll("[data-row]")];

  function moveTo(position) {
    const all = rows();
    if (!all.length) return;
    current = Math.max(0, Math.min(position, all.length - 1));
    all.forEach((row, index) => row.classList.toggle("current", index === current));
    all[current].querySelector("[data-open]").focus();
    all[current].scrollIntoView({ block: "nearest" });
  }

  function closeDrawer() {
    if (!drawer || !drawer.classList.contains("open")) return;
    drawer.classList.remove("open");
    drawer.replaceChildren();
    moveTo(current);
  }

  function tick(row, isTicked) {
    const box = row.querySelector('input[name="finding"]');
    if (box) box.checked = isTicked === undefined ? !box.checked : isTicked;
  }

  // A decision by key is on the offer of the drawer, on the ticked offers, or on the current row.
  function decide(decision) {
    const inDrawer = drawer && drawer.classList.contains("open");
    const form = inDrawer ? drawer.querySelector(".decision") : document.getElementById("decisions");
    if (!form) return;
    const row = rows()[current];
    if (!inDrawer && row && !form.querySelector('input[name="finding"]:checked, [data-scope]:checked')) tick(row, true);
    const button = form.querySelector(`button[value="${decision}"]`);
    if (button) button.click();
  }

  const KEYS = {
    j: () => moveTo(current + 1),
    ArrowDown: () => moveTo(current + 1),
    k: () => moveTo(current - 1),
    ArrowUp: () => moveTo(current - 1),
    x: () => rows()[current] && tick(rows()[current]),
    c: () => decide("confirm"),
    r: () => decide("reject"),
    i: () => decide("ignore"),
    Escape: closeDrawer,
  };

  document.addEventListener("keydown", (event) => {
    const isText = event.target.matches("input:not([type=checkbox]), select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || (isText && event.key !== "Escape")) return;
    const isArrow = event.key.startsWith("Arrow");
    if (isArrow && drawer && drawer.classList.contains("open")) return;
    const action = KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) current = rows().indexOf(opener.closest("[data-row]"));
    const closer = event.target.closest("[data-close]");
    if (closer && drawer && drawer.contains(closer)) {
      event.preventDefault();
      closeDrawer();
    }
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-tick-all]")) rows().forEach((row) => tick(row, event.target.checked));
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target !== drawer) return;
    drawer.classList.add("open");
    rows().forEach((row, index) => row.classList.toggle("current", index === current));
    drawer.scrollTop = 0;
    drawer.focus();
  });

  // Filters take the whole height of a phone: they start closed there.
  if (window.matchMedia("(max-width: 60rem)").matches) {
    document.querySelectorAll("[data-narrow-closed]").forEach((details) => details.removeAttribute("open"));
  }
})();
