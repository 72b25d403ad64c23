// One error, one spelling: shares of rows in percent for classes, root mean squares for numbers.

function errorsOf(raw, tree) {
  const isClasses = raw.kind === "classes";
  const rate = (s, cost, v = 0) => (tree.samples[s].total[v] ? cost / tree.samples[s].total[v] : null);
  // On the scale that is shown: a share, or a root mean square.
  const scaled = (rate) => (rate === null || isClasses ? rate : Math.sqrt(Math.max(0, rate)));
  const shown = (rate) => (isClasses ? percent(rate) : figure(scaled(rate)));
  // The standard error of a root is that of the square over twice the root.
  const spread = (rate, se) => (isClasses ? percent(se) : figure(rate > 0 ? se / (2 * Math.sqrt(rate)) : 0));

  // The share of the variance that is explained, about the sample's own mean.
  function explained(s, rate) {
    const { mean, cost, total } = tree.samples[s];
    const variance = cost[0] / total[0] - (mean[0] - tree.samples[0].mean[0]) ** 2;
    return variance > 0 && rate !== null ? 1 - rate / variance : null;
  }

  return { isClasses, rate, scaled, shown, spread, explained, name: isClasses ? "error" : "RMSE" };
}
