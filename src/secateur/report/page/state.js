// The pruning that the page shows. It starts as one of the prunings that the slider offers, its stops. Users then cut and
// restore single nodes, the edits. `kept[v]` is 1 if node v is internal in this pruning; all numbers follow from `kept`.

function createState(raw, tree) {
  const stops = raw.stops;
  const state = {
    stop: raw.marks.fitted,
    edits: [],
    kept: new Uint8Array(tree.n),
    selected: 0,
    opened: new Set(), // branches that were unfolded by hand
    past: [],
    future: [],
    listeners: [],
  };

  // Return `kept` of a stop. If the prunings are not nested, each is stored as the nodes that differ from the stop before.
  function keptAt(stop) {
    const kept = Uint8Array.from(tree.arity, (arity) => (arity > 0 ? 1 : 0));
    const cuts = raw.cuts[stop];
    if (cuts) {
      for (const v of cuts) kept.fill(0, v, tree.end[v]);
    } else if (tree.steps) {
      for (let v = 0; v < tree.n; v++) kept[v] = stops.member[stop] < tree.steps[v] ? 1 : 0;
    } else {
      for (let i = 0; i <= stop; i++) for (const v of raw.changes[i]) kept[v] = 1 - kept[v];
    }
    return kept;
  }

  function applyEdit(edit, kept) {
    if (edit.kind === "take") kept.set(edit.kept);
    else if (edit.kind === "snip") kept.fill(0, edit.node, tree.end[edit.node]);
    else for (let u = edit.node; u < tree.end[edit.node]; u++) kept[u] = tree.arity[u] > 0 ? 1 : 0;
  }

  function refresh() {
    state.kept = keptAt(state.stop);
    for (const edit of state.edits) applyEdit(edit, state.kept);
    state.numbers = measurePruning(state.kept);
    // Without edits the stored costs are used, so that the page shows the same digits everywhere.
    if (!state.edits.length) useStoredNumbers(state.numbers, state.stop);
    while (!isInTree(state.selected)) state.selected = tree.parent[state.selected];
    for (const listener of state.listeners) listener();
  }

  // Replace the measured costs and scores of a stop by the stored ones.
  function useStoredNumbers(numbers, stop) {
    numbers.costs = stops.errors.map((column) => column[stop]);
    numbers.scores = (stops.scores || stops.errors).map((column, s) => {
      const value = column ? column[stop] : null;
      return stops.scores || value === null ? value : perRow(value, s, 0);
    });
  }

  const perRow = (sum, s, root) => (tree.samples[s].total[root] ? sum / tree.samples[s].total[root] : null);

  const isInTree = (v) => v === 0 || state.kept[tree.parent[v]] === 1;
  const isLeaf = (v) => isInTree(v) && state.kept[v] === 0;

  // Return leaves, cuts, costs and scores of a pruning, or of its part below `root`. `costs` are errors (squared errors),
  // `scores` are per row, in the currency; null where they are no sum over leaves. `nDecisions` is the number of its nodes
  // at which one could cut or not: those that are internal in the grown tree.
  function measurePruning(kept, root = 0) {
    const numbers = { leaves: [], cuts: [], nDecisions: 0, costs: tree.samples.map(() => 0) };
    const losses = tree.samples.map((sample) => (raw.currency.is_error ? sample.cost : sample.loss));
    const sums = tree.samples.map(() => 0);
    for (let v = root; v < tree.end[root]; ) {
      if (tree.arity[v] > 0) numbers.nDecisions += 1;
      if (kept[v]) {
        v += 1;
        continue;
      }
      numbers.leaves.push(v);
      if (tree.arity[v] > 0) numbers.cuts.push(v);
      tree.samples.forEach((sample, s) => {
        numbers.costs[s] += sample.cost[v];
        sums[s] += losses[s] ? losses[s][v] : 0;
      });
      v = tree.end[v];
    }
    numbers.scores = sums.map((sum, s) => (losses[s] ? perRow(sum, s, root) : null));
    return numbers;
  }

  function saveForUndo() {
    state.past.push({ stop: state.stop, edits: state.edits });
    state.future = [];
  }

  // Go to a stop of the slider. Undo returns only to prunings with edits: moves of the slider alone are not saved.
  function goTo(stop) {
    const next = Math.min(Math.max(stop, 0), stops.leaves.length - 1);
    if (next === state.stop && state.edits.length === 0) return;
    if (state.edits.length) saveForUndo();
    state.stop = next;
    state.edits = [];
    refresh();
  }

  function canEdit(kind, node) {
    if (kind === "snip") return isInTree(node) && state.kept[node] === 1;
    return isLeaf(node) && tree.arity[node] > 0;
  }

  // Cut ("snip") or restore the branch of a node; return whether anything changed.
  function edit(kind, node) {
    if (!canEdit(kind, node)) return false;
    saveForUndo();
    state.edits = [...state.edits, { kind, node }];
    state.selected = node;
    refresh();
    return true;
  }

  // Show a pruning that is no stop. `code` is the Python expression that makes it.
  function take(kept, name, code) {
    saveForUndo();
    state.edits = [{ kind: "take", kept, name, code }];
    refresh();
  }

  // What makes the shown tree differ from the present stop; empty if nothing does.
  function describeEdits() {
    const names = state.edits.filter(({ kind }) => kind === "take").map(({ name }) => name);
    const nByHand = state.edits.length - names.length;
    return [...names, ...(nByHand ? [`${formatCount(nByHand, "change")} by hand`] : [])].join(", ");
  }

  // Undo or redo: restore the last entry of the history `from`, and append the present pruning to the history `to`.
  function moveInHistory(from, to) {
    if (!from.length) return false;
    to.push({ stop: state.stop, edits: state.edits });
    Object.assign(state, from.pop());
    refresh();
    return true;
  }

  // Return the upper limit on the error of a pruning on new rows, where the limit comes from, and a remark for the reader.
  // The fitted tree has its certificate, and members of the sequence have the path certificate. Any other pruning gets an
  // Occam bound: the prior probability of a pruning is 1/2 for each decision, which raises the limit by ln 2 each.
  function limit({ stop, edits, numbers } = state) {
    const path = stops.bound && !edits.length ? stops.bound[stop] : null;
    if (!edits.length && stop === raw.marks.fitted && raw.certified !== null) {
      return { value: raw.certified, from: "certificate", why: explainTwoLimits(raw.certified, path) };
    }
    if (path !== null) return { value: path, from: "path" };
    if (raw.limit.why_not) return { value: null, from: "none", why: raw.limit.why_not };
    const price = Math.log(1 / raw.limit.delta) + numbers.nDecisions * Math.LN2;
    const value = klUpperLimit(numbers.costs[1], raw.limit.n, price);
    return {
      value,
      from: "branching",
      why: "This tree is not a member of the slider's sequence: its limit pays for every possible pruning, so it is high.",
    };
  }

  // Return `kept`, numbers and limit of another stop, without going there.
  function previewStop(stop) {
    const kept = keptAt(stop);
    const numbers = measurePruning(kept);
    useStoredNumbers(numbers, stop);
    return { kept, numbers, limit: limit({ stop, edits: [], numbers }) };
  }

  Object.assign(state, {
    previewStop, take, describeEdits, refresh, isInTree, isLeaf, measurePruning, goTo, limit,
    snip: (v) => edit("snip", v),
    restore: (v) => edit("restore", v),
    undo: () => moveInHistory(state.past, state.future),
    redo: () => moveInHistory(state.future, state.past),
  });
  refresh();
  return state;
}

// Explain why the certificate of the fitted tree differs from the path certificate of the same tree; "" if it does not.
function explainTwoLimits(certified, path) {
  if (path === null || path.toFixed(6) === certified.toFixed(6)) return "";
  return (
    `Two limits: ${formatPercent(certified, Math.ceil)} is the certificate of the tree as fitted; ` +
    `${formatPercent(path, Math.ceil)} holds for all stops of the slider at once, so also for a stop that you choose after looking.`
  );
}

// The largest p with n kl(errors / n, p) <= price: an upper limit on a binomial error rate.
function klUpperLimit(errors, n, price) {
  const q = errors / n;
  if (q >= 1) return 1;
  const kl = (p) => (q > 0 ? q * Math.log(q / p) : 0) + (1 - q) * Math.log((1 - q) / (1 - p));
  let low = q;
  let high = 1;
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2;
    if (n * kl(middle) <= price) low = middle;
    else high = middle;
  }
  return high;
}
