// Which branches are drawn: the whole tree if it can be read at once; else those with most rows, as many
// as can be read; and those opened by hand.

const MOST_OPENED = 12; // tests unfolded when a branch is opened
const MOST_WHOLE = 90; // leaves beyond which a tree is never drawn whole at first

function foldingOf(tree, state) {
  let detail = 1;

  // The kept nodes that show their children by themselves, within so many lines and levels.
  function openUpTo(most, levels) {
    const open = new Set();
    let lines = 1;
    for (const v of tree.byRows) {
      if (lines >= most) break;
      if (!state.kept[v] || tree.depth[v] >= levels || !(v === 0 || open.has(tree.parent[v]))) continue;
      open.add(v);
      lines += tree.arity[v] - 1;
    }
    return open;
  }

  function withOpened(open) {
    for (const v of [...state.opened].sort((a, b) => a - b)) {
      if (state.kept[v] && (v === 0 || open.has(tree.parent[v]))) open.add(v);
    }
    return open;
  }

  // `scaleOf(open)` says how much a drawing must shrink to fit: [across, down].
  function byItself(linesSeen, scaleOf) {
    if (state.numbers.leaves.length <= MOST_WHOLE && detail === 1) {
      const whole = openUpTo(Infinity, Infinity);
      if (Math.min(...scaleOf(whole)) >= 0.68) return whole;
    }
    const lines = Math.max(8, linesSeen / 0.8);
    let levels = 12;
    let open = openUpTo(lines, levels);
    while (levels > 2 && scaleOf(open)[0] < 0.8) {
      let deepest = 0;
      for (const v of open) deepest = Math.max(deepest, tree.depth[v] + 1);
      levels = Math.min(levels, deepest) - 1;
      open = openUpTo(lines, levels);
    }
    return detail === 1 ? open : openUpTo(lines * detail, Math.max(1, levels * Math.sqrt(detail)));
  }

  // Unfold or fold by a factor; folding also takes back what was opened by hand.
  function refine(by) {
    detail = Math.min(64, Math.max(0.25, detail * by));
    if (by < 1) state.opened.clear();
  }

  // Open a branch, and what has most rows under it.
  function openBranch(v) {
    state.opened.add(v);
    let n = 0;
    for (const u of tree.byRows) {
      if (n >= MOST_OPENED) break;
      if (u > v && u < tree.end[v] && state.kept[u] && state.opened.has(tree.parent[u])) {
        state.opened.add(u);
        n += 1;
      }
    }
  }

  function openTo(v) {
    for (let u = tree.parent[v]; u >= 0; u = tree.parent[u]) state.opened.add(u);
  }

  const unfolded = (linesSeen, scaleOf) => withOpened(byItself(linesSeen, scaleOf));

  return { unfolded, refine, openBranch, openTo };
}
