// The section "What if" of the page. Users enter a row and see its path, its prediction, and the smallest change of the
// row that changes the prediction.

const MISSING_PATTERN = /^(na|nan|null|none|\?)$/i;
const MAX_CLASSES_SHOWN = 6;
const MAX_NAMES_LISTED = 8;
const DAY_MILLISECONDS = 864e5;

function createWhatIf(raw, tree, state, words, errors, picture, routing) {
  const testedColumns = [...new Set(tree.feature)].filter((j) => j >= 0);
  const row = raw.columns.map(() => null);
  const sliderEnds = new Map(); // by numeric column: the lowest and the highest value of its slider
  // By numeric column: the difference of its highest and lowest threshold. Changes of different columns are compared in
  // units of this range, as in inspection/counterfactual.py.
  const thresholdRanges = new Map();
  for (const j of testedColumns) {
    if (raw.columns[j].categories) row[j] = raw.rows?.columns[j]?.common ?? 0;
    else setInitialNumber(j);
  }
  const rangeOf = (j) => thresholdRanges.get(j);
  const originalName = (j) => raw.columns[j].original_name ?? raw.columns[j].name;

  // Set the initial value of a numeric column: its median in the data, or else the middle of its thresholds.
  function setInitialNumber(j) {
    const data = raw.rows?.columns[j];
    const thresholds = tree.exactThreshold.filter((threshold, v) => tree.feature[v] === j && isFinite(threshold));
    const low = thresholds.reduce((a, b) => Math.min(a, b), Infinity);
    const high = thresholds.reduce((a, b) => Math.max(a, b), -Infinity);
    const range = high - low || Math.abs(low) || 1;
    thresholdRanges.set(j, thresholds.length ? range : 1);
    if (data?.low !== undefined) {
      sliderEnds.set(j, [Math.min(data.low, low), Math.max(data.high, high)]);
      row[j] = Number(data.middle.toPrecision(4));
    } else if (isFinite(low)) {
      sliderEnds.set(j, [low - 0.25 * range, high + 0.25 * range]);
      row[j] = Number(((low + high) / 2).toPrecision(4));
    } else {
      sliderEnds.set(j, [0, 1]);
      row[j] = 0;
    }
  }

  // Return the columns that the pruning on the page tests.
  function shownColumns() {
    const shown = new Set();
    for (let v = 0; v < tree.n; v++) if (state.kept[v]) shown.add(tree.feature[v]);
    return [...shown].filter((j) => j >= 0).sort((a, b) => a - b);
  }

  function valueText(j, value) {
    if (value === null) return "missing";
    if (raw.columns[j].categories) return value < 0 ? "another value" : raw.columns[j].categories[value];
    return raw.columns[j].date ? formatDay(value) : String(Number(value.toPrecision(8)));
  }

  // Return the label and the control of one column.
  function field(j) {
    const id = `field-${j}`;
    const label = html("label", { for: id }, html("bdi", {}, raw.columns[j].name));
    const control = raw.columns[j].categories ? categoryControl(j, id) : numberControl(j, id);
    return html("div", { class: "field" }, label, control);
  }

  function categoryControl(j, id) {
    const choices = [...raw.columns[j].categories.map((text, code) => [code, text]), ["", "missing"]];
    const select = html("select", { id }, ...choices.map(([code, text]) => html("option", { value: code }, text)));
    select.value = row[j] === null || row[j] < 0 ? "" : row[j];
    select.addEventListener("change", () => {
      row[j] = select.value === "" ? null : Number(select.value);
      drawPrediction();
    });
    return select;
  }

  // Return the control of a numeric column: a slider, an entry for the exact number, and a checkbox "missing".
  function numberControl(j, id) {
    const { name, date } = raw.columns[j];
    const [min, max] = sliderEnds.get(j);
    const entry = html("input", { id, type: date ? "date" : "number", step: date ? null : "any" });
    const slider = html("input", { type: "range", min, max, step: date ? 1 : "any", "aria-label": `${name}, as a slider` });
    const missingBox = html("input", { type: "checkbox", id: `${id}-missing` });
    const showValue = () => {
      const isMissing = row[j] === null;
      missingBox.checked = isMissing;
      entry.disabled = slider.disabled = isMissing;
      if (isMissing) entry.value = "";
      else {
        entry.value = date ? formatDay(Math.floor(row[j])) : valueText(j, row[j]);
        slider.value = row[j];
      }
    };
    slider.addEventListener("input", () => {
      row[j] = date ? Math.floor(slider.value) : Number(Number(slider.value).toPrecision(4));
      showValue();
      drawPrediction();
    });
    entry.addEventListener("input", () => {
      const value = parseValue(raw.columns[j], entry.value);
      if (value === null || value === undefined) return;
      row[j] = value;
      slider.value = value;
      drawPrediction();
    });
    missingBox.addEventListener("change", () => {
      row[j] = missingBox.checked ? null : Number(slider.value);
      showValue();
      drawPrediction();
    });
    showValue();
    const missingLabel = html("label", { class: "missing", for: `${id}-missing` }, missingBox, "missing");
    return html("span", { class: "entry" }, slider, entry, missingLabel);
  }

  function draw() {
    const columns = shownColumns();
    const pasteBox = html("textarea", {
      id: "paste", rows: 2, spellcheck: "false", "aria-label": "A row as CSV or JSON",
      placeholder: "Paste a row: JSON, or CSV with its header",
    });
    const buttons = html("p", { class: "buttons" },
      button("Use the row", () => useText(pasteBox.value), { id: "use-row" }),
      copyButton(() => JSON.stringify(rowAsObject()), "Copy as JSON"));
    $("what-if").replaceChildren(
      html("div", {},
        html("h3", {}, columns.length ? "A row" : "The tree is one leaf: every row gets the same prediction."),
        ...columns.map(field),
        html("div", { class: "field" }, pasteBox, buttons),
        html("p", { class: "note", id: "paste-note", role: "status" }),
      ),
      html("div", { id: "prediction" }),
    );
    drawPrediction();
  }

  function originalValue(j, value) {
    const { categories, values } = raw.columns[j];
    if (value === null || !categories) return value;
    return (values || categories)[value] ?? null;
  }

  const rowAsObject = () => Object.fromEntries(testedColumns.map((j) => [originalName(j), originalValue(j, row[j])]));

  // Use a pasted row: an object or a list in JSON, or CSV with or without a header.
  function useText(text) {
    let values;
    try {
      values = readRow(text, raw.columns.map((_, j) => originalName(j)));
    } catch (error) {
      $("paste-note").textContent = error.message;
      return;
    }
    const remarks = [];
    for (const [j, value] of values) {
      if (!testedColumns.includes(j)) continue;
      const parsed = parseValue(raw.columns[j], value);
      if (parsed === undefined) remarks.push(`${raw.columns[j].name}: ${value} is no number`);
      else row[j] = parsed;
      if (parsed === -1) remarks.push(`${raw.columns[j].name}: ${value} was not seen in growing`);
    }
    const lacking = testedColumns.filter((j) => !values.has(j)).map((j) => raw.columns[j].name);
    if (lacking.length) remarks.push(`not given, so left as it was: ${listNames(lacking)}`);
    draw();
    $("paste").value = text;
    $("paste-note").textContent = remarks.join("; ") || "The row is used.";
  }

  function drawPrediction() {
    const path = routing.pathOf(row);
    const leaf = path.at(-1);
    picture.highlightRowPath(path);
    const prediction = words.predictionLabel(leaf);
    $("prediction").replaceChildren(
      html("h3", {}, "Its prediction"),
      html("p", { class: "big" }, errors.isClasses ? swatch(tree.labels[leaf]) : null,
        html("bdi", { id: "prediction-text" }, prediction), " ",
        button(`node ${leaf}`, () => picture.select(leaf, { focus: true }), { class: "plain" })),
      errors.isClasses ? shareTable(leaf) : table(["", ...tree.samples.map((sample) => sample.name)], [
        ...meanRows(tree, leaf),
        ["RMSE", ...tree.samples.map((sample, s) => errors.format(errors.rate(s, sample.cost[leaf], leaf)))],
      ]),
      html("h3", {}, "The smallest change that alters it"),
      html("div", { id: "change" }, ...changeTexts(leaf)),
      html("h3", {}, "Its path"),
      html("ol", { class: "path" }, ...path.slice(1).map(pathStep)),
    );
    announce(`Prediction ${prediction}`);
  }

  function pathStep(u) {
    const j = tree.feature[tree.parent[u]];
    const value = ` (${raw.columns[j]?.name} is ${valueText(j, row[j])})`;
    return html("li", {}, html("bdi", {}, words.branchText(u)), html("span", { class: "soft" }, value));
  }

  // Return a table of the class shares in a leaf, on each sample and as limits for new rows.
  function shareTable(v) {
    const k = raw.classes.length;
    const { counts } = tree.samples[0];
    const order = Array.from({ length: k }, (_, c) => c).sort((a, b) => counts[v * k + b] - counts[v * k + a] || a - b);
    const share = (sample, c) => (sample.total[v] ? formatPercent(sample.counts[v * k + c] / sample.total[v]) : "–");
    const head = ["class", ...tree.samples.map((sample) => `${sample.name} rows`)];
    if (tree.shareLimits) head.push("new rows at most");
    const body = order.slice(0, MAX_CLASSES_SHOWN).map((c) => {
      const cells = [classLabel(c, raw.classes[c]), ...tree.samples.map((sample) => share(sample, c))];
      if (tree.shareLimits) cells.push(`${(tree.shareLimits[v * k + c] / 10).toFixed(1)}\u00a0%`);
      return cells;
    });
    const sizes = tree.samples.map((sample) => `${formatNumber(sample.total[v])} ${sample.name} rows here`);
    return html("div", {}, table(head, body), html("p", { class: "note" }, `${sizes.join(", ")}.`));
  }

  function changeTexts(leaf) {
    if (errors.isClasses) return [changeSentence("", (u) => tree.labels[u] !== tree.labels[leaf])];
    const { mean } = tree.samples[0];
    return [
      changeSentence("Higher: ", (u) => mean[u] > mean[leaf]),
      changeSentence("Lower: ", (u) => mean[u] < mean[leaf]),
    ];
  }

  function changeSentence(start, isWanted) {
    const best = routing.smallestChange(row, isWanted, rangeOf);
    if (!best) {
      const noChange = start ? "none" : "None: no other prediction of this tree can be reached by changing known values";
      return html("p", { class: "why" }, `${start}${noChange}.`);
    }
    const changes = best.changes.flatMap((change, i) => [i ? " and " : "", html("bdi", {}, changeText(change))]);
    const prediction = html("strong", {}, html("bdi", {}, words.predictionLabel(best.leaf)));
    return html("p", { class: "why" }, start, ...changes, ": then the prediction is ", prediction, ` (node ${best.leaf}).`);
  }

  function changeText({ column, low, high, isUp, codes }) {
    const { name, categories } = raw.columns[column];
    const now = valueText(column, row[column]);
    if (codes) return `${name} from ${now} to ${codes.slice(0, 3).map((c) => categories[c]).join(" or ")}`;
    const above = `above ${endText(column, low, Math.ceil)}`;
    if (row[column] === null) {
      const limits = [];
      if (isFinite(low)) limits.push(above);
      if (isFinite(high)) limits.push(`at most ${endText(column, high, Math.floor)}`);
      return `${name} known, ${limits.join(" and ")}`;
    }
    return isUp ? `${name} from ${now} to ${above}` : `${name} from ${now} to ${endText(column, high, Math.floor)} or less`;
  }

  // Return an end of a range as text with five digits. `round` is Math.ceil or Math.floor, so that the rounded number
  // still satisfies the test.
  function endText(j, value, round) {
    if (raw.columns[j].date) return formatDay(value);
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(value) || 1)) - 4);
    return String(Number((round(value / unit) * unit).toPrecision(6)));
  }

  return Object.assign(draw, { row, useText, rangeOf, leave: () => picture.highlightRowPath([]) });
}

