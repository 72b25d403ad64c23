// The data block of the page, unfolded into one array per property of a node.
// Nodes are in pre-order: children follow their parent, a subtree is v ... end[v] - 1.

function unfold(raw) {
  const n = raw.arity.length;
  const tree = {
    n,
    arity: raw.arity,
    parent: new Int32Array(n).fill(-1),
    childNumber: new Int32Array(n),
    depth: new Int32Array(n),
    end: new Int32Array(n),
    nLeaves: new Int32Array(n), // below each node, as grown
    feature: new Int32Array(n).fill(-1),
    defaultChild: new Int32Array(n), // of missing values; -1 where none of growing can arrive
    sentOn: new Int32Array(n), // the child of missing and unknown values, whatever can arrive
    cut: new Float64Array(n).fill(NaN), // the threshold itself
    gain: new Float64Array(n),
    steps: raw.steps ? new Int32Array(n) : null,
    place: new Int32Array(n).fill(-1), // among internal nodes
    threshold: new Array(n).fill(""),
    branch: raw.branch,
    labels: raw.labels,
  };
  // Tests of categories: whether a node is one, and the child of a code; none for one that cannot arrive.
  tree.isNominal = (v) => tree.branch[v] !== undefined;
  tree.childOf = (v, code) => (typeof tree.branch[v] === "string" ? parseInt(tree.branch[v][code], 36) : tree.branch[v][code]);
  tree.codesOf = (v, child) => Array.from(tree.branch[v], (_, code) => code).filter((code) => tree.childOf(v, code) === child);
  const open = []; // nodes whose children are still to come
  let nInternal = 0;
  for (let v = 0; v < n; v++) {
    if (v > 0) {
      const top = open[open.length - 1];
      tree.parent[v] = top.node;
      tree.childNumber[v] = tree.arity[top.node] - top.left;
      tree.depth[v] = tree.depth[top.node] + 1;
      top.left -= 1;
      if (top.left === 0) open.pop();
    }
    if (tree.arity[v] > 0) {
      open.push({ node: v, left: tree.arity[v] });
      const i = nInternal++;
      tree.place[v] = i;
      tree.feature[v] = raw.feature[i];
      tree.threshold[v] = raw.threshold[i];
      tree.defaultChild[v] = Math.max(-1, raw.default[i]);
      tree.sentOn[v] = raw.default[i] < 0 ? -1 - raw.default[i] : raw.default[i];
      tree.cut[v] = raw.cut[i] ?? (raw.threshold[i] === "inf" ? Infinity : raw.threshold[i] === "" ? NaN : Number(raw.threshold[i]));
      tree.gain[v] = raw.gain[i] ?? NaN;
      if (tree.steps) tree.steps[v] = raw.steps[i];
    }
  }
  for (let v = n - 1; v >= 0; v--) {
    tree.end[v] = Math.max(tree.end[v], v + 1);
    tree.nLeaves[v] = tree.arity[v] === 0 ? 1 : tree.nLeaves[v];
    if (v === 0) break;
    const p = tree.parent[v];
    tree.end[p] = Math.max(tree.end[p], tree.end[v]);
    tree.nLeaves[p] += tree.nLeaves[v];
  }
  tree.samples = raw.samples.map((sample) => unfoldSample(sample, tree, raw));
  tree.shares = raw.shares && unfoldShares(raw.shares.upper, tree, raw);
  // Internal nodes by falling rows; a parent never comes after its child.
  const rows = tree.samples[0].total;
  tree.byRows = [];
  for (let v = 0; v < n; v++) if (tree.arity[v] > 0) tree.byRows.push(v);
  tree.byRows.sort((a, b) => rows[b] - rows[a] || a - b);
  return tree;
}

// Upper limits on class shares, in tenths of a percent; _data.py says how they are packed.
function unfoldShares(upper, tree, raw) {
  const k = raw.classes.length;
  const { counts, total } = tree.samples[1];
  const found = new Uint16Array(tree.n * k).fill(1000);
  let at = 0;
  for (let v = 0; v < tree.n; v++) {
    if (!total[v]) continue;
    const missing = [];
    for (let c = v * k; c < (v + 1) * k; c++) {
      if (counts[c] > 0) found[c] = upper[at++];
      else missing.push(c);
    }
    for (const c of missing) found[c] = upper[at];
    if (missing.length) at += 1;
  }
  return found;
}

function unfoldSample(sample, tree, raw) {
  const n = tree.n;
  const found = { name: sample.name, sample: sample.sample, isWhole: sample.is_whole };
  if (!sample.counts) {
    return { ...found, total: sample.total, mean: sample.mean, cost: sample.cost };
  }
  const k = raw.classes.length;
  const counts = new Float64Array(n * k);
  const total = new Float64Array(n);
  let at = 0;
  for (let v = 0; v < n; v++) {
    if (tree.arity[v] > 0) continue;
    let pairs = sample.counts[at++];
    for (; pairs > 0; pairs--, at += 2) counts[v * k + sample.counts[at]] = sample.counts[at + 1];
  }
  for (let v = n - 1; v > 0; v--) {
    const p = tree.parent[v];
    for (let c = 0; c < k; c++) counts[p * k + c] += counts[v * k + c];
  }
  const cost = new Float64Array(n);
  for (let v = 0; v < n; v++) {
    for (let c = 0; c < k; c++) total[v] += counts[v * k + c];
    cost[v] = 0;
    for (let c = 0; c < k; c++) if (c !== tree.labels[v]) cost[v] += counts[v * k + c];
  }
  return { ...found, counts, total, cost };
}
