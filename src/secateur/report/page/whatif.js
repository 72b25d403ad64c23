// What if: a row made by hand, the path it takes, the answer it gets, and the least change that would alter it.

function whatIfOf(raw, tree, state, words, errors, picture, routes) {
  const row = raw.columns.map(() => null);
  const tested = [...new Set(tree.feature)].filter((j) => j >= 0);
  const bounds = new Map(); // of each column of numbers: the data's range, or that of the thresholds and a little more
  const spreads = new Map(); // what a change is measured by, as in inspection/counterfactual.py: the range of the thresholds
  for (const j of tested) {
    const about = raw.rows?.columns[j];
    if (raw.columns[j].categories) {
      row[j] = about?.common ?? 0;
      continue;
    }
    const cuts = [];
    for (let v = 0; v < tree.n; v++) if (tree.feature[v] === j && isFinite(tree.cut[v])) cuts.push(tree.cut[v]);
    const low = cuts.reduce((a, b) => Math.min(a, b), Infinity);
    const high = cuts.reduce((a, b) => Math.max(a, b), -Infinity);
    const more = (high - low || Math.abs(low) || 1) * 0.25;
    spreads.set(j, cuts.length ? high - low || Math.abs(low) || 1 : 1);
    const given = about?.low !== undefined;
    bounds.set(j, given ? [Math.min(about.low, low), Math.max(about.high, high)] : isFinite(low) ? [low - more, high + more] : [0, 1]);
    row[j] = given ? Number(about.middle.toPrecision(4)) : isFinite(low) ? Number(((low + high) / 2).toPrecision(4)) : 0;
  }
  const range = (j) => spreads.get(j);

  // The columns the tree tests, those of the shown tree first.
  function columns() {
    const shown = new Set();
    for (let v = 0; v < tree.n; v++) if (state.kept[v]) shown.add(tree.feature[v]);
    return [...shown].filter((j) => j >= 0).sort((a, b) => a - b);
  }

  const valueText = (j, value) => {
    if (value === null) return "missing";
    if (raw.columns[j].categories) return value < 0 ? "another value" : raw.columns[j].categories[value];
    return raw.columns[j].date ? dayText(value) : String(Number(value.toPrecision(8)));
  };

  function field(j) {
    const { name, categories, date } = raw.columns[j];
    const id = `field-${j}`;
    const label = html("label", { for: id }, html("bdi", {}, name));
    const set = (value) => {
      row[j] = value;
      answer();
    };
    if (categories) {
      const options = [...categories.map((text, code) => [code, text]), ["", "missing"]];
      const choice = html("select", { id }, ...options.map(([code, text]) => html("option", { value: code }, text)));
      choice.value = row[j] === null || row[j] < 0 ? "" : row[j];
      choice.addEventListener("change", () => set(choice.value === "" ? null : Number(choice.value)));
      return html("div", { class: "field" }, label, choice);
    }
    const [low, high] = bounds.get(j);
    const entry = html("input", { id, type: date ? "date" : "number", step: date ? null : "any" });
    const slide = html("input", { type: "range", min: low, max: high, step: date ? 1 : "any", "aria-label": `${name}, as a slider` });
    const gap = html("input", { type: "checkbox", id: `${id}-gap` });
    const show = () => {
      gap.checked = row[j] === null;
      entry.disabled = slide.disabled = gap.checked;
      entry.value = row[j] === null ? "" : date ? dayText(Math.floor(row[j])) : valueText(j, row[j]);
      if (row[j] !== null) slide.value = row[j];
    };
    slide.addEventListener("input", () => {
      row[j] = date ? Math.floor(slide.value) : Number(Number(slide.value).toPrecision(4));
      show();
      answer();
    });
    entry.addEventListener("input", () => {
      const value = coded(j, entry.value);
      if (value === null || value === undefined) return;
      set(value);
      slide.value = row[j];
    });
    gap.addEventListener("change", () => {
      row[j] = gap.checked ? null : Number(slide.value);
      show();
      answer();
    });
    show();
    return html("div", { class: "field" }, label, html("span", { class: "entry" }, slide, entry, html("label", { class: "gap", for: `${id}-gap` }, gap, "missing")));
  }

  function draw() {
    const listed = columns();
    const box = html("textarea", { id: "paste", rows: 2, spellcheck: "false", "aria-label": "A row as CSV or JSON", placeholder: "Paste a row: JSON, or CSV with its header" });
    $("what-if").replaceChildren(
      html("div", {},
        html("h3", {}, listed.length ? "A row" : "The tree is one leaf: every row gets the same answer."),
        ...listed.map(field),
        html("div", { class: "field" }, box, html("p", { class: "buttons" },
          button("Use the row", () => take(box.value), { id: "take" }),
          copier(() => JSON.stringify(asObject()), "Copy as JSON"))),
        html("p", { class: "note", id: "paste-note", role: "status" }),
      ),
      html("div", { id: "answer" }),
    );
    answer();
  }

  const ownValue = (j, value) => (value === null ? null : raw.columns[j].categories ? (raw.columns[j].values || raw.columns[j].categories)[value] ?? null : value);
  const asObject = () => Object.fromEntries(tested.map((j) => [raw.columns[j].own ?? raw.columns[j].name, ownValue(j, row[j])]));

  // A pasted row: an object or a list in JSON, or CSV with or without a header.
  function take(text) {
    const note = $("paste-note");
    let given;
    try {
      given = readRow(text, raw.columns.map((column) => column.own ?? column.name));
    } catch (error) {
      note.textContent = error.message;
      return;
    }
    const told = [];
    for (const [j, value] of given) {
      if (!tested.includes(j)) continue;
      const found = coded(j, value);
      if (found === undefined) told.push(`${raw.columns[j].name}: ${value} is no number`);
      else row[j] = found;
      if (found === -1) told.push(`${raw.columns[j].name}: ${value} was not seen in growing`);
    }
    const lacking = tested.filter((j) => !given.has(j)).map((j) => raw.columns[j].name);
    if (lacking.length) told.push(`not given, so left as it was: ${lacking.slice(0, 8).join(", ")}${lacking.length > 8 ? "…" : ""}`);
    draw();
    $("paste").value = text;
    $("paste-note").textContent = told.join("; ") || "Taken.";
  }

  function coded(j, value) {
    const { categories, values, date } = raw.columns[j];
    if (value === null || value === undefined || value === "") return null;
    if (date && isNaN(Number(value))) {
      const days = Date.parse(`${String(value).trim().replace(" ", "T")}${/[:T ]/.test(String(value).trim()) ? "Z" : ""}`) / 864e5;
      if (!isNaN(days)) return days;
    }
    if (!categories) return isFinite(Number(value)) && String(value).trim() !== "" ? Number(value) : /^(na|nan|null|none|\?)$/i.test(String(value).trim()) ? null : undefined;
    const text = String(value);
    const at = (values || categories).findIndex((own) => String(own) === text || (typeof own === "number" && text.trim() !== "" && Number(text) === own));
    if (at >= 0) return at;
    return /^(na|nan|null|none|\?)$/i.test(text.trim()) ? null : -1;
  }

  function answer() {
    const path = routes.pathOf(row);
    const leaf = path[path.length - 1];
    picture.light(path);
    const steps = path.slice(1).map((u) => html("li", {},
      html("bdi", {}, words.branchText(u)), html("span", { class: "soft" }, ` (${raw.columns[tree.feature[tree.parent[u]]]?.name} is ${valueText(tree.feature[tree.parent[u]], row[tree.feature[tree.parent[u]]])})`)));
    $("answer").replaceChildren(
      html("h3", {}, "Its answer"),
      html("p", { class: "big" }, errors.isClasses ? swatch(tree.labels[leaf]) : null, html("bdi", { id: "answer-text" }, words.answerShort(leaf)), " ",
        button(`node ${leaf}`, () => picture.select(leaf, { focus: true }), { class: "plain" })),
      errors.isClasses ? sharesTable(leaf) : spreadTable(leaf),
      html("h3", {}, "The least change that alters it"),
      html("div", { id: "change" }, ...changes(leaf)),
      html("h3", {}, "Its path"),
      html("ol", { class: "path" }, ...steps),
    );
    say(`Answer ${words.answerShort(leaf)}`);
  }

  function sharesTable(v) {
    const k = raw.classes.length;
    const order = Array.from({ length: k }, (_, c) => c).sort((a, b) => tree.samples[0].counts[v * k + b] - tree.samples[0].counts[v * k + a] || a - b).slice(0, 6);
    const share = (sample, c) => (sample.total[v] ? percent(sample.counts[v * k + c] / sample.total[v]) : "–");
    const limits = tree.shares ? ["new rows at most"] : [];
    return html("div", {}, table(["class", ...tree.samples.map((sample) => `${sample.name} rows`), ...limits], order.map((c) => [
      html("span", { class: "class-name" }, swatch(c), html("bdi", {}, raw.classes[c])),
      ...tree.samples.map((sample) => share(sample, c)),
      ...(tree.shares ? [`${(tree.shares[v * k + c] / 10).toFixed(1)}\u00a0%`] : []),
    ])), html("p", { class: "note" }, tree.samples.map((sample) => `${number(sample.total[v])} ${sample.name} rows here`).join(", ") + "."));
  }

  function spreadTable(v) {
    return table(["", ...tree.samples.map((sample) => sample.name)], [
      ["rows", ...tree.samples.map((sample) => number(sample.total[v]))],
      ["mean", ...tree.samples.map((sample) => (sample.total[v] ? figure(sample.mean[v], 4) : "–"))],
      ["RMSE", ...tree.samples.map((sample, s) => errors.shown(errors.rate(s, sample.cost[v], v)))],
    ]);
  }

  function changes(leaf) {
    const goals = errors.isClasses ? [["", (u) => tree.labels[u] !== tree.labels[leaf]]] : [
      ["Higher: ", (u) => tree.samples[0].mean[u] > tree.samples[0].mean[leaf]],
      ["Lower: ", (u) => tree.samples[0].mean[u] < tree.samples[0].mean[leaf]],
    ];
    return goals.map(([start, wanted]) => {
      const found = routes.smallestChange(row, wanted, range);
      if (!found) return html("p", { class: "why" }, `${start}${start ? "none" : "None: no leaf of this tree answers anything else that a change of known values can reach"}.`);
      return html("p", { class: "why" }, start, ...found.changes.flatMap((change, i) => [i ? " and " : "", html("bdi", {}, changeText(change))]),
        ": then the answer is ", html("strong", {}, html("bdi", {}, words.answerShort(found.leaf))), ` (node ${found.leaf}).`);
    });
  }

  function changeText({ column, low, high, isUp, codes }) {
    const { name, categories } = raw.columns[column];
    const now = valueText(column, row[column]);
    // Five digits, rounded to the safe side.
    const safe = (x, round) => {
      if (raw.columns[column].date) return dayText(x);
      const unit = 10 ** (Math.floor(Math.log10(Math.abs(x) || 1)) - 4);
      return String(Number((round(x / unit) * unit).toPrecision(6)));
    };
    const exact = (x) => safe(x, x === low ? Math.ceil : Math.floor);
    if (codes) return `${name} from ${now} to ${codes.slice(0, 3).map((c) => categories[c]).join(" or ")}`;
    if (row[column] === null) return `${name} known, ${isFinite(low) ? `above ${exact(low)}` : ""}${isFinite(low) && isFinite(high) ? " and " : ""}${isFinite(high) ? `at most ${exact(high)}` : ""}`;
    return isUp ? `${name} from ${now} to above ${exact(low)}` : `${name} from ${now} to ${exact(high)} or less`;
  }

  return Object.assign(draw, { row, take, range, leave: () => picture.light([]) });
}

