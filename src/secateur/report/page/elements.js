// Functions that create elements, measure text and choose colours. Names from data only ever become text nodes and
// attributes, never markup.

const $ = (id) => document.getElementById(id);

const MAX_CACHED_WIDTHS = 20000;
const COPIED_MESSAGE_MILLISECONDS = 1200;
const ANNOUNCEMENT_DELAY_MILLISECONDS = 150;

function html(name, attributes = {}, ...children) {
  return fillElement(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fillElement(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "onclick") element.addEventListener("click", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function button(text, onclick, attributes = {}) {
  return html("button", { type: "button", onclick, ...attributes }, text);
}

// The colours of Okabe and Ito, which colour-blind readers can distinguish; the figures use them too. Further classes
// get hues that are a golden angle apart and alternate between dark and light. Every class is also named in words.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"];

function classColour(c) {
  if (c < COLOURS.length) return COLOURS[c];
  const hue = Math.round((c - COLOURS.length) * 137.508 + 265) % 360;
  return `hsl(${hue} ${[55, 70, 40][c % 3]}% ${[38, 62, 50][c % 3]}%)`;
}

// The colour of a number, from blue (share 0) through grey (0.5) to orange (1).
function rampColour(share) {
  const [blue, grey, orange] = [[0, 114, 178], [150, 150, 150], [230, 130, 0]];
  const [from, to] = share < 0.5 ? [blue, grey] : [grey, orange];
  const position = share < 0.5 ? share * 2 : share * 2 - 1;
  const channels = from.map((low, i) => Math.round(low + (to[i] - low) * position));
  return `rgb(${channels.join(",")})`;
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();

// The width of a text in pixels.
function textWidth(text, size = 12, weight = 400) {
  const key = `${weight} ${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > MAX_CACHED_WIDTHS) widths.clear();
    ruler.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

// The text, shortened with an ellipsis to a width in pixels.
function clipText(text, pixels, size = 12, weight = 400) {
  if (textWidth(text, size, weight) <= pixels) return text;
  const letters = Array.from(text).slice(0, Math.ceil(pixels / 2));
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, size, weight) > pixels) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

function swatch(c) {
  const square = svg("rect", { width: 10, height: 10, rx: 2, fill: classColour(c) });
  return svg("svg", { class: "swatch", width: 10, height: 10, "aria-hidden": "true" }, square);
}

// A class with its colour, as the head of a row of a table.
function classLabel(c, name) {
  return html("span", { class: "class-name" }, swatch(c), html("bdi", {}, name));
}

// A button that copies the text that `makeText` returns when it is pressed.
function copyButton(makeText, name, label) {
  const control = button(name, () => copyText(makeText(), control), { class: "copy", "aria-label": label });
  return control;
}

// A table; the first cell of each row is its head. An empty text in `head` gives an empty cell.
function table(head, body, attributes = {}) {
  const headCells = head.map((cell) => (cell ? html("th", { scope: "col" }, cell) : html("td", {})));
  const rows = body.map(([name, ...cells]) =>
    html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell))));
  return html("table", attributes, html("thead", {}, html("tr", {}, ...headCells)), html("tbody", {}, ...rows));
}

async function copyText(text, control) {
  let isCopied = false;
  try {
    await navigator.clipboard.writeText(text);
    isCopied = true;
  } catch {
    // A page opened from disk or shown in a frame may have no clipboard: copy a selected text area instead.
    isCopied = copySelection(text);
    control.focus();
  }
  announce(isCopied ? "Copied." : "The browser did not allow copying.");
  const label = control.dataset.text || control.textContent;
  control.dataset.text = label;
  control.textContent = isCopied ? "Copied" : "Not allowed";
  setTimeout(() => (control.textContent = label), COPIED_MESSAGE_MILLISECONDS);
}

function copySelection(text) {
  const area = html("textarea", { "aria-hidden": "true", class: "visually-hidden", tabindex: "-1" });
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

let announceTimer = 0;

// Give a text to screen readers. The delay keeps them from reading every position of a slider that is being dragged.
function announce(text) {
  clearTimeout(announceTimer);
  announceTimer = setTimeout(() => ($("live").textContent = text), ANNOUNCEMENT_DELAY_MILLISECONDS);
}
