"use strict";

// Tables with [data-table] get sortable columns, and filters if they have a form of [data-filter] fields.
for (const block of document.querySelectorAll("[data-table]")) {
  const body = block.querySelector("tbody");
  const rows = [...body.rows];
  const message = block.querySelector("output");
  const fields = [...block.querySelectorAll("[data-filter]")];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const matches = (row, field) => {
    if (!field.value) return true;
    if (field.dataset.filter === "text") return texts.get(row).includes(field.value.toLowerCase());
    return row.dataset[field.dataset.filter] === field.value;
  };

  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fields.every((field) => matches(row, field));
      if (!row.hidden) shown += 1;
    }
    if (message) message.textContent = shown === rows.length ? "" : shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " shown";
  };

  const sort = (header) => {
    const column = header.cellIndex;
    const descending = header.getAttribute("aria-sort") === "ascending";
    const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim().toLowerCase();
    const compare = (left, right) => {
      const a = key(left), b = key(right);
      const isNumber = header.dataset.kind === "number";
      const order = isNumber ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0;
      return descending ? -order : order;
    };
    for (const cell of header.parentNode.cells) cell.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...rows.sort(compare));
  };

  for (const field of fields) field.addEventListener("input", filter);
  for (const header of block.querySelectorAll("th[data-kind]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sort(header));
  }
  block.querySelector(".tools")?.removeAttribute("hidden");
}

// Collapsed parts would be missing on paper.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
