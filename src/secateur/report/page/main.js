// Read the data, create the parts of the page, and connect the controls that belong to none of them.

const MAX_CLASSES_IN_LEGEND = 40;
const MAX_SEARCH_SUGGESTIONS = 500;
const ZOOM_STEP = 1.25;

const raw = JSON.parse($("data").textContent);
const tree = unpackTree(raw);
const words = createWording(raw, tree);
const state = createState(raw, tree);
$("app").hidden = false;
const errors = createErrorFormat(raw, tree);
const currency = createCurrency(raw);
const picture = createPicture(raw, tree, state, words);
createChart(raw, tree, state, errors, currency);
showPythonCode(raw, state);
drawCard(raw);
const drawNode = createPanel(raw, tree, state, words, errors, currency, picture);
const routing = createRouting(raw, tree, state);
const canRoute = tree.feature.some((j) => j >= 0);
const whatIf = canRoute ? createWhatIf(raw, tree, state, words, errors, picture, routing) : null;
const alternatives = raw.alternatives ? createAlternatives(raw, tree, state, words, errors, picture) : null;
const byHand = raw.hand ? createByHand(raw, tree, state, words, picture) : null;
const monitoring = raw.monitor ? createMonitoring(raw, picture) : null;
const isPossible = {
  "what-if": canRoute, "groups-part": raw.groups.length > 0, "by-hand": byHand !== null, alternatives: alternatives !== null,
  monitoring: monitoring !== null,
};
const tabs = createTabs(state, [
  { id: "node", name: "Node", draw: drawNode, isQuick: true },
  { id: "what-if", name: "What if", draw: whatIf, leave: whatIf?.leave },
  { id: "evaluation", name: "Evaluate", draw: createEvaluation(raw, tree, state, words, errors, picture) },
  { id: "groups-part", name: "Groups", draw: createGroups(raw, state), isQuick: true },
  { id: "compare", name: "Compare", draw: createComparison(raw, tree, state, words, errors, currency, picture) },
  { id: "alternatives", name: "Alternatives", draw: alternatives?.draw, leave: alternatives?.leave },
  { id: "description", name: "In words", draw: createDescription(raw, tree, state, words, errors, currency, picture) },
  { id: "rules-part", name: "Rules", draw: createRules(raw, tree, state, words, errors, picture) },
  { id: "members-part", name: "All prunings", draw: createMembers(raw, tree, state, errors, currency), isQuick: true },
  { id: "by-hand", name: "Grow by hand", draw: byHand, isQuick: true },
  { id: "monitoring", name: "Monitoring", draw: monitoring, isQuick: true },
  { id: "card-part", name: "Model card" },
].filter(({ id }) => isPossible[id] ?? true));
picture.setOnSelect(() => {
  if (tabs.isOpen("node")) drawNode();
  if (byHand && tabs.isOpen("by-hand")) byHand();
});

// The colours of the classes, or the range of the predicted numbers.
function drawColourLegend() {
  if (raw.kind !== "classes") {
    const { mean } = tree.samples[0];
    const range = `Predictions from ${formatMeasure(Math.min(...mean))} (blue) to ${formatMeasure(Math.max(...mean))} (orange)`;
    $("classes").replaceChildren(html("li", {}, range));
    return;
  }
  const listed = raw.classes.slice(0, MAX_CLASSES_IN_LEGEND);
  const items = listed.map((name, c) => html("li", { title: name }, swatch(c), html("bdi", {}, clipText(name, 220))));
  const nMore = raw.classes.length - listed.length;
  if (nMore > 0) items.push(html("li", {}, `and ${formatNumber(nMore)} more`));
  $("classes").replaceChildren(...items);
}

// An example and an explanation of each mark in the drawing.
function drawMarkLegend() {
  function example(width, ...parts) {
    return svg("svg", { class: "key", width, height: 16, viewBox: `-12 -8 ${width} 16`, "aria-hidden": "true" }, ...parts);
  }
  const pill = example(26,
    svg("rect", { class: "pill", x: -11, y: -7, width: 22, height: 14, rx: 7, stroke: "currentColor" }),
    svg("text", { class: "tick", x: -6, y: 4 }, "+3"));
  const [numbers, numbersText, barText] = errors.isClasses
    ? ["160 · 14.2 %", "growing rows in the leaf, share of them with another class", "bar: shares of the classes"]
    : ["52.3 160", "prediction of the leaf, growing rows in it", "bar: the prediction, from lowest to highest"];
  $("marks").replaceChildren(
    html("li", {}, example(16, cutMark(8)), "cut here: the leaves below it were removed"),
    html("li", {}, pill, "folded branch; click to open"),
    html("li", {}, html("b", {}, numbers), numbersText),
    html("li", {}, barText),
  );
}

// Mark the tests of the column that is searched for. Enter selects one after another, Escape ends the search.
let currentHit = -1;
function search(event) {
  const hits = picture.find($("search").value);
  if (event.type === "input") currentHit = -1;
  const hasQuery = $("search").value.trim() !== "";
  const summary = hits.length ? formatCount(hits.length, "test") : "not tested here";
  $("found").textContent = hasQuery ? summary : "";
  if (event.key === "Enter" && hits.length) {
    currentHit = (currentHit + 1) % hits.length;
    picture.select(hits[currentHit], { reveal: true });
    $("found").textContent = `${currentHit + 1} of ${hits.length}`;
    event.preventDefault();
  } else if (event.key === "Escape") {
    $("search").value = "";
    $("found").textContent = "";
    picture.find("");
  }
}

const testedNames = [...new Set(tree.feature)].filter((j) => j >= 0).map((j) => raw.columns[j].name).sort();
$("names").append(...testedNames.slice(0, MAX_SEARCH_SUGGESTIONS).map((name) => html("option", { value: name })));
$("search").addEventListener("input", search);
$("search").addEventListener("keydown", search);
state.listeners.push(() => $("search").value.trim() && search({ type: "state" }));

$("undo").addEventListener("click", () => state.undo());
$("redo").addEventListener("click", () => state.redo());
$("fold").addEventListener("click", () => picture.changeDetail(0.5));
$("unfold").addEventListener("click", () => picture.changeDetail(2));
picture.setOnDraw(() => {
  const nFolded = picture.nFolded();
  $("folded").textContent = nFolded ? `${formatCount(nFolded, "leaf", "leaves")} folded away` : "";
});
picture.draw({ glide: false });
$("smaller").addEventListener("click", () => picture.view.zoomBy(1 / ZOOM_STEP));
$("larger").addEventListener("click", () => picture.view.zoomBy(ZOOM_STEP));
$("fit").addEventListener("click", () => picture.view.fit());
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.matches?.("input[type=search]")) return;
  const key = event.key.toLowerCase();
  const isUndo = key === "z" && !event.shiftKey;
  const isRedo = key === "y" || (key === "z" && event.shiftKey);
  if ((isUndo && state.undo()) || (isRedo && state.redo())) event.preventDefault();
});
drawColourLegend();
drawMarkLegend();
// Give scripts and tests access to the parts of the page.
window.secateur = { raw, tree, state, words, errors, currency, picture, tabs, routing, whatIf, byHand,
  numbers: { confusionMatrix, rankLeaves, rankingCurves, columnImportances, shareLimits, sqlOf } };
