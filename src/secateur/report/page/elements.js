// Elements, text and colours. Names from data only ever become text nodes and attributes.

const $ = (id) => document.getElementById(id);

function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
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

// The colours of the figures (Okabe and Ito), which all readers can tell apart; after them hues a golden angle
// from one another, dark and light in turn. A class is always named in words as well.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"];

function classColour(c) {
  if (c < COLOURS.length) return COLOURS[c];
  const hue = Math.round((c - COLOURS.length) * 137.508 + 265) % 360;
  return `hsl(${hue} ${[55, 70, 40][c % 3]}% ${[38, 62, 50][c % 3]}%)`;
}

// From blue through grey to orange, for numbers.
function rampColour(share) {
  const ends = share < 0.5 ? [[0, 114, 178], [150, 150, 150]] : [[150, 150, 150], [230, 130, 0]];
  const at = share < 0.5 ? share * 2 : share * 2 - 1;
  return `rgb(${ends[0].map((low, i) => Math.round(low + (ends[1][i] - low) * at)).join(",")})`;
}

// The width of text in pixels, and text cut to one.
const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();
function textWidth(text, size = 12, weight = 400) {
  const key = `${weight} ${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 20000) widths.clear();
    ruler.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

function clipped(text, pixels, size = 12, weight = 400) {
  if (textWidth(text, size, weight) <= pixels) return text;
  const letters = Array.from(text).slice(0, Math.ceil(pixels / 2));
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, size, weight) > pixels) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

function swatch(c) {
  return svg("svg", { class: "swatch", width: 10, height: 10, "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, rx: 2, fill: classColour(c) }));
}

function copier(textOf, name, label) {
  const control = button(name, () => copyText(textOf(), control), { class: "copy", "aria-label": label });
  return control;
}

function table(head, body, attributes = {}) {
  return html("table", attributes,
    html("thead", {}, html("tr", {}, ...head.map((cell) => (cell ? html("th", { scope: "col" }, cell) : html("td", {}))))),
    html("tbody", {}, ...body.map(([name, ...cells]) => html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell))))),
  );
}

async function copyText(text, control) {
  let isDone = false;
  try {
    await navigator.clipboard.writeText(text);
    isDone = true;
  } catch {
    // Pages opened from disk or shown in a frame may not have a clipboard: select the text and ask the old way.
    const area = html("textarea", { "aria-hidden": "true", class: "unseen", tabindex: "-1" });
    area.value = text;
    document.body.append(area);
    area.select();
    isDone = document.execCommand("copy");
    area.remove();
    control.focus();
  }
  say(isDone ? "Copied." : "The browser did not allow copying.");
  const before = control.dataset.text || control.textContent;
  control.dataset.text = before;
  control.textContent = isDone ? "Copied" : "Not allowed";
  setTimeout(() => (control.textContent = before), 1200);
}

let saying = 0;
function say(text) {
  clearTimeout(saying); // sliding fast must not fill the ears
  saying = setTimeout(() => ($("live").textContent = text), 150);
}
