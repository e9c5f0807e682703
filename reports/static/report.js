"use strict";
for (const block of document.querySelectorAll("[data-table]")) {
  const body = block.querySelector("tbody");
  const rows = [...body.rows];
  const said = block.querySelector("output");
  const fields = [...block.querySelectorAll("[data-filter]")];
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fields.every((field) => {
        const wanted = field.value;
        if (!wanted) return true;
        if (field.dataset.filter === "text") return words.get(row).includes(wanted.toLowerCase());
        return row.dataset[field.dataset.filter] === wanted;
      });
      if (!row.hidden) shown += 1;
    }
    if (said) said.textContent = shown === rows.length ? "" : shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " shown";
  };

  const sort = (head) => {
    const place = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const value = (row) => row.cells[place].dataset.sort ?? row.cells[place].textContent.trim().toLowerCase();
    const order = (one, other) => {
      const a = value(one), b = value(other);
      const numbers = head.dataset.kind === "number";
      const found = numbers ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0;
      return down ? -found : found;
    };
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.sort(order));
  };

  for (const field of fields) field.addEventListener("input", filter);
  for (const head of block.querySelectorAll("th[data-kind]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head));
  }
  block.querySelector(".tools")?.removeAttribute("hidden");
}
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
});
