/* Scripts of all pages. Each behaviour is bound by a data- attribute, so that pages need no script
   of their own. */
"use strict";

// A form with data-confirm asks before it is sent.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// An input with data-submit sends its form when it changes.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

// A table that is wider than its box is scrolled by keys as well: the box takes the focus.
const boxes = new ResizeObserver((entries) => {
  entries.forEach(({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  });
});
const observeBoxes = (root) => root.querySelectorAll(".table").forEach((box) => boxes.observe(box));
observeBoxes(document);
document.addEventListener("htmx:afterSwap", (event) => observeBoxes(event.target));