// Translate the text of a cell to what the tree tests: a number, or the code of a category (-1 if growing did not see the
// category). Return null for a missing value, and undefined if the column is numeric and the text is not a number.
function parseValue({ categories, values, date }, value) {
  if (value === null || value === undefined || value === "") return null;
  const text = String(value).trim();
  if (categories) return parseCategory(values || categories, String(value));
  if (date && isNaN(Number(value))) {
    const days = Date.parse(`${text.replace(" ", "T")}${/[:T ]/.test(text) ? "Z" : ""}`) / DAY_MILLISECONDS;
    if (!isNaN(days)) return days;
  }
  if (isFinite(Number(value)) && text !== "") return Number(value);
  return MISSING_PATTERN.test(text) ? null : undefined;
}

function parseCategory(values, text) {
  const isEqualNumber = (value) => typeof value === "number" && text.trim() !== "" && Number(text) === value;
  const code = values.findIndex((value) => String(value) === text || isEqualNumber(value));
  if (code >= 0) return code;
  return MISSING_PATTERN.test(text.trim()) ? null : -1;
}

function listNames(names) {
  return `${names.slice(0, MAX_NAMES_LISTED).join(", ")}${names.length > MAX_NAMES_LISTED ? "…" : ""}`;
}

// Return the values of a pasted row, by column number. Users see the message of any error that is thrown.
function readRow(text, names) {
  const body = text.trim();
  if (!body) throw new Error("There is nothing to read: paste a row as JSON or CSV.");
  const entries = body[0] === "{" || body[0] === "[" ? readJsonRow(body, names) : readCsvRow(body, names);
  const values = new Map(entries.filter(([name]) => names.includes(name)).map(([name, value]) => [names.indexOf(name), value]));
  if (!values.size) throw new Error(`No column of the tree is named here; it has ${listNames(names)}.`);
  return values;
}

