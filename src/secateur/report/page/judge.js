// Judge: what the shown tree gets right and wrong on a sample.

const MOST_BARS = 15;
const MOST_CELLS = 40; // classes of a confusion matrix

function judgeOf(raw, tree, state, words, errors, picture) {
  const k = raw.classes.length;
  const chosen = { sample: tree.samples.length - 1, class: Math.max(0, k - 1), curve: "roc" };
  if (k > 2) chosen.class = tree.labels[0];

  function choice(name, key, options) {
    const select = html("select", { id: `judge-${key}` }, ...options.map(([value, text]) => html("option", { value }, text)));
    select.value = chosen[key];
    select.addEventListener("change", () => {
      chosen[key] = isNaN(select.value) ? select.value : Number(select.value);
      draw();
      $(`judge-${key}`).focus();
    });
    return html("label", { class: "choice" }, `${name} `, select);
  }

  function draw() {
    const s = chosen.sample;
    const controls = html("p", { class: "buttons" });
    if (tree.samples.length > 1) controls.append(choice("Sample", "sample", tree.samples.map((sample, i) => [i, sample.name])));
    if (errors.isClasses && k > 1) controls.append(choice("Class", "class", raw.classes.map((name, c) => [c, clipped(name, 220)])));
    const seen = s === 0 ? "The growing rows made the tree: on them it looks better than it is." : null;
    $("judge").replaceChildren(
      html("div", { class: "bar" }, html("h2", {}, `How the ${count(state.numbers.leaves.length, "leaf does", "leaves do")} on ${number(tree.samples[s].total[0])} ${tree.samples[s].name} rows`), controls),
      ...(seen ? [html("p", { class: "note" }, seen)] : []),
      html("div", { class: "plots" }, ...(errors.isClasses ? [confusion(s), curves(s), calibration(s)] : [residuals(s), worst(s)]), importances()),
    );
  }

  const part = (title, ...content) => html("section", { class: "plot-box" }, html("h3", {}, title), ...content);

  function confusion(s) {
    const found = confusionOf(tree, state.numbers.leaves, s, k);
    const totals = found.map((row) => row.reduce((a, b) => a + b, 0));
    const listed = Array.from({ length: k }, (_, c) => c).filter((c) => totals[c] > 0 || found.some((row) => row[c] > 0)).slice(0, MOST_CELLS);
    const head = html("tr", {}, html("td", {}, "is ↓ answer →"), ...listed.map((c) => html("th", { scope: "col", title: raw.classes[c] }, html("bdi", {}, clipped(raw.classes[c], 70)))), html("th", { scope: "col" }, "found"));
    const body = listed.map((c) => html("tr", {}, html("th", { scope: "row", title: raw.classes[c] }, html("bdi", {}, clipped(raw.classes[c], 90))), ...listed.map((d) => {
      const share = totals[c] ? found[c][d] / totals[c] : 0;
      const cell = html("td", { class: c === d ? "right" : "wrong" }, number(found[c][d]));
      cell.style.setProperty("--share", `${Math.round(45 * share)}%`);
      return cell;
    }), html("td", {}, totals[c] ? percent(found[c][c] / totals[c]) : "–")));
    const right = listed.reduce((sum, c) => sum + found[c][c], 0);
    return part("Confusion matrix", html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" }, html("table", { class: "confusion" }, html("thead", {}, head), html("tbody", {}, ...body))),
      html("p", { class: "note" }, `${number(right)} of ${number(tree.samples[s].total[0])} right. Found: the share of a class that is answered so.`));
  }

  function curves(s) {
    const c = chosen.class;
    const found = curvesOf(rankedOf(tree, state.numbers.leaves, s, c, k));
    const pick = choice("Curve", "curve", [["roc", "ROC"], ["pr", "precision and recall"], ["lift", "lift"]]);
    if (!found) return part("Ranking", pick, html("p", { class: "note" }, "It needs rows of the class and of another."));
    const axes = {
      roc: { x: "share of the others taken", y: "share of the class found", lines: [{ key: "held", points: found.roc }], diagonal: true },
      pr: { x: "share of the class found (recall)", y: "share that is right (precision)", lines: [{ key: "held", points: found.pr }] },
      lift: { x: "share of all rows taken", y: "times as many as at random", lines: [{ key: "held", points: found.lift }], most: [1, Math.max(...found.lift.map((p) => p[1]), 1)] },
    }[chosen.curve];
    const told = { roc: `Area under it: ${found.auc.toFixed(3)}.`, pr: `Average precision: ${found.ap.toFixed(3)}.`, lift: `The first leaf has ${figure(found.lift[0][1])} times as many as all rows.` }[chosen.curve];
    return part(`Ranking by ${clipped(raw.classes[c], 120)}`, pick, xyPlot({ title: chosen.curve, text: (v) => String(Number(v.toFixed(2))), ...axes }),
      html("p", { class: "note", id: "ranking" }, `${told} Leaves are ranked by the share of the class among their growing rows.`));
  }

  function calibration(s) {
    const c = chosen.class;
    const [grown, judged] = [tree.samples[0], tree.samples[s]];
    const most = Math.max(1, ...state.numbers.leaves.map((v) => judged.total[v]));
    let nOut = 0;
    const canLimit = judged.isWhole;
    const points = state.numbers.leaves.filter((v) => judged.total[v] > 0 && grown.total[v] > 0).sort((a, b) => judged.total[b] - judged.total[a]).slice(0, 400).map((v) => {
      const said = grown.counts[v * k + c] / grown.total[v];
      const share = judged.counts[v * k + c] / judged.total[v];
      const [low, high] = canLimit ? shareLimits(judged.counts[v * k + c], judged.total[v], raw.delta) : [undefined, undefined];
      const isOut = canLimit && (said < low || said > high);
      nOut += isOut ? 1 : 0;
      return { at: [said, share], low, high, r: 2 + 5 * Math.sqrt(judged.total[v] / most), colour: isOut ? "var(--bound)" : "var(--held)",
        told: `node ${v}: ${percent(said)} said, ${percent(share)} of ${count(judged.total[v], "row")}${canLimit ? `, limits ${percent(low)} to ${percent(high)}` : ""}` };
    });
    return part(`Calibration of ${clipped(raw.classes[c], 120)}`, xyPlot({ title: "Calibration by leaf", x: "share the leaf says", y: `share among ${judged.name} rows`, points, diagonal: true, text: (v) => String(Number(v.toFixed(2))) }),
      html("p", { class: "note", id: "calibration" }, canLimit ? `${number(nOut)} of ${count(points.length, "leaf lies", "leaves lie")} outside the ${100 * (1 - raw.delta)} % limits of that leaf.` : "No limits: the rows have weights."));
  }

  // What the leaves of a regression tree answer, and the mean of the rows that reach them.
  function residuals(s) {
    const [grown, judged] = [tree.samples[0], tree.samples[s]];
    const leaves = state.numbers.leaves.filter((v) => judged.total[v] > 0);
    const most = Math.max(1, ...leaves.map((v) => judged.total[v]));
    const points = leaves.sort((a, b) => judged.total[b] - judged.total[a]).slice(0, 400).map((v) => {
      const n = judged.total[v];
      const bias = judged.mean[v] - grown.mean[v];
      const half = 2 * Math.sqrt(Math.max(0, judged.cost[v] / n - bias * bias) / n);
      return { at: [grown.mean[v], judged.mean[v]], low: judged.mean[v] - half, high: judged.mean[v] + half, r: 2 + 5 * Math.sqrt(n / most), colour: "var(--held)",
        told: `node ${v}: answers ${figure(grown.mean[v])}, mean ${figure(judged.mean[v])} of ${count(n, "row")}, residual ${figure(bias)}` };
    });
    const ends = points.flatMap(({ at, low, high }) => [at[0], at[1], low, high]);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    return part("Residuals by leaf", xyPlot({ title: "Mean of the rows in each leaf against its answer", x: "answer of the leaf", y: `mean of its ${judged.name} rows`, points, diagonal: true, least: [low, low], most: [high, high], text: (v) => figure(v, 2) }),
      html("p", { class: "note" }, "Bars: two standard errors of the mean."));
  }

  function worst(s) {
    const { cost } = tree.samples[s];
    const all = state.numbers.leaves.reduce((sum, v) => sum + cost[v], 0) || 1;
    const listed = [...state.numbers.leaves].sort((a, b) => cost[b] - cost[a]).slice(0, MOST_BARS);
    return part("Where the error is", barList(listed.map((v) => [`node ${v}`, cost[v] / (cost[listed[0]] || 1), `${percent(cost[v] / all)}, RMSE\u00a0${errors.shown(errors.rate(s, cost[v], v))}`, "var(--held)", () => picture.select(v, { focus: true })])),
      html("p", { class: "note" }, "Share of the squared error of the sample in each leaf."));
  }

  function importances() {
    const found = importancesOf(tree, state.kept);
    if (!found.length) return part("Importance of columns", html("p", { class: "note" }, state.kept[0] ? "The gains of the tests are not known." : "The tree is one leaf: it uses no column."));
    return part("Importance of columns", barList(found.slice(0, MOST_BARS).map(([j, share]) => [raw.columns[j].name, share / found[0][1], percent(share)])),
      html("p", { class: "note" }, `Share of the gains of the tests in growing${found.length > MOST_BARS ? `; ${found.length - MOST_BARS} more columns` : ""}. Columns with many values are favoured.`));
  }

  return draw;
}
