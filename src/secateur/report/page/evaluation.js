// The part "Evaluate": confusion matrix, ranking and calibration of the shown tree on a sample; for numbers, residuals.

const MAX_BARS = 15;
const MAX_MATRIX_CLASSES = 40;
const MAX_POINTS = 400;

function createEvaluation(raw, tree, state, words, errors, picture) {
  const k = raw.classes.length;
  const [grown] = tree.samples;
  const selected = { sample: tree.samples.length - 1, class: k > 2 ? tree.labels[0] : Math.max(0, k - 1), curve: "roc" };

  // A selection list for one entry of `selected`.
  function choice(name, key, options) {
    const items = options.map(([value, text]) => html("option", { value }, text));
    const select = html("select", { id: `evaluation-${key}` }, ...items);
    select.value = selected[key];
    select.addEventListener("change", () => {
      selected[key] = isNaN(select.value) ? select.value : Number(select.value);
      draw();
      $(`evaluation-${key}`).focus();
    });
    return html("label", { class: "choice" }, `${name} `, select);
  }

  function draw() {
    const s = selected.sample;
    const { name, total } = tree.samples[s];
    const controls = html("p", { class: "buttons" });
    if (tree.samples.length > 1) controls.append(choice("Sample", "sample", tree.samples.map((sample, i) => [i, sample.name])));
    if (errors.isClasses && k > 1) controls.append(choice("Class", "class", raw.classes.map((text, c) => [c, clipText(text, 220)])));
    const title = `How the ${formatCount(state.numbers.leaves.length, "leaf does", "leaves do")} on ${formatNumber(total[0])} ${name} rows`;
    const { warning } = tree.samples[s];
    const plots = errors.isClasses ? [confusion(s), ranking(s), calibration(s)] : [residuals(s), largestErrors(s)];
    $("evaluation").replaceChildren(
      html("div", { class: "bar" }, html("h2", {}, title), controls),
      ...(warning ? [html("p", { class: "note" }, warning)] : []),
      html("div", { class: "plots" }, ...plots, importances()),
    );
  }

  const part = (title, ...content) => html("section", { class: "plot-box" }, html("h3", {}, title), ...content);

  function confusion(s) {
    const matrix = confusionMatrix(tree, state.numbers.leaves, s, k);
    const totals = matrix.map((row) => row.reduce((a, b) => a + b, 0));
    const isUsed = (c) => totals[c] > 0 || matrix.some((row) => row[c] > 0);
    const listed = Array.from({ length: k }, (_, c) => c).filter(isUsed).slice(0, MAX_MATRIX_CLASSES);
    const className = (c, scope, pixels) => html("th", { scope, title: raw.classes[c] }, html("bdi", {}, clipText(raw.classes[c], pixels)));
    const head = html("tr", {}, html("td", {}, "is ↓ predicted →"), ...listed.map((c) => className(c, "col", 70)), html("th", { scope: "col" }, "recall"));
    const body = listed.map((c) => {
      const cells = listed.map((d) => confusionCell(matrix[c][d], c === d, totals[c]));
      const recall = totals[c] ? formatPercent(matrix[c][c] / totals[c]) : "–";
      return html("tr", {}, className(c, "row", 90), ...cells, html("td", {}, recall));
    });
    const nRight = listed.reduce((sum, c) => sum + matrix[c][c], 0);
    const box = { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" };
    return part("Confusion matrix",
      html("div", box, html("table", { class: "confusion" }, html("thead", {}, head), html("tbody", {}, ...body))),
      html("p", { class: "note" },
        `${formatNumber(nRight)} of ${formatNumber(tree.samples[s].total[0])} right. Recall: the share of a class that is predicted right.`));
  }

  function confusionCell(rows, isRight, total) {
    const cell = html("td", { class: isRight ? "right" : "wrong" }, formatNumber(rows));
    cell.style.setProperty("--share", `${Math.round(total ? (45 * rows) / total : 0)}%`);
    return cell;
  }

  function ranking(s) {
    const c = selected.class;
    const curves = rankingCurves(rankLeaves(tree, state.numbers.leaves, s, c, k));
    const curveChoice = choice("Curve", "curve", [["roc", "ROC"], ["pr", "precision and recall"], ["lift", "lift"]]);
    if (!curves) return part("Ranking", curveChoice, html("p", { class: "note" }, "It needs rows of the class and of another."));
    const { axes, summary } = rankingPlot(curves);
    return part(`Ranking by ${clipText(raw.classes[c], 120)}`, curveChoice,
      xyPlot({ title: selected.curve, tickText: shortNumber, ...axes }),
      html("p", { class: "note", id: "ranking" }, `${summary} Leaves are ranked by the share of the class among their growing rows${tree.limits ? ", within the limits of the monotone constraints" : ""}.`));
  }

  // The axes and a summary of the selected curve.
  function rankingPlot(curves) {
    const lines = [{ key: "held", points: curves[selected.curve] }];
    if (selected.curve === "roc") {
      const axes = { x: "false positive rate", y: "true positive rate", lines, hasDiagonal: true };
      return { axes, summary: `Area under the curve: ${curves.auc.toFixed(3)}.` };
    }
    if (selected.curve === "pr") {
      return { axes: { x: "recall", y: "precision", lines }, summary: `Average precision: ${curves.ap.toFixed(3)}.` };
    }
    const highest = Math.max(...curves.lift.map(([, lift]) => lift), 1);
    return {
      axes: { x: "share of all rows taken", y: "lift", lines, max: [1, highest] },
      summary: `The share of the class in the first leaf is ${formatMeasure(curves.lift[0][1])} times that in all rows.`,
    };
  }

  const shortNumber = (value) => String(Number(value.toFixed(2)));

  // The leaves with rows of a sample, those with most rows first, and the radius of their dots.
  function leavesByRows(s) {
    const { total } = tree.samples[s];
    const leaves = state.numbers.leaves.filter((v) => total[v] > 0);
    const maxRows = Math.max(1, ...leaves.map((v) => total[v]));
    const radius = (v) => 2 + 5 * Math.sqrt(total[v] / maxRows);
    return { leaves: leaves.sort((a, b) => total[b] - total[a]), radius };
  }

  // The predicted share of a class in each leaf against its share in the sample.
  function calibration(s) {
    const evaluated = tree.samples[s];
    const { leaves, radius } = leavesByRows(s);
    const listed = leaves.filter((v) => grown.total[v] > 0).slice(0, MAX_POINTS);
    const points = listed.map((v) => calibrationPoint(v, evaluated, radius(v)));
    const nOutside = points.filter((point) => point.isOutside).length;
    const note = `${formatNumber(nOutside)} of ${formatCount(points.length, "leaf lies", "leaves lie")} outside the ${raw.confidence} limits of that leaf.`;
    return part(`Calibration of ${clipText(raw.classes[selected.class], 120)}`,
      xyPlot({ title: "Calibration by leaf", x: "predicted share", y: `share among ${evaluated.name} rows`, points, hasDiagonal: true, tickText: shortNumber }),
      html("p", { class: "note", id: "calibration" }, evaluated.noLimits || note));
  }

  function calibrationPoint(v, evaluated, r) {
    const i = v * k + selected.class;
    const predicted = predictedShare(tree, v, selected.class, k);
    const share = evaluated.counts[i] / evaluated.total[v];
    const text = `node ${v}: ${formatPercent(predicted)} predicted, ${formatPercent(share)} of ${formatCount(evaluated.total[v], "row")}`;
    if (evaluated.noLimits) return { at: [predicted, share], r, colour: "var(--held)", title: text };
    const [low, high] = shareLimits(evaluated.counts[i], evaluated.total[v], raw.delta);
    const isOutside = predicted < low || predicted > high;
    const colour = isOutside ? "var(--bound)" : "var(--held)";
    const title = `${text}, limits ${formatPercent(low)} to ${formatPercent(high)}`;
    return { at: [predicted, share], low, high, r, colour, isOutside, title };
  }

  // The prediction of each leaf of a regression tree against the mean of the rows that reach it.
  function residuals(s) {
    const evaluated = tree.samples[s];
    const { leaves, radius } = leavesByRows(s);
    const points = leaves.slice(0, MAX_POINTS).map((v) => residualPoint(v, evaluated, radius(v)));
    const ends = points.flatMap(({ at, low = at[1], high = at[1] }) => [at[0], at[1], low, high]);
    const [lowest, highest] = [Math.min(...ends), Math.max(...ends)];
    return part("Residuals by leaf",
      xyPlot({
        title: "Mean of the rows in each leaf against its prediction", x: "prediction of the leaf", y: `mean of its ${evaluated.name} rows`,
        points, hasDiagonal: true, min: [lowest, lowest], max: [highest, highest], tickText: (value) => formatMeasure(value, 2),
      }),
      html("p", { class: "note", id: "residuals" }, evaluated.noLimits || "Bars: two standard errors of the mean."));
  }

  function residualPoint(v, evaluated, r) {
    const n = evaluated.total[v];
    const [predicted, mean] = [grown.mean[v], evaluated.mean[v]];
    const bias = mean - predicted;
    const twoErrors = 2 * Math.sqrt(Math.max(0, evaluated.cost[v] / n - bias * bias) / n);
    const title = `node ${v}: predicts ${formatMeasure(predicted)}, mean ${formatMeasure(mean)} of ${formatCount(n, "row")}, residual ${formatMeasure(bias)}`;
    if (evaluated.noLimits) return { at: [predicted, mean], r, colour: "var(--held)", title };
    return { at: [predicted, mean], low: mean - twoErrors, high: mean + twoErrors, r, colour: "var(--held)", title };
  }

  // The leaves with the largest share of the squared error.
  function largestErrors(s) {
    const { cost } = tree.samples[s];
    const total = state.numbers.leaves.reduce((sum, v) => sum + cost[v], 0) || 1;
    const listed = [...state.numbers.leaves].sort((a, b) => cost[b] - cost[a]).slice(0, MAX_BARS);
    const bars = listed.map((v) => ({
      name: `node ${v}`,
      share: cost[v] / (cost[listed[0]] || 1),
      text: `${formatPercent(cost[v] / total)}, RMSE\u00a0${errors.format(errors.rate(s, cost[v], v))}`,
      colour: "var(--held)",
      action: () => picture.select(v, { focus: true }),
    }));
    return part("Where the error is", barList(bars), html("p", { class: "note" }, "Share of the squared error of the sample in each leaf."));
  }

  function importances() {
    const title = "Importance of columns";
    const shares = columnImportances(tree, state.kept);
    if (!shares.length) {
      const reason = state.kept[0] ? "The gains of the tests are not known." : "The tree is one leaf: it uses no column.";
      return part(title, html("p", { class: "note" }, reason));
    }
    const [, highest] = shares[0];
    const bars = shares.slice(0, MAX_BARS).map(([j, share]) => ({ name: raw.columns[j].name, share: share / highest, text: formatPercent(share) }));
    const more = shares.length > MAX_BARS ? `; ${shares.length - MAX_BARS} more columns` : "";
    return part(title, barList(bars), html("p", { class: "note" }, `Share of the gains of the tests in growing${more}. Columns with many values are favoured.`));
  }

  return draw;
}
