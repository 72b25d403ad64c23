// What is shown now: a stop of the slider and the cuts and restorations made by hand since.
// `kept[v]` says whether node v still tests something; all numbers follow from it.

function stateOf(raw, tree) {
  const stops = raw.stops;
  const state = {
    stop: raw.marks.fitted,
    edits: [],
    kept: new Uint8Array(tree.n),
    selected: 0,
    opened: new Set(), // branches unfolded by hand although they are small
    past: [],
    future: [],
    listeners: [],
  };

  // The tests of a stop. Members that are not nested are told as changes from one to the next.
  function keptAt(stop) {
    const kept = new Uint8Array(tree.n);
    const cuts = raw.cuts[stop];
    for (let v = 0; v < tree.n; v++) {
      if (tree.steps && !cuts) kept[v] = stops.member[stop] < tree.steps[v] ? 1 : 0;
      else kept[v] = tree.arity[v] > 0 ? 1 : 0;
    }
    if (cuts) for (const v of cuts) kept.fill(0, v, tree.end[v]);
    else if (!tree.steps) for (let i = 0; i <= stop; i++) for (const v of raw.changes[i]) kept[v] = 1 - kept[v];
    return kept;
  }

  function apply(edit, kept) {
    if (edit.kind === "snip") kept.fill(0, edit.node, tree.end[edit.node]);
    else for (let u = edit.node; u < tree.end[edit.node]; u++) kept[u] = tree.arity[u] > 0 ? 1 : 0;
  }

  function refresh() {
    state.kept = keptAt(state.stop);
    for (const edit of state.edits) apply(edit, state.kept);
    state.numbers = numbersOf(state.kept);
    if (!state.edits.length) state.numbers.costs = stops.errors.map((column) => column[state.stop]); // as all tables tell them
    while (!isThere(state.selected)) state.selected = tree.parent[state.selected];
    for (const listener of state.listeners) listener();
  }

  const isThere = (v) => v === 0 || state.kept[tree.parent[v]] === 1;
  const isLeaf = (v) => isThere(v) && state.kept[v] === 0;

  // Leaves, costs and decided nodes of a pruning, or of the part of it under one node.
  function numbersOf(kept, root = 0) {
    const found = { leaves: [], cuts: [], nDecided: 0, costs: tree.samples.map(() => 0) };
    for (let v = root; v < tree.end[root]; ) {
      if (tree.arity[v] > 0) found.nDecided += 1;
      if (kept[v]) {
        v += 1;
        continue;
      }
      found.leaves.push(v);
      if (tree.arity[v] > 0) found.cuts.push(v);
      tree.samples.forEach((sample, s) => (found.costs[s] += sample.cost[v]));
      v = tree.end[v];
    }
    return found;
  }

  function remember() {
    state.past.push({ stop: state.stop, edits: state.edits });
    state.future = [];
  }

  // A move of the slider is only worth taking back if it leaves work done by hand.
  function goTo(stop) {
    const at = Math.min(Math.max(stop, 0), stops.leaves.length - 1);
    if (at === state.stop && state.edits.length === 0) return;
    if (state.edits.length) remember();
    state.stop = at;
    state.edits = [];
    refresh();
  }

  function edit(kind, node) {
    const can = kind === "snip" ? isThere(node) && state.kept[node] === 1 : isLeaf(node) && tree.arity[node] > 0;
    if (!can) return false;
    remember();
    state.edits = [...state.edits, { kind, node }];
    state.selected = node;
    refresh();
    return true;
  }

  function travel(from, to) {
    if (!from.length) return false;
    to.push({ stop: state.stop, edits: state.edits });
    Object.assign(state, from.pop());
    refresh();
    return true;
  }

  // The limit on the error on new rows that holds for what is shown, where it comes from, and what else may be said.
  // The tree as fitted: its certificate. Members of the sequence: the path certificate. Anything else: a prior that
  // decides each node by a coin (ln 2 for each node decided), which holds for all prunings at once.
  function limit({ stop, edits, numbers } = state) {
    const path = stops.bound && !edits.length ? stops.bound[stop] : null;
    if (!edits.length && stop === raw.marks.fitted && raw.certified !== null) {
      const isPaid = path !== null && path.toFixed(6) !== raw.certified.toFixed(6);
      const why = isPaid && `Two limits: ${percent(raw.certified, Math.ceil)} is the certificate of the tree as fitted; ` +
        `${percent(path, Math.ceil)} holds for all stops of the slider at once, so also for the one you choose after looking.`;
      return { value: raw.certified, from: "certificate", why: why || "" };
    }
    if (path !== null) return { value: path, from: "path" };
    if (raw.limit.why_not) return { value: null, from: "none", why: raw.limit.why_not };
    const price = Math.log(1 / raw.limit.delta) + numbers.nDecided * Math.LN2;
    const value = klUpper(numbers.costs[1], raw.limit.n, price);
    return { value, from: "branching", why: "This tree is not a member of the slider's sequence: its limit pays for every pruning there is, so it is high." };
  }

  // Another stop, without going there.
  function peek(stop) {
    const kept = keptAt(stop);
    const numbers = { ...numbersOf(kept), costs: stops.errors.map((column) => column[stop]) };
    return { kept, numbers, limit: limit({ stop, edits: [], numbers }) };
  }

  Object.assign(state, {
    peek, refresh, isThere, isLeaf, numbersOf, goTo, limit,
    snip: (v) => edit("snip", v),
    restore: (v) => edit("restore", v),
    undo: () => travel(state.past, state.future),
    redo: () => travel(state.future, state.past),
  });
  refresh();
  return state;
}

// The largest p with n kl(errors / n, p) <= price: an upper limit on a binomial error rate.
function klUpper(errors, n, price) {
  const q = errors / n;
  const kl = (p) => (q > 0 ? q * Math.log(q / p) : 0) + (q < 1 ? (1 - q) * Math.log((1 - q) / (1 - p)) : 0);
  let low = q;
  let high = 1;
  if (q >= 1) return 1;
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2;
    if (n * kl(middle) <= price) low = middle;
    else high = middle;
  }
  return high;
}
