// The part "Grow by hand": what else the selected node could have asked, and a list of edits that becomes a file, which
// `secateur edit` reads. The page changes nothing itself: the edited tree is grown by the command.

const EDITS_FILE = "edits.json";

function createByHand(raw, tree, state, words, picture) {
  const { hand } = raw;
  const columnOf = (j) => raw.columns[j].original_name ?? raw.columns[j].name;
  let edits = []; // in the form of the file, with the number of the column as `j`
  let past = [];
  let chosenColumn = 0; // kept when the part is drawn anew

  const isBelow = (v, u) => v > u && v < tree.end[u];
  const isAtOrBelow = (v, u) => v === u || isBelow(v, u);

  function pathTo(v) {
    const path = [];
    for (let u = v; u >= 0; u = tree.parent[u]) path.unshift(u);
    return path;
  }

  // The edit after which node v no longer exists under its number; undefined if there is none.
  function replacedBy(v) {
    return edits.find(({ action, node, j }) => {
      if (action !== "forbid") return isBelow(v, node);
      return pathTo(v).some((u) => u !== v && isAtOrBelow(u, node) && tree.feature[u] === j);
    });
  }

  const isForbidden = (v, j) => edits.some((edit) => edit.action === "forbid" && edit.j === j && isAtOrBelow(v, edit.node));

  // Add an edit, and drop the earlier ones that it makes meaningless.
  function add(edit) {
    past.push(edits);
    const { action, node, j } = edit;
    const isKept = (other) => {
      if (action === "forbid") {
        if (other.action === "forbid") return !(other.j === j && isAtOrBelow(other.node, node));
        if (other.action === "split" && other.j === j && isAtOrBelow(other.node, node)) return false;
        return !pathTo(other.node).some((u) => u !== other.node && isAtOrBelow(u, node) && tree.feature[u] === j);
      }
      if (other.action === "forbid") return !isBelow(other.node, node);
      return !isAtOrBelow(other.node, node);
    };
    edits = [...edits.filter(isKept), edit];
    announce(`${editText(edit)}. ${formatCount(edits.length, "edit")}.`);
    draw();
  }

  function remove(edit) {
    past.push(edits);
    edits = edits.filter((other) => other !== edit);
    announce(`Removed. ${formatCount(edits.length, "edit")}.`);
    draw();
  }

  function undo() {
    if (!past.length) return;
    edits = past.pop();
    announce(`Undone. ${formatCount(edits.length, "edit")}.`);
    draw();
  }

  const nodeText = (v) => (v === 0 ? "the root" : `node ${v}`);

  function editText({ action, node, j }) {
    if (action === "split") return `Split ${nodeText(node)} by ${raw.columns[j].name}`;
    if (action === "forbid") return `Forbid ${raw.columns[j].name} at and below ${nodeText(node)}`;
    return action === "leaf" ? `Make ${nodeText(node)} a leaf` : `Grow ${nodeText(node)} anew`;
  }

  function fileText() {
    const listed = edits.map(({ action, node, j }) => (j === undefined ? { action, node } : { action, node, column: columnOf(j) }));
    return `${JSON.stringify({ format: hand.format, version: hand.version, tree: hand.tree, edits: listed }, null, 1)}\n`;
  }

  const commandText = () => `secateur edit MODEL.json DATA.csv --edits ${EDITS_FILE} --output edited.json`;

  // The selected node as the heading says it: with its present test.
  function headline(v) {
    const test = tree.feature[v] < 0 ? "a leaf" : `a test of ${raw.columns[tree.feature[v]].name}`;
    return html("p", { class: "why" }, `${v === 0 ? "The root" : `Node ${v}`} is ${test}`, v === 0 ? "." : ": ",
      v === 0 ? null : html("bdi", {}, words.branchText(v)));
  }

  function candidateTable(v) {
    const found = hand.nodes[v];
    if (!found) return html("p", { class: "note" }, hand.why_not || (tree.arity[v] === 0 ? "It was grown as a leaf: growing found no split, or needed none." : "Splits are ranked for the nodes with most rows only."));
    const isReplaced = replacedBy(v) !== undefined;
    const rows = found.splits.map(([j, condition, share, n, isCurrent]) => {
      const { name } = raw.columns[j];
      const use = button("Use", () => add({ action: "split", node: v, j }), {
        class: "use", disabled: isReplaced || isForbidden(v, j), "aria-label": `Use ${name} at ${nodeText(v)}`,
      });
      return html("tr", { class: isCurrent ? "now" : null },
        html("th", { scope: "row" }, html("bdi", {}, `${name} ${condition}`)),
        html("td", {}, isCurrent ? "as grown" : use),
        html("td", {}, shareBar(share), formatPercent(share)),
        html("td", {}, formatMeasure(share * found.gain, 3)),
        html("td", {}, n.map((rowsOfChild) => formatNumber(rowsOfChild)).join(" + ")));
    });
    const head = ["test of the first branch", "", "gain, of the best", "gain", "rows"]
      .map((name) => (name ? html("th", { scope: "col" }, name) : html("td", {})));
    const note = found.n > found.splits.length ? ` The best ${found.splits.length} of ${found.n} columns are listed.` : "";
    return html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of splits" },
      html("table", { id: "candidates" }, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows)),
      html("p", { class: "note" }, `The best split of each column by ${hand.criterion}, as growing compares them on the growing rows.${note}`));
  }

  function shareBar(share) {
    const bar = svg("rect", { width: Math.max(0, Math.min(100, 100 * share)), height: 8, rx: 1 });
    return svg("svg", { class: "share-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, bar);
  }

  // Controls for what needs no ranking: a column by name, a forbidden column, a leaf.
  function controls(v) {
    const replacing = replacedBy(v);
    if (replacing) {
      return html("p", { class: "note" }, `${editText(replacing)} grows anew above this node: edit it in the edited tree.`);
    }
    const select = html("select", { id: "hand-column", "aria-label": "Column" },
      ...raw.columns.map(({ name }, j) => html("option", { value: j, selected: j === chosenColumn }, name)));
    const column = () => (chosenColumn = Number(select.value));
    const at = html("select", { id: "hand-place", "aria-label": "Node" },
      html("option", { value: v }, `at ${nodeText(v)}`), v === 0 ? null : html("option", { value: 0 }, "at the root"));
    const place = () => Number(at.value);
    const refuse = (text) => {
      message.textContent = text;
      announce(text);
    };
    const message = html("p", { class: "note", id: "hand-message" });
    const force = () => {
      if (replacedBy(place()) || isForbidden(place(), column())) refuse(`${raw.columns[column()].name} is forbidden there.`);
      else add({ action: "split", node: place(), j: column() });
    };
    return html("div", {},
      html("p", { class: "buttons" },
        html("label", { class: "choice", for: "hand-column" }, "Column "), select, at,
        button("Split by it", force, { id: "hand-split" }),
        button("Forbid it there and below", () => add({ action: "forbid", node: place(), j: column() }), { id: "hand-forbid" })),
      html("p", { class: "buttons" },
        tree.arity[v] > 0 ? button(`Make ${nodeText(v)} a leaf`, () => add({ action: "leaf", node: v }), { id: "hand-leaf" }) : null,
        button("Select the root", () => picture.select(0), { disabled: v === 0 })),
      message);
  }

  function editList() {
    const items = edits.map((edit) => html("li", {}, html("bdi", {}, editText(edit)), " ",
      button("Remove", () => remove(edit), { class: "plain", "aria-label": `Remove: ${editText(edit)}` })));
    const list = items.length
      ? html("ol", { class: "path", id: "hand-edits" }, ...items)
      : html("p", { class: "note" }, "None yet. Nodes keep their numbers, whatever else is edited.");
    return html("div", {}, html("h3", {}, "Your edits"), list,
      html("p", { class: "buttons" },
        button("Undo", undo, { id: "hand-undo", disabled: !past.length }),
        button("Download", () => saveFile(EDITS_FILE, fileText(), "application/json"), { id: "hand-download", class: "strong", disabled: !edits.length }),
        copyButton(fileText, "Copy the file"),
        copyButton(commandText, "Copy the command")),
      html("pre", { id: "hand-file", tabindex: "0", "aria-label": "The file of edits" }, edits.length ? fileText() : ""),
      html("p", { class: "note" }, "Then run, with the rows that were given to fit: ", html("code", { id: "hand-command" }, commandText()),
        " The command grows the edited tree, and prunes and certifies it as before. In Python: ", html("code", {}, `model.edit("${EDITS_FILE}", X, y)`)));
  }

  function draw() {
    const v = state.selected;
    const focused = document.activeElement?.id;
    $("by-hand").replaceChildren(
      html("h2", {}, `What else could ${nodeText(v)} have asked?`),
      headline(v),
      html("div", { class: "hand-columns" }, html("div", {}, candidateTable(v), controls(v)), editList()),
    );
    if (focused?.startsWith("hand-")) $(focused)?.focus();
  }

  return Object.assign(draw, { add, fileText, edits: () => edits });
}