// Return pairs of name and value from JSON: an object, a list of values in the order of the columns, or a list of rows, of
// which the first is read.
function readJsonRow(body, names) {
  let parsed;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new Error("This is not JSON: check its quotes, commas and brackets.");
  }
  const isTable = Array.isArray(parsed) && typeof parsed[0] === "object" && parsed[0] !== null;
  const row = isTable ? parsed[0] : parsed;
  if (!Array.isArray(row)) return Object.entries(row);
  if (row.length !== names.length) throw new Error(`The list has ${row.length} values; ${names.length} columns are needed.`);
  return row.map((value, j) => [names[j], value]);
}

function readCsvRow(body, names) {
  const lines = body.split(/\r?\n/).map(splitCsvLine);
  const [header, cells] = lines.length > 1 ? lines : [names, lines[0]];
  if (cells.length !== header.length) throw new Error(`The row has ${cells.length} values; ${header.length} are needed.`);
  return header.map((name, i) => [name, cells[i]]);
}

// Return the cells of a line of CSV. The delimiter is a tab, a semicolon or a comma, the first of these in the line.
function splitCsvLine(line) {
  const delimiter = ["\t", ";", ","].find((c) => line.includes(c)) || ",";
  const cells = [];
  const cellPattern = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}]*))(${delimiter}|$)`, "y");
  for (let match = cellPattern.exec(line); match; match = cellPattern.exec(line)) {
    cells.push(match[1] !== undefined ? match[1].replace(/""/g, '"') : match[2].trim());
    if (!match[3]) break;
  }
  return cells;
}
