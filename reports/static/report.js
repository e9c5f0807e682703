"use strict";

const language = document.documentElement.lang;
// Day before month, as in the texts of the report.
const dateFormat = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const collator = new Intl.Collator(language, { numeric: true });
const ROWS_PER_PAGE = 100;
const MAX_PRINTED_ROWS = 2000;
const MAX_CHOICES = 1000;
const NOT_STATED = "-";
const FORMULA = /^\s*[\t\r\n=+\-@＝＋－＠]/u;
const CSV_COLUMNS = ["title", "price", "currency", "brand", "category", "cause", "evidence", "also", "score", "since", "url", "ean", "han", "sku", "availability", "nearest_title", "nearest_price", "nearest_url", "word", "note", "first_seen", "last_seen", "reviewer", "reviewed_at", "variant_of"];
// Columns that hold indexes into the list of texts.
const REPEATED = new Set(["currency", "brand", "category", "path", "cause", "evidence", "also", "since", "availability", "first_seen", "last_seen", "nearest_currency", "word", "note", "reviewer", "reviewed_at"]);
const NUMBER_COLUMNS = new Set(["price", "score", "nearest_price"]);

const element = (tag, className, ...children) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

const formatCount = (number) => number.toLocaleString(language);

const formatPrice = (price, currency) => {
  if (price === null || price === undefined || price === "") return "–";
  try {
    return Number(price).toLocaleString(language, { style: "currency", currency, minimumFractionDigits: 2, maximumFractionDigits: 2 });
  } catch {
    return `${currency || ""} ${Number(price).toLocaleString(language, { minimumFractionDigits: 2 })}`.trim();
  }
};

// The same texts as in the table of the first rows: a share beyond these two would be rounded to all or none.
const ALMOST_ALL = 0.999;
const ALMOST_NONE = 0.001;
const formatShare = (share) => {
  const digits = share === 0 || share === 1 ? 0 : 1;
  const format = (number) => number.toLocaleString(language, { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits });
  if (digits && share > ALMOST_ALL) return `>${format(ALMOST_ALL)}`;
  if (digits && share < ALMOST_NONE) return `<${format(ALMOST_NONE)}`;
  return format(share);
};

const formatMinute = (text) => `${dateFormat.format(new Date(text))}, ${text.slice(11, 16)} UTC`;

// A link to a web page, or the plain text if the target is none.
const link = (url, text) => {
  if (!/^https?:\/\/[^/]/i.test(url || "")) return text;
  const anchor = element("a", "", text);
  anchor.href = url;
  anchor.rel = "noopener noreferrer nofollow";
  anchor.target = "_blank";
  return anchor;
};

