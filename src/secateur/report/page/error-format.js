// Scores as text. Errors are a share of rows in percent for classes, a root mean squared error (RMSE) for numbers.
// A "rate" is the cost per row: the share of wrong rows, or the mean squared error. The currency is the score that chose
// the tree; `raw.currency` names it.

// The format of the currency; its functions have the names of those of the errors.
function createCurrency(raw) {
  const { name, form, is_error: isError } = raw.currency;
  const isShare = form === "share";
  const isRoot = form === "root";
  const toShownScale = (value) => (value === null || !isRoot ? value : Math.sqrt(Math.max(0, value)));
  const format = (value) => (isShare ? formatPercent(value) : formatMeasure(toShownScale(value)));

  // The standard error of a root is the standard error of its square, divided by twice the root.
  function formatStandardError(value, se) {
    if (isShare) return formatPercent(se);
    return formatMeasure(isRoot && value > 0 ? se / (2 * Math.sqrt(value)) : se);
  }

  return { name, isError, isShare, toShownScale, format, formatStandardError };
}

function createErrorFormat(raw, tree) {
  const isClasses = raw.kind === "classes";

  // The cost per row of sample `s` at node `v`; null if no row of the sample reaches the node.
  function rate(s, cost, v = 0) {
    const rows = tree.samples[s].total[v];
    return rows ? cost / rows : null;
  }

  // A rate as text: the share itself, or the root of the mean squared error.
  function format(rate) {
    return isClasses ? formatPercent(rate) : formatMeasure(rate === null ? null : Math.sqrt(Math.max(0, rate)));
  }

  // R²: the share of the variance of sample `s` (about its own mean) that the tree explains.
  function explainedVariance(s, rate) {
    const { mean, cost, total } = tree.samples[s];
    const variance = cost[0] / total[0] - (mean[0] - tree.samples[0].mean[0]) ** 2;
    return variance > 0 && rate !== null ? 1 - rate / variance : null;
  }

  return { isClasses, rate, format, explainedVariance, name: isClasses ? "error" : "RMSE" };
}