// The entries of a pasted row by the number of their column; an error says what is wrong.
function readRow(text, names) {
  const body = text.trim();
  if (!body) throw new Error("There is nothing to read: paste a row as JSON or CSV.");
  const found = new Map();
  if (body[0] === "{" || body[0] === "[") {
    let given;
    try {
      given = JSON.parse(body);
    } catch {
      throw new Error("This is not JSON: check its quotes, commas and brackets.");
    }
    const one = Array.isArray(given) && typeof given[0] === "object" && given[0] !== null ? given[0] : given;
    if (Array.isArray(one)) one.forEach((value, j) => found.set(j, value));
    else for (const [name, value] of Object.entries(one)) if (names.includes(name)) found.set(names.indexOf(name), value);
    if (Array.isArray(one) && one.length !== names.length) throw new Error(`The list has ${one.length} values; ${names.length} columns are needed.`);
  } else {
    const lines = body.split(/\r?\n/).map(csvCells);
    const header = lines.length > 1 ? lines[0] : names;
    const cells = lines[lines.length > 1 ? 1 : 0];
    if (cells.length !== header.length) throw new Error(`The row has ${cells.length} values; ${header.length} are needed.`);
    header.forEach((name, i) => names.includes(name) && found.set(names.indexOf(name), cells[i]));
  }
  if (!found.size) throw new Error(`No column of the tree is named here; it has ${names.slice(0, 8).join(", ")}${names.length > 8 ? "…" : ""}.`);
  return found;
}

function csvCells(line) {
  const mark = ["\t", ";", ","].find((c) => line.includes(c)) || ",";
  const cells = [];
  const part = new RegExp(`(?:"((?:[^"]|"")*)"|([^${mark}]*))(${mark}|$)`, "y");
  for (let match = part.exec(line); match; match = part.exec(line)) {
    cells.push(match[1] !== undefined ? match[1].replace(/""/g, '"') : match[2].trim());
    if (!match[3]) break;
  }
  return cells;
}