const unpack = async (script) => {
  const text = atob(script.textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

const escapeCell = (text) => {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const startDownload = (name, text) => {
  const anchor = element("a");
  anchor.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60000);
};

// Adds a button to each heading of a table; `sort` gets the heading. On paper a text stands for the
// button: browsers do not repeat a table's head on every page if it has a button.
const addSortButtons = (headings, sort) => {
  for (const heading of headings) {
    const printed = element("span", "printed", heading.textContent);
    const button = element("button", "", ...heading.childNodes);
    button.type = "button";
    heading.append(button, printed);
    button.addEventListener("click", () => sort(heading));
  }
};

// A list of offers: the first rows are in the page, all are in its data. The part of the address
// after "#" names the list and its filters: "#missing?category=Garden&sort=-price".
class OfferList {
  constructor(block) {
    this.block = block;
    this.name = block.dataset.offers;
    this.messages = JSON.parse(block.dataset.messages);
    this.form = block.querySelector("form");
    this.message = block.querySelector("output");
    this.body = block.querySelector("tbody");
    this.template = block.querySelector("template").content.querySelector("tr");
    this.moreButton = block.querySelector("[data-action=more]");
    this.headings = [...block.querySelectorAll("th[data-key]")];
    this.haystacks = [];
    this.chunks = new Map();
    this.sort = "";
    this.form.hidden = false;
    this.message.textContent = this.messages.loading;
  }

  async load() {
    this.data = await unpack(this.block.querySelector("script.columns"));
    this.count = this.data.rows;
    this.addChoices("category", this.categoryCounts());
    this.addChoices("brand", this.valueCounts("brand"));
    this.addChoices("currency", this.valueCounts("currency"));
    this.form.addEventListener("input", () => this.changed());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("reset", () => setTimeout(() => { this.sort = ""; this.changed(); }));
    this.form.querySelector("[data-action=download]").addEventListener("click", () => this.download());
    this.moreButton.addEventListener("click", () => this.draw(this.shown + ROWS_PER_PAGE));
    addSortButtons(this.headings, (heading) => this.sortBy(heading.dataset.key));
    this.block.querySelector("caption").classList.add("replaced");
    this.readAddress();
  }

  // Value of a column in a row; columns of `texts` hold indexes.
  value(column, row) {
    const value = this.data[column][row];
    return REPEATED.has(column) ? this.data.texts[value] : value ?? "";
  }

  valueCounts(column) {
    const counts = new Map();
    for (let row = 0; row < this.count; row += 1) {
      const value = this.value(column, row) || NOT_STATED;
      counts.set(value, (counts.get(value) || 0) + 1);
    }
    return counts;
  }

  categoryCounts() {
    const counts = new Map();
    for (const [path, number] of this.valueCounts("path")) {
      const steps = path.split(" > ");
      for (let depth = 1; depth <= steps.length; depth += 1) {
        const ancestor = steps.slice(0, depth).join(" > ");
        counts.set(ancestor, (counts.get(ancestor) || 0) + number);
      }
    }
    return counts;
  }

  addChoices(name, counts) {
    const field = this.form.elements[name];
    const frequent = [...counts].sort((left, right) => right[1] - left[1]).slice(0, MAX_CHOICES);
    frequent.sort((left, right) => (left[0] === NOT_STATED) - (right[0] === NOT_STATED) || collator.compare(left[0], right[0]));
    for (const [value, number] of frequent) field.append(this.choice(value, number));
    if (counts.size < 2) field.closest("label").hidden = true;
  }

  choice(value, number) {
    const label = value === NOT_STATED ? this.messages.not_stated : value.replaceAll(" > ", " › ");
    const option = element("option", "", number === undefined ? label : `${label} (${formatCount(number)})`);
    option.value = value;
    return option;
  }

  // Sets the filters from the address; an unknown value becomes a choice that no row has.
  readAddress() {
    const [name, query] = location.hash.slice(1).split("?");
    const isMeant = name === this.name;
    const parameters = new URLSearchParams(isMeant ? query || "" : "");
    if (isMeant || this.shown === undefined) {
      for (const field of this.form.elements) {
        if (!field.name) continue;
        const value = parameters.get(field.name) || "";
        if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) field.append(this.choice(value));
        field.value = value;
        if (value) field.closest("label").hidden = false;
      }
      this.sort = parameters.get("sort") || "";
      this.filter();
    }
    if (isMeant && query) this.block.closest("section").scrollIntoView();
  }

  changed() {
    const parameters = new URLSearchParams();
    for (const field of this.form.elements) if (field.name && field.value) parameters.set(field.name, field.value);
    if (this.sort) parameters.set("sort", this.sort);
    const query = parameters.toString();
    try {
      history.replaceState(null, "", `#${this.name}${query ? `?${query}` : ""}`);
    } catch {
      // An address that cannot be changed keeps the filters for this visit only.
    }
    this.filter();
  }

  sortBy(key) {
    this.sort = this.sort === key ? `-${key}` : key;
    this.changed();
  }

  haystack(row) {
    this.haystacks[row] ??= [...["title", "brand", "category", "ean", "sku", "han", "url", "cause", "evidence"].map((column) => this.value(column, row)), this.describeCause(this.value("cause", row))].join(" ").toLowerCase();
    return this.haystacks[row];
  }

  // Tests of the filters that are set, each a function of the row.
  tests() {
    const wanted = (name) => this.form.elements[name]?.value || "";
    const tests = [];
    const equal = (column, value) => tests.push((row) => this.value(column, row).toLowerCase() === (value === NOT_STATED ? "" : value.toLowerCase()));
    const below = (column, value, separator) => {
      if (value === NOT_STATED) equal(column, value);
      else tests.push((row) => this.value(column, row) === value || this.value(column, row).startsWith(value + separator));
    };
    if (wanted("cause")) below("cause", wanted("cause"), ": ");
    if (wanted("category")) below("path", wanted("category"), " > ");
    if (wanted("brand")) equal("brand", wanted("brand"));
    if (wanted("currency")) equal("currency", wanted("currency"));
    if (wanted("change")) equal("since", wanted("change"));
    if (wanted("price") === NOT_STATED) equal("price", NOT_STATED);
    else if (wanted("price")) {
      const [low, high] = wanted("price").split("-");
      const from = low === "" ? -Infinity : Number(low);
      const to = high ? Number(high) : Infinity;
      tests.push((row) => this.value("price", row) !== "" && from <= Number(this.data.price[row]) && Number(this.data.price[row]) < to);
    }
    const terms = wanted("text").toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length) tests.push((row) => terms.every((term) => this.haystack(row).includes(term)));
    return tests;
  }

  filter() {
    const tests = this.tests();
    this.rows = [];
    for (let row = 0; row < this.count; row += 1) if (tests.every((test) => test(row))) this.rows.push(row);
    this.order();
    this.draw(ROWS_PER_PAGE);
  }

  order() {
    const isDescending = this.sort.startsWith("-");
    const key = this.sort.replace("-", "");
    for (const heading of this.headings) {
      if (heading.dataset.key === key) heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
    if (!this.headings.some((heading) => heading.dataset.key === key)) return;
    const sign = isDescending ? -1 : 1;
    const keys = new Map();
    for (const row of this.rows) {
      const value = this.value(key, row);
      keys.set(row, NUMBER_COLUMNS.has(key) && value !== "" ? Number(value) : value);
    }
    // Rows without a value come last in both directions.
    this.rows.sort((left, right) => {
      const a = keys.get(left), b = keys.get(right);
      if (a === "" || b === "") return (a === "") - (b === "");
      return sign * (NUMBER_COLUMNS.has(key) ? a - b : collator.compare(a, b));
    });
  }

  draw(number) {
    this.shown = Math.min(number, this.rows.length);
    this.body.replaceChildren(...this.rows.slice(0, this.shown).map((row) => this.makeRow(row)));
    const left = this.rows.length - this.shown;
    this.moreButton.parentNode.hidden = !left;
    this.moreButton.textContent = this.messages.more.replace("{number}", formatCount(Math.min(left, ROWS_PER_PAGE)));
    const text = this.messages.shown.replace("{shown}", formatCount(this.rows.length)).replace("{all}", formatCount(this.count));
    this.message.textContent = this.rows.length ? [text, this.formatTotals()].filter(Boolean).join(" · ") : this.messages.none;
  }

  formatTotals() {
    const totals = new Map();
    for (const row of this.rows) {
      if (this.data.price[row] === null) continue;
      const currency = this.value("currency", row);
      totals.set(currency, (totals.get(currency) || 0) + Number(this.data.price[row]));
    }
    const ranked = [...totals].sort((left, right) => right[1] - left[1]).slice(0, 3);
    return ranked.map(([currency, total]) => formatPrice(total, currency)).join(" + ");
  }

  makeRow(row) {
    const made = this.template.cloneNode(true);
    const fill = (field, content) => made.querySelector(`[data-field=${field}]`).replaceChildren(content);
    const value = (column) => this.value(column, row);
    const { messages } = this;
    const identifiers = ["ean", "sku", "han"].filter(value).map((column) => `${column.toUpperCase()} ${value(column)}`);
    if (value("availability") === "out_of_stock") identifiers.push(messages.out_of_stock);
    fill("title", link(value("url"), value("title") || value("url")));
    fill("identifiers", identifiers.join(" · "));
    fill("seen", this.describeSightings(row));
    fill("variant", value("variant_of") ? link(value("variant_of"), messages.several) : "");
    fill("change", messages[`change_${value("since")}`] || "");
    fill("word", this.describeDecision(row));
    fill("category", value("category").replaceAll(" > ", " › ") || "–");
    fill("brand", value("brand"));
    fill("price", formatPrice(value("price"), value("currency")));
    fill("cause", this.describeCause(value("cause")));
    fill("evidence", value("evidence"));
    fill("also", value("also"));
    const nearest = value("nearest_title") || value("nearest_url");
    fill("nearest_title", nearest ? link(value("nearest_url"), value("nearest_title") || messages.untitled) : "");
    const price = formatPrice(value("nearest_price"), value("nearest_currency") || value("currency"));
    fill("nearest", nearest ? `${price} · ${messages.probability} ${formatShare(value("score"))}` : messages.nothing_similar);
    const button = element("button", "open", messages.details);
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `${messages.details}: ${value("title") || value("url")}`);
    button.addEventListener("click", () => this.toggle(row, made, button));
    made.cells[0].append(button);
    return made;
  }

  // The name of a cause without the value of its group, which the evidence states.
  describeCause(key) {
    const field = this.form.elements.cause;
    if (!field) return "";
    const option = [...field.options].find((choice) => choice.value === key);
    return option?.dataset.kind || key;
  }

  describeSightings(row) {
    const first = this.value("first_seen", row), last = this.value("last_seen", row);
    if (!first) return "";
    const text = `${this.messages.first_seen} ${formatMinute(first)}`;
    return first === last || !last ? text : `${text}, ${this.messages.last_seen} ${formatMinute(last)}`;
  }

  describeDecision(row) {
    const decision = this.messages[`word_${this.value("word", row)}`] || "";
    const note = this.value("note", row);
    return decision && note ? `${decision}: ${note}` : decision;
  }

  async details(row) {
    const size = Number(this.block.dataset.chunk);
    const number = Math.floor(row / size);
    const script = this.block.querySelectorAll("script.details")[number];
    if (!script) return null;
    if (!this.chunks.has(number)) this.chunks.set(number, await unpack(script));
    return this.chunks.get(number)[row % size];
  }

  async toggle(row, made, button) {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) {
      made.nextElementSibling.remove();
      return;
    }
    const cell = element("td");
    cell.colSpan = this.headings.length;
    made.after(element("tr", "opened", cell));
    const details = await this.details(row);
    cell.append(details ? this.makeDetails(row, details) : element("p", "", this.messages.no_details));
  }

  makeDetails(row, details) {
    const { messages } = this;
    const part = (title, ...content) => element("section", "", element("h3", "", title), ...content);
    return element(
      "div",
      "detail",
      part(messages.values, this.makeValues(details.values)),
      part(messages.candidates, ...this.makeCandidates(details.candidates)),
      part(messages.evidence, ...this.makeEvidence(details)),
      part(messages.page, ...this.makePage(row, details)),
    );
  }

  makeValues(values) {
    const head = element("tr", "", ...["attribute", "on_page", "in_catalog", "reading"].map((name) => {
      const heading = element("th", "", this.messages[name]);
      heading.scope = "col";
      return heading;
    }));
    const rows = values.map(([attribute, onPage, inCatalog, weight, votes, raw, rule]) => {
      const heading = element("th", "", this.messages[`attribute_${attribute}`] || attribute);
      heading.scope = "row";
      const cell = (name, text) => {
        const made = element("td", "", this.describeValue(attribute, text));
        made.dataset.label = this.messages[name];
        return made;
      };
      return element("tr", onPage === inCatalog ? "same" : "", heading, cell("on_page", onPage), cell("in_catalog", inCatalog), this.makeReading(weight, votes, onPage?.startsWith(raw ?? "") ? null : raw, rule));
    });
    return element("table", "values", element("thead", "", head), element("tbody", "", ...rows));
  }

  // Confidence, selector of the rule, and the text on the page if it differs from the value.
  makeReading(weight, votes, raw, rule) {
    const { messages } = this;
    const cell = element("td", "");
    cell.dataset.label = messages.reading;
    if (weight === null) cell.append("–");
    else cell.append(messages.confidence.replace("{share}", formatShare(weight)).replace("{votes}", formatCount(votes)));
    if (raw !== null) cell.append(element("span", "small", `${messages.raw}: “${raw}”`));
    if (rule !== null) cell.append(element("span", "small", `${messages.rule}: `, element("code", "", rule)));
    return cell;
  }

  // A value as readers know it.
  describeValue(attribute, text) {
    if (text === null || text === undefined) return "–";
    if (attribute === "price" && !Number.isNaN(Number(text))) return formatPrice(text);
    if (attribute === "category") return text.replaceAll(" > ", " › ");
    return this.messages[`${attribute}_${text}`] || text;
  }

  makeCandidates(candidates) {
    const { messages } = this;
    if (!candidates.length) return [element("p", "", messages.no_candidates)];
    const items = candidates.map(([ref, title, url, score, weights]) => {
      const probability = score === null ? "" : `${messages.probability} ${formatShare(score)}`;
      const made = element("li", "", link(url, title || ref || messages.untitled), element("span", "small", [ref, probability].filter(Boolean).join(" · ")));
      if (weights.length) made.append(element("details", "", element("summary", "", messages.evidence), this.makeWaterfall(weights)));
      return made;
    });
    return [element("ol", "candidates", ...items)];
  }

  makeEvidence({ evidence, reasons }) {
    const lines = reasons.map((reason) => element("li", "", reason));
    const content = lines.length ? [element("ul", "reasons", ...lines)] : [];
    if (!evidence.length) return content;
    return [...content, element("p", "small", this.messages.evidence_hint), this.makeWaterfall(evidence)];
  }

  // Each bar begins where the one above ends: together they lead to the matcher's decision.
  makeWaterfall(evidence) {
    let sum = 0;
    const steps = evidence.map(([kind, weight]) => ({ kind, weight, from: sum, to: (sum += weight) }));
    const low = Math.min(0, ...steps.map((step) => step.to)), high = Math.max(0, ...steps.map((step) => step.to));
    const scale = 100 / (high - low || 1);
    const rows = steps.map(({ kind, weight, from, to }) => {
      const bar = element("i", weight > 0 ? "for" : "against");
      bar.style.marginInlineStart = `${(Math.min(from, to) - low) * scale}%`;
      bar.style.inlineSize = `${Math.max(Math.abs(weight) * scale, 0.5)}%`;
      const sign = weight > 0 ? "+" : "−";
      return element("li", "", element("span", "", this.messages[`kind_${kind}`] || kind), element("span", "track", bar), element("span", "number", `${sign}${Math.abs(weight).toLocaleString(language, { minimumFractionDigits: 2 })}`));
    });
    return element("ul", "waterfall", ...rows);
  }

  // Scout's own web application, which serves the report below /runs/, has the stored pages as well.
  makeSnapshot(page) {
    const application = /^(.*)\/runs\/\d+\/report\.html$/.exec(location.pathname);
    if (!application || !location.protocol.startsWith("http")) return this.messages.snapshot;
    return link(`${location.origin}${application[1]}/snapshots/${page.page}`, this.messages.snapshot);
  }

  makePage(row, { page, urls }) {
    const { messages } = this;
    const items = [element("li", "", link(this.value("url", row), messages.open))];
    if (page.fetched_at) items.push(element("li", "", `${messages.fetched} ${formatMinute(page.fetched_at)}`));
    if (page.body) items.push(element("li", "", this.makeSnapshot(page), " ", element("code", "", page.body.slice(0, 16))));
    for (const url of urls.slice(0, 5)) items.push(element("li", "", `${messages.also_at} `, link(url, url)));
    const reviewed = this.value("reviewed_at", row);
    const decision = [this.describeDecision(row) || messages.no_decision, this.value("reviewer", row), reviewed ? formatMinute(reviewed) : ""].filter(Boolean).join(", ");
    items.push(element("li", "", `${messages.decision}: ${decision}`));
    return [element("ul", "", ...items)];
  }

  download() {
    const lines = [["verdict", ...CSV_COLUMNS].join(",")];
    for (const row of this.rows) {
      const cells = CSV_COLUMNS.map((column) => {
        const value = String(this.value(column, row));
        return NUMBER_COLUMNS.has(column) ? value : escapeCell(value);
      });
      lines.push([this.name, ...cells].join(","));
    }
    startDownload(`${this.name}-${this.block.dataset.shop.replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`, `${lines.join("\r\n")}\r\n`);
  }
}

