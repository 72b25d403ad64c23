// Unpack the data block of the page into a tree with one array per property of a node.
// Nodes are numbered in pre-order: children follow their parent, and the subtree of v is v ... end[v] - 1.

function unpackTree(raw) {
  const n = raw.arity.length;
  const tree = {
    n,
    arity: raw.arity,
    parent: new Int32Array(n).fill(-1),
    childNumber: new Int32Array(n),
    depth: new Int32Array(n),
    end: new Int32Array(n),
    nLeaves: new Int32Array(n), // below each node, in the tree as grown
    feature: new Int32Array(n).fill(-1),
    defaultChild: new Int32Array(n), // the child of missing values; -1 where no growing row had a missing value
    fallbackChild: new Int32Array(n), // the child of missing and unknown values, also where growing had none
    exactThreshold: new Float64Array(n).fill(NaN),
    gain: new Float64Array(n),
    steps: raw.steps ? new Int32Array(n) : null,
    internalIndex: new Int32Array(n).fill(-1), // the position of a node among the internal nodes
    threshold: new Array(n).fill(""), // as text
    branch: raw.branch,
    labels: raw.labels,
    limits: raw.estimate_limits, // of the share of the second class of each node; null: no limit
  };
  addCategoryFunctions(tree);
  unpackStructure(tree);
  unpackTests(tree, raw);
  countLeavesBelow(tree);
  tree.samples = raw.samples.map((sample) => unpackSample(sample, tree, raw));
  tree.shareLimits = raw.shares && unpackShareLimits(raw.shares.upper, tree, raw);
  // Internal nodes by falling rows; a parent never comes after its child.
  const rows = tree.samples[0].total;
  tree.byRows = [];
  for (let v = 0; v < n; v++) if (tree.arity[v] > 0) tree.byRows.push(v);
  tree.byRows.sort((a, b) => rows[b] - rows[a] || a - b);
  return tree;
}

// A nominal test lists the child of each category code; NaN or -1 stands for a code that cannot reach the node.
function addCategoryFunctions(tree) {
  tree.isNominal = (v) => tree.branch[v] !== undefined;
  tree.childOf = (v, code) => {
    const children = tree.branch[v];
    return typeof children === "string" ? parseInt(children[code], 36) : children[code];
  };
  tree.codesOf = (v, child) => {
    const codes = Array.from(tree.branch[v], (_, code) => code);
    return codes.filter((code) => tree.childOf(v, code) === child);
  };
}

// Parents, child numbers and depths from the number of children of each node in pre-order.
function unpackStructure(tree) {
  const open = []; // internal nodes some of whose children are still to come
  for (let v = 0; v < tree.n; v++) {
    if (v > 0) {
      const last = open[open.length - 1];
      tree.parent[v] = last.node;
      tree.childNumber[v] = tree.arity[last.node] - last.nMissing;
      tree.depth[v] = tree.depth[last.node] + 1;
      last.nMissing -= 1;
      if (last.nMissing === 0) open.pop();
    }
    if (tree.arity[v] > 0) open.push({ node: v, nMissing: tree.arity[v] });
  }
}

// The block lists the tests of internal nodes only.
function unpackTests(tree, raw) {
  let i = 0;
  for (let v = 0; v < tree.n; v++) {
    if (tree.arity[v] === 0) continue;
    tree.internalIndex[v] = i;
    tree.feature[v] = raw.feature[i];
    tree.threshold[v] = raw.threshold[i];
    tree.defaultChild[v] = Math.max(-1, raw.default[i]);
    tree.fallbackChild[v] = raw.default[i] < 0 ? -1 - raw.default[i] : raw.default[i];
    tree.exactThreshold[v] = raw.exact_threshold[i] ?? thresholdValue(raw.threshold[i]);
    tree.gain[v] = raw.gain[i] ?? NaN;
    if (tree.steps) tree.steps[v] = raw.steps[i];
    i += 1;
  }
}

function thresholdValue(text) {
  if (text === "inf") return Infinity;
  return text === "" ? NaN : Number(text);
}

function countLeavesBelow(tree) {
  for (let v = tree.n - 1; v >= 0; v--) {
    tree.end[v] = Math.max(tree.end[v], v + 1);
    if (tree.arity[v] === 0) tree.nLeaves[v] = 1;
    if (v === 0) break;
    const p = tree.parent[v];
    tree.end[p] = Math.max(tree.end[p], tree.end[v]);
    tree.nLeaves[p] += tree.nLeaves[v];
  }
}

// Upper limits on the class shares of each node, in tenths of a percent; _data.py describes how they are packed.
function unpackShareLimits(upper, tree, raw) {
  const k = raw.classes.length;
  const { counts, total } = tree.samples[1];
  const limits = new Uint16Array(tree.n * k).fill(1000);
  let next = 0;
  for (let v = 0; v < tree.n; v++) {
    if (!total[v]) continue;
    const absent = []; // classes without rows in this node share one limit
    for (let c = v * k; c < (v + 1) * k; c++) {
      if (counts[c] > 0) limits[c] = upper[next++];
      else absent.push(c);
    }
    for (const c of absent) limits[c] = upper[next];
    if (absent.length) next += 1;
  }
  return limits;
}

function unpackSample(sample, tree, raw) {
  const { name, is_whole: isWhole, where, unit, warning, baseline, rows, loss = null, no_limits: noLimits } = sample;
  const shared = { name, sample: sample.sample, isWhole, noLimits, where, unit, warning, baseline, rows, loss, errorBaseline: sample.error_baseline };
  if (!sample.counts) return { ...shared, total: sample.total, mean: sample.mean, cost: sample.cost };
  const k = raw.classes.length;
  const counts = sumCountsUpwards(sample.counts, tree, k);
  const total = new Float64Array(tree.n);
  const cost = new Float64Array(tree.n); // errors as a leaf
  for (let v = 0; v < tree.n; v++) {
    for (let c = 0; c < k; c++) {
      total[v] += counts[v * k + c];
      if (c !== tree.labels[v]) cost[v] += counts[v * k + c];
    }
  }
  return { ...shared, counts, total, cost };
}

// Class counts of all nodes. The block lists for each original leaf the number of its classes, then class and count
// of each of them.
function sumCountsUpwards(packed, tree, k) {
  const counts = new Float64Array(tree.n * k);
  let next = 0;
  for (let v = 0; v < tree.n; v++) {
    if (tree.arity[v] > 0) continue;
    let nPairs = packed[next++];
    for (; nPairs > 0; nPairs--, next += 2) counts[v * k + packed[next]] = packed[next + 1];
  }
  for (let v = tree.n - 1; v > 0; v--) {
    const p = tree.parent[v];
    for (let c = 0; c < k; c++) counts[p * k + c] += counts[v * k + c];
  }
  return counts;
}
