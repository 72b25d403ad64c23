// Errors as text: a share of rows in percent for classes, a root mean squared error (RMSE) for numbers.
// A "rate" is the cost per row: the share of wrong rows, or the mean squared error.

function createErrorFormat(raw, tree) {
  const isClasses = raw.kind === "classes";

  // The cost per row of sample `s` at node `v`; null if no row of the sample reaches the node.
  function rate(s, cost, v = 0) {
    const rows = tree.samples[s].total[v];
    return rows ? cost / rows : null;
  }

  // The rate on the scale that the page shows: the share itself, or the root of the mean squared error.
  function toShownScale(rate) {
    return rate === null || isClasses ? rate : Math.sqrt(Math.max(0, rate));
  }

  const format = (rate) => (isClasses ? formatPercent(rate) : formatMeasure(toShownScale(rate)));

  // The standard error of a root is the standard error of its square, divided by twice the root.
  function formatStandardError(rate, se) {
    if (isClasses) return formatPercent(se);
    return formatMeasure(rate > 0 ? se / (2 * Math.sqrt(rate)) : 0);
  }

  // R²: the share of the variance of sample `s` (about its own mean) that the tree explains.
  function explainedVariance(s, rate) {
    const { mean, cost, total } = tree.samples[s];
    const variance = cost[0] / total[0] - (mean[0] - tree.samples[0].mean[0]) ** 2;
    return variance > 0 && rate !== null ? 1 - rate / variance : null;
  }

  return { isClasses, rate, toShownScale, format, formatStandardError, explainedVariance, name: isClasses ? "error" : "RMSE" };
}
