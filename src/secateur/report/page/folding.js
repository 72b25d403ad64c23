// Which branches are drawn. A tree that fits on the screen is drawn completely; of a larger one, the branches with
// most rows are drawn, and those that were opened by hand.

const MAX_TESTS_OPENED_AT_ONCE = 12; // when a branch is opened by hand
const MAX_LEAVES_DRAWN_WHOLE = 90;
const MIN_SCALE_DRAWN_WHOLE = 0.68; // below it the texts of a completely drawn tree are too small
const MIN_SCALE_ACROSS = 0.8;
const MIN_LINES = 8;
const MAX_LEVELS = 12;
const DETAIL_RANGE = [0.25, 64];

function createFolding(tree, state) {
  let detail = 1; // changed with the buttons Fold and Unfold; 1 is the automatic choice

  // The internal nodes to draw with their children: those with most rows, up to a number of lines and levels.
  function openUpTo(maxLines, maxLevels) {
    const open = new Set();
    let nLines = 1;
    for (const v of tree.byRows) {
      if (nLines >= maxLines) break;
      const hasOpenParent = v === 0 || open.has(tree.parent[v]);
      if (!state.kept[v] || tree.depth[v] >= maxLevels || !hasOpenParent) continue;
      open.add(v);
      nLines += tree.arity[v] - 1;
    }
    return open;
  }

  function addOpenedByHand(open) {
    for (const v of [...state.opened].sort((a, b) => a - b)) {
      if (state.kept[v] && (v === 0 || open.has(tree.parent[v]))) open.add(v);
    }
    return open;
  }

  // The automatic choice. `scaleOf(open)` returns how much a drawing must shrink to fit: [across, down].
  function chooseOpenNodes(nVisibleLines, scaleOf) {
    if (state.numbers.leaves.length <= MAX_LEAVES_DRAWN_WHOLE && detail === 1) {
      const all = openUpTo(Infinity, Infinity);
      if (Math.min(...scaleOf(all)) >= MIN_SCALE_DRAWN_WHOLE) return all;
    }
    const nLines = Math.max(MIN_LINES, nVisibleLines / MIN_SCALE_ACROSS);
    let nLevels = MAX_LEVELS;
    let open = openUpTo(nLines, nLevels);
    while (nLevels > 2 && scaleOf(open)[0] < MIN_SCALE_ACROSS) {
      let deepest = 0;
      for (const v of open) deepest = Math.max(deepest, tree.depth[v] + 1);
      nLevels = Math.min(nLevels, deepest) - 1;
      open = openUpTo(nLines, nLevels);
    }
    if (detail === 1) return open;
    return openUpTo(nLines * detail, Math.max(1, nLevels * Math.sqrt(detail)));
  }

  // Draw more (factor above 1) or fewer branches; fewer also closes the branches that were opened by hand.
  function changeDetail(factor) {
    detail = Math.min(DETAIL_RANGE[1], Math.max(DETAIL_RANGE[0], detail * factor));
    if (factor < 1) state.opened.clear();
  }

  // Open a branch by hand, with the tests under it that have most rows.
  function openBranch(v) {
    state.opened.add(v);
    let nOpened = 0;
    for (const u of tree.byRows) {
      if (nOpened >= MAX_TESTS_OPENED_AT_ONCE) break;
      const isBelow = u > v && u < tree.end[v];
      if (isBelow && state.kept[u] && state.opened.has(tree.parent[u])) {
        state.opened.add(u);
        nOpened += 1;
      }
    }
  }

  // Open all branches above a node, so that it is drawn.
  function openTo(v) {
    for (let u = tree.parent[v]; u >= 0; u = tree.parent[u]) state.opened.add(u);
  }

  const openNodes = (nVisibleLines, scaleOf) => addOpenedByHand(chooseOpenNodes(nVisibleLines, scaleOf));

  return { openNodes, changeDetail, openBranch, openTo };
}
