// Send rows through the tree that is shown. A row has one entry per column: a number, the code of a category, or null
// if the value is missing. A category that growing did not see has the code -1.

function createRouting(raw, tree, state) {
  const { isNominal, childOf } = tree;
  const missingCode = (j) => (raw.columns[j].has_missing ? raw.columns[j].categories.length : -1);

  // The node number of child `n` of node v.
  function childNode(v, n) {
    let u = v + 1;
    for (let i = 0; i < n; i++) u = tree.end[u];
    return u;
  }

  // The number of the child that a value goes to.
  function route(v, value) {
    if (!isNominal(v)) {
      if (value === null) return tree.fallbackChild[v];
      return value <= tree.exactThreshold[v] ? 0 : 1;
    }
    const code = value === null ? missingCode(tree.feature[v]) : value;
    return code < 0 ? tree.fallbackChild[v] : childOf(v, code);
  }

  // The nodes from the root to the leaf of a row.
  function pathOf(row) {
    const path = [0];
    let v = 0;
    while (state.kept[v]) {
      v = childNode(v, route(v, row[tree.feature[v]]));
      path.push(v);
    }
    return path;
  }

  // What each column must satisfy so that a row reaches a leaf: a number within (low, high], or a set of codes.
  function requirementsOf(leaf) {
    const requirements = new Map();
    for (let u = leaf; u > 0; u = tree.parent[u]) {
      const j = tree.feature[tree.parent[u]];
      const requirement = isNominal(tree.parent[u]) ? restrictCodes(requirements.get(j), u) : restrictRange(requirements.get(j), u);
      requirements.set(j, requirement);
    }
    return requirements;
  }

  function restrictCodes(before, u) {
    const p = tree.parent[u];
    const child = tree.childNumber[u];
    const isFallback = tree.fallbackChild[p] === child;
    const codes = new Set(tree.codesOf(p, child));
    if (!before) return { codes, acceptsUnknown: isFallback };
    const both = new Set([...before.codes].filter((code) => codes.has(code)));
    return { codes: both, acceptsUnknown: before.acceptsUnknown && isFallback };
  }

  function restrictRange(before, u) {
    const p = tree.parent[u];
    const { low, high, acceptsMissing } = before || { low: -Infinity, high: Infinity, acceptsMissing: true };
    const isFirst = tree.childNumber[u] === 0;
    return {
      low: isFirst ? low : Math.max(low, tree.exactThreshold[p]),
      high: isFirst ? Math.min(high, tree.exactThreshold[p]) : high,
      acceptsMissing: acceptsMissing && tree.fallbackChild[p] === tree.childNumber[u],
    };
  }

  // How a value of column `j` must change to satisfy a requirement: null if it already does, undefined if no value
  // can. The size of a change of a number is relative to `rangeOf(j)`.
  function changeOf(j, value, requirement, rangeOf) {
    if (requirement.codes) return changeOfCategory(j, value, requirement);
    return changeOfNumber(j, value, requirement, rangeOf);
  }

  function changeOfCategory(j, value, { codes, acceptsUnknown }) {
    const code = value === null ? missingCode(j) : value;
    if (code < 0 ? acceptsUnknown : codes.has(code)) return null;
    const known = [...codes].filter((c) => c < raw.columns[j].categories.length);
    return known.length ? { column: j, to: known[0], codes: known, size: 1 } : undefined;
  }

  function changeOfNumber(j, value, { low, high, acceptsMissing }, rangeOf) {
    if (value === null ? acceptsMissing : value > low && value <= high) return null;
    const acceptsKnown = low < high && low !== Infinity;
    if (!acceptsKnown) return undefined;
    if (value === null) return { column: j, low, high, size: 1 };
    const isUp = value <= low;
    return { column: j, low, high, isUp, size: Math.abs(value - (isUp ? low : high)) / rangeOf(j) };
  }

  // All changes that lead a row to a leaf; null if they are impossible or more than `maxChanges`.
  function changesTo(leaf, row, rangeOf, maxChanges) {
    const changes = [];
    for (const [j, requirement] of requirementsOf(leaf)) {
      const change = changeOf(j, row[j], requirement, rangeOf);
      if (change === undefined) return null;
      if (change) changes.push(change);
      if (changes.length > maxChanges) return null;
    }
    return changes;
  }

  // The smallest change that leads to a leaf that `isWanted` accepts: fewest columns first, then the least sum of sizes.
  // The result is exact, because the requirements of a leaf on different columns are independent.
  function smallestChange(row, isWanted, rangeOf) {
    let best = null;
    for (const leaf of state.numbers.leaves) {
      if (!isWanted(leaf)) continue;
      const changes = changesTo(leaf, row, rangeOf, best ? best.changes.length : Infinity);
      if (!changes) continue;
      const size = changes.reduce((sum, change) => sum + change.size, 0);
      if (!best || changes.length < best.changes.length || size < best.size - 1e-12) best = { leaf, changes, size };
    }
    return best;
  }

  return { pathOf, smallestChange };
}
