// Rows through the tree that is shown. A row has one entry for each column: a number, a code of a category, or
// null where it is missing; a category that growing did not see is -1.

function routesOf(raw, tree, state) {
  const { isNominal, childOf } = tree;
  const missingCode = (j) => (raw.columns[j].gaps ? raw.columns[j].categories.length : -1);

  const childAt = (v, n) => {
    let u = v + 1;
    for (; n > 0; n--) u = tree.end[u];
    return u;
  };

  // Which child a value goes to.
  function taken(v, value) {
    if (!isNominal(v)) return value === null ? tree.sentOn[v] : value <= tree.cut[v] ? 0 : 1;
    const code = value === null ? missingCode(tree.feature[v]) : value;
    return code < 0 ? tree.sentOn[v] : childOf(v, code);
  }

  // The nodes from the root to the leaf of a row.
  function pathOf(row) {
    const path = [0];
    for (let v = 0; state.kept[v]; path.push(v)) v = childAt(v, taken(v, row[tree.feature[v]]));
    return path;
  }

  // What must hold of each column for a row to reach a leaf: numbers within (low, high], or a set of codes.
  function needsOf(leaf) {
    const needs = new Map();
    for (let u = leaf; u > 0; u = tree.parent[u]) {
      const p = tree.parent[u];
      const j = tree.feature[p];
      const child = tree.childNumber[u];
      if (isNominal(p)) {
        const codes = new Set(tree.codesOf(p, child));
        const before = needs.get(j);
        needs.set(j, { codes: before ? new Set([...before.codes].filter((code) => codes.has(code))) : codes, others: (before?.others ?? true) && tree.sentOn[p] === child });
      } else {
        const need = needs.get(j) || { low: -Infinity, high: Infinity, missing: true };
        if (child === 0) need.high = Math.min(need.high, tree.cut[p]);
        else need.low = Math.max(need.low, tree.cut[p]);
        need.missing = need.missing && tree.sentOn[p] === child;
        needs.set(j, need);
      }
    }
    return needs;
  }

  // How one value must change to meet a need: null if not at all, undefined if it cannot.
  function changeOf(j, value, need, range) {
    if (need.codes) {
      const code = value === null ? missingCode(j) : value;
      if (code < 0 ? need.others : need.codes.has(code)) return null;
      const words = [...need.codes].filter((c) => c < raw.columns[j].categories.length);
      return words.length ? { column: j, to: words[0], codes: words, size: 1 } : undefined;
    }
    if (value === null ? need.missing : value > need.low && value <= need.high) return null;
    if (!(need.low < need.high) || need.low === Infinity) return undefined; // only missing values arrive
    if (value === null) return { column: j, low: need.low, high: need.high, size: 1 };
    const isUp = value <= need.low;
    return { column: j, low: need.low, high: need.high, isUp, size: Math.abs(value - (isUp ? need.low : need.high)) / range(j) };
  }

  // The least change that leads to a leaf that `wanted` accepts: fewest columns, then least in shares of their ranges.
  // Exact: what a leaf needs of one column does not depend on the others.
  function smallestChange(row, wanted, range) {
    let best = null;
    for (const leaf of state.numbers.leaves) {
      if (!wanted(leaf)) continue;
      const changes = [];
      let isPossible = true;
      for (const [j, need] of needsOf(leaf)) {
        const change = changeOf(j, row[j], need, range);
        if (change === undefined) isPossible = false;
        else if (change) changes.push(change);
        if (!isPossible || (best && changes.length > best.changes.length)) break;
      }
      if (!isPossible || (best && changes.length > best.changes.length)) continue;
      const size = changes.reduce((sum, change) => sum + change.size, 0);
      if (!best || changes.length < best.changes.length || size < best.size - 1e-12) best = { leaf, changes, size };
    }
    return best;
  }

  return { pathOf, smallestChange };
}
