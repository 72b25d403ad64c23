// How well the shown tree does, from counts alone: leaves are ranked by the share of a class among their growing rows.

function confusionOf(tree, leaves, s, k) {
  const found = Array.from({ length: k }, () => new Array(k).fill(0)); // of each class, the answers
  for (const v of leaves) for (let c = 0; c < k; c++) found[c][tree.labels[v]] += tree.samples[s].counts[v * k + c];
  return found;
}

// The leaves from the highest score of class c down, equal scores together: rows, and rows of the class.
function rankedOf(tree, leaves, s, c, k) {
  const { counts, total } = tree.samples[0];
  const judged = tree.samples[s];
  const groups = new Map();
  for (const v of leaves) {
    const score = total[v] ? counts[v * k + c] / total[v] : 0;
    const group = groups.get(score) || { score, rows: 0, hits: 0 };
    group.rows += judged.total[v];
    group.hits += judged.counts[v * k + c];
    groups.set(score, group);
  }
  return [...groups.values()].sort((a, b) => b.score - a.score);
}

// Points of the three curves, and the area under the first two; null without rows of both kinds.
function curvesOf(ranked) {
  const rows = ranked.reduce((sum, group) => sum + group.rows, 0);
  const hits = ranked.reduce((sum, group) => sum + group.hits, 0);
  if (!hits || hits === rows) return null;
  const found = { roc: [[0, 0]], pr: [], lift: [], auc: 0, ap: 0 };
  let [n, h] = [0, 0];
  for (const group of ranked) {
    if (!group.rows) continue;
    n += group.rows;
    h += group.hits;
    const [x, y] = [(n - h) / (rows - hits), h / hits];
    const [x0, y0] = found.roc[found.roc.length - 1];
    found.auc += ((x - x0) * (y + y0)) / 2;
    found.ap += ((y - y0) * h) / n;
    found.roc.push([x, y]);
    found.pr.push([y, h / n]);
    found.lift.push([n / rows, h / n / (hits / rows)]);
  }
  return found;
}

// What each column gained at the tests of the shown tree, as shares; empty where growing is not known.
function importancesOf(tree, kept) {
  const found = new Map();
  for (let v = 0; v < tree.n; v++) {
    if (kept[v] && tree.feature[v] >= 0) found.set(tree.feature[v], (found.get(tree.feature[v]) || 0) + tree.gain[v]);
  }
  const all = [...found.values()].reduce((a, b) => a + b, 0);
  return all > 0 ? [...found].map(([j, gain]) => [j, gain / all]).sort((a, b) => b[1] - a[1]) : [];
}

// Limits of Clopper and Pearson for a share of x in n.
function shareLimits(x, n, delta) {
  const solve = (a, b, level) => {
    let [low, high] = [0, 1];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (betaShare(middle, a, b) < level) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  return [x > 0 ? solve(x, n - x + 1, delta / 2) : 0, x < n ? solve(x + 1, n - x, 1 - delta / 2) : 1];
}

// The distribution function of the beta distribution, by its continued fraction (Lentz's method).
function betaShare(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let [f, c, d] = [1, 1, 0];
  for (let i = 0; i <= 400; i++) {
    const m = Math.floor(i / 2);
    const term = i === 0 ? 1 : i % 2 ? (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)) : (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + term * d || 1e-300);
    c = 1 + term / c || 1e-300;
    f *= c * d;
    if (Math.abs(1 - c * d) < 1e-12) break;
  }
  return front * (f - 1);
}

// Stirling's series, after stepping up to where it is exact to the last digits.
function lnGamma(z) {
  let shift = 0;
  for (; z < 12; z += 1) shift -= Math.log(z);
  const w = 1 / (z * z);
  return shift + (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / z;
}