const lists = [];
for (const block of document.querySelectorAll("[data-offers]")) {
  if (typeof DecompressionStream === "undefined") {
    block.querySelector("caption").append(` ${JSON.parse(block.dataset.messages).old_browser}`);
    continue;
  }
  const list = new OfferList(block);
  lists.push(list);
  list.load();
}

// Short tables, which are in the page completely.
for (const table of document.querySelectorAll("[data-table] table")) {
  const body = table.tBodies[0];
  addSortButtons(table.querySelectorAll("th[data-kind]"), (heading) => {
    const column = heading.cellIndex;
    const isDescending = heading.getAttribute("aria-sort") === "ascending";
    const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const compare = (left, right) => (heading.dataset.kind === "number" ? Number(key(left)) - Number(key(right)) : collator.compare(key(left), key(right)));
    for (const cell of heading.parentNode.cells) cell.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    body.append(...[...body.rows].sort((left, right) => (isDescending ? compare(right, left) : compare(left, right))));
  });
}

// A figure may lead to rows with filters, or to a collapsed part.
const followAddress = () => {
  const name = location.hash.slice(1).split("?")[0];
  const target = name ? document.getElementById(name) : null;
  if (target?.tagName === "DETAILS") target.open = true;
  for (const list of lists) if (list.data) list.readAddress();
};
addEventListener("hashchange", followAddress);
followAddress();

// Collapsed parts and rows not drawn yet would be missing on paper.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  for (const list of lists) if (list.data) list.draw(MAX_PRINTED_ROWS);
});
