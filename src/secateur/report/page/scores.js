// Scores of a pruning on a sample, from the counts in its leaves. The score of a leaf for a class is the share of the
// class among the growing rows of the leaf, within the limits that monotone constraints set.

function predictedShare(tree, v, c, k) {
  const { counts, total } = tree.samples[0];
  const share = total[v] ? counts[v * k + c] / total[v] : 0;
  if (!tree.limits || !total[v]) return share;
  const [lower, upper] = tree.limits[v];
  const second = Math.min(Math.max(c ? share : 1 - share, lower ?? 0), upper ?? 1);
  return c ? second : 1 - second;
}

// matrix[c][d]: rows of class c that are predicted as class d.
function confusionMatrix(tree, leaves, s, k) {
  const matrix = Array.from({ length: k }, () => new Array(k).fill(0));
  const { counts } = tree.samples[s];
  for (const v of leaves) for (let c = 0; c < k; c++) matrix[c][tree.labels[v]] += counts[v * k + c];
  return matrix;
}

// The leaves by falling score of class c: rows, and rows of the class ("hits"). Leaves of equal score are one group.
function rankLeaves(tree, leaves, s, c, k) {
  const evaluated = tree.samples[s];
  const groups = new Map();
  for (const v of leaves) {
    const score = predictedShare(tree, v, c, k);
    const group = groups.get(score) || { score, rows: 0, hits: 0 };
    group.rows += evaluated.total[v];
    group.hits += evaluated.counts[v * k + c];
    groups.set(score, group);
  }
  return [...groups.values()].sort((a, b) => b.score - a.score);
}

// The points of the ROC, precision-recall and lift curves, the area under the first and the average precision (`ap`);
// null unless there are rows of the class and of another.
function rankingCurves(ranked) {
  const rows = ranked.reduce((sum, group) => sum + group.rows, 0);
  const hits = ranked.reduce((sum, group) => sum + group.hits, 0);
  if (!hits || hits === rows) return null;
  const curves = { roc: [[0, 0]], pr: [], lift: [], auc: 0, ap: 0 };
  let rowsSoFar = 0;
  let hitsSoFar = 0;
  for (const group of ranked) {
    if (!group.rows) continue;
    rowsSoFar += group.rows;
    hitsSoFar += group.hits;
    const falsePositiveRate = (rowsSoFar - hitsSoFar) / (rows - hits);
    const recall = hitsSoFar / hits;
    const precision = hitsSoFar / rowsSoFar;
    const [rateBefore, recallBefore] = curves.roc.at(-1);
    curves.auc += ((falsePositiveRate - rateBefore) * (recall + recallBefore)) / 2;
    curves.ap += ((recall - recallBefore) * hitsSoFar) / rowsSoFar;
    curves.roc.push([falsePositiveRate, recall]);
    curves.pr.push([recall, precision]);
    curves.lift.push([rowsSoFar / rows, precision / (hits / rows)]);
  }
  return curves;
}

// Pairs of a column and its share of the gains of all tests in the shown tree, the largest first; empty if the gains
// are unknown.
function columnImportances(tree, kept) {
  const gains = new Map();
  for (let v = 0; v < tree.n; v++) {
    const j = tree.feature[v];
    if (kept[v] && j >= 0) gains.set(j, (gains.get(j) || 0) + tree.gain[v]);
  }
  const sum = [...gains.values()].reduce((a, b) => a + b, 0);
  return sum > 0 ? [...gains].map(([j, gain]) => [j, gain / sum]).sort((a, b) => b[1] - a[1]) : [];
}

// The limits of Clopper and Pearson for a share, from x hits in n rows.
function shareLimits(x, n, delta) {
  // The quantile of the beta distribution at `level`, by bisection.
  const betaQuantile = (a, b, level) => {
    let [low, high] = [0, 1];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (betaDistribution(middle, a, b) < level) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  const lower = x > 0 ? betaQuantile(x, n - x + 1, delta / 2) : 0;
  const upper = x < n ? betaQuantile(x + 1, n - x, 1 - delta / 2) : 1;
  return [lower, upper];
}

// The distribution function of the beta distribution, by its continued fraction (Lentz's method).
function betaDistribution(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaDistribution(1 - x, b, a);
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let [f, c, d] = [1, 1, 0];
  for (let i = 0; i <= 400; i++) {
    const m = Math.floor(i / 2);
    let term = 1;
    if (i % 2) term = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    else if (i > 0) term = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + term * d || 1e-300);
    c = 1 + term / c || 1e-300;
    f *= c * d;
    if (Math.abs(1 - c * d) < 1e-12) break;
  }
  return front * (f - 1);
}

// The logarithm of the gamma function by Stirling's series, which is exact to the last digits for z >= 12; smaller
// arguments are raised with gamma(z) = gamma(z + 1) / z.
function lnGamma(z) {
  let shift = 0;
  for (; z < 12; z += 1) shift -= Math.log(z);
  const w = 1 / (z * z);
  const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / z;
  return shift + (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series;
}
