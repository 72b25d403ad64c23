// The drawing of a node and of the branch that leads to it, and its description for screen readers.

const LEAF_BAR_PIXELS = 40;
const LEAF_BAR_HEIGHT_PIXELS = 12;
const MAX_TEST_TEXT_PIXELS = 110;
const MAX_NAME_PIXELS = 130;

function createNodeDrawing(raw, tree, state, words) {
  const isClasses = raw.kind === "classes";
  const sample = tree.samples[0];
  const rows = sample.total;
  const nodeName = (v) => words.columnLabel(v) || `node ${v}`;
  const branchName = (v) => (v === 0 ? formatCount(rows[0], "row") : words.branchLabel(v));

  // The width of the texts before a node.
  function widthBefore(v, open) {
    if (open.has(v)) {
      const nameWidth = Math.min(MAX_NAME_PIXELS, textWidth(nodeName(v), FONT_PIXELS, 600));
      return Math.max(Math.min(MAX_TEST_TEXT_PIXELS, textWidth(branchName(v))), nameWidth);
    }
    return v === 0 ? 0 : Math.min(MAX_TEST_TEXT_PIXELS, textWidth(branchName(v)));
  }

  // The width of everything behind a node that is drawn without its children.
  function widthBehind(v) {
    if (state.kept[v]) return textWidth(foldedText(v)) + 30;
    const predictionWidth = Math.min(MAX_NAME_PIXELS, textWidth(words.predictionLabel(v)));
    return LEAF_BAR_PIXELS + 22 + predictionWidth + textWidth(rowsAndError(v));
  }

  const foldedText = (v) => `+${formatCount(nLeavesBelow(v), "leaf", "leaves")}`;

  function rowsAndError(v) {
    if (!isClasses) return formatNumber(rows[v]);
    return `${formatNumber(rows[v])} · ${rows[v] ? formatPercent(sample.cost[v] / rows[v]) : "empty"}`;
  }

  const means = isClasses ? null : sample.mean;
  const lowest = means ? means.reduce((a, b) => Math.min(a, b)) : 0;
  const highest = means ? means.reduce((a, b) => Math.max(a, b)) : 1;
  const positionOfMean = (v) => (highest > lowest ? (means[v] - lowest) / (highest - lowest) : 0.5);
  let colouring = null; // with `colourBy`: a function that returns { colour, text } for a node, or null

  function colourBy(newColouring) {
    colouring = newColouring;
  }

  const ownColour = (v) => (isClasses ? classColour(tree.labels[v]) : rampColour(positionOfMean(v)));

  function colour(v) {
    return colouring ? colouring(v)?.colour || "var(--grow)" : ownColour(v);
  }

  // How pure a node is, from 0 (as mixed as possible) to 1 (one class, or one value).
  function purity(v) {
    if (!rows[v]) return 0;
    if (!isClasses) {
      const rootVariance = sample.cost[0] / (rows[0] || 1);
      return rootVariance > 0 ? Math.max(0, 1 - sample.cost[v] / rows[v] / rootVariance) : 1;
    }
    const k = Math.max(raw.classes.length, 2);
    return Math.max(0, (1 - sample.cost[v] / rows[v] - 1 / k) / (1 - 1 / k));
  }

  function kindOf(v, open) {
    if (open.has(v)) return "test";
    if (state.kept[v]) return "folded";
    return tree.arity[v] > 0 ? "cut" : "leaf";
  }

  function nLeavesBelow(v) {
    let nLeaves = 0;
    for (let u = v; u < tree.end[v]; ) {
      if (state.kept[u]) u += 1;
      else {
        nLeaves += 1;
        u = tree.end[u];
      }
    }
    return nLeaves;
  }

  // The node in words.
  function describeNode(v, kind) {
    const size = formatCount(rows[v], "row");
    const remark = colouring?.(v) ? ` ${colouring(v).text}` : "";
    const start = `Node ${v}: ${words.branchText(v)}.${remark}`;
    if (kind === "test") return `${start} Tests ${words.columnName(v) || "something"}. ${size}.`;
    const error = isClasses ? `, error ${formatPercent(sample.cost[v] / (rows[v] || 1))}` : "";
    if (kind === "folded") return `${start} Branch of ${formatCount(nLeavesBelow(v), "leaf", "leaves")}, not unfolded. ${size}.`;
    const cut = kind === "cut" ? ` Cut: ${formatCount(tree.nLeaves[v], "leaf was", "leaves were")} removed.` : "";
    return `${start} Leaf: ${words.predictionLabel(v)}. ${size}${error}.${cut}`;
  }

  const thickness = (v, row) => Math.max(1.2, (rows[v] / (rows[0] || 1)) * Math.min(14, row * 0.5));

  function updateLink(link, v, row) {
    link.setAttribute("class", "link");
    link.setAttribute("stroke", colour(v));
    link.setAttribute("stroke-width", thickness(v, row).toFixed(2));
    link.setAttribute("stroke-opacity", (0.34 + 0.56 * purity(v)).toFixed(2));
  }

  // Redraw the element of a node if anything that is visible in it has changed.
  function updateNode(item, v, kind, { row, levelWidth }) {
    const room = levelWidth[tree.depth[v]];
    const drawnAs = [kind, row, room, kind === "folded" ? nLeavesBelow(v) : 0, Boolean(colouring)].join();
    if (item.drawnAs === drawnAs) return;
    item.drawnAs = drawnAs;
    const element = item.element;
    element.setAttribute("class", `node ${kind}`);
    if (kind === "test" || kind === "folded") element.setAttribute("aria-expanded", kind === "test");
    else element.removeAttribute("aria-expanded");
    // The drawing is hidden from screen readers; the title, which names the node, says the same in words.
    const drawing = svg("g", { "aria-hidden": "true" }, ...nodeParts(v, kind, row, room));
    element.replaceChildren(svg("title", {}, describeNode(v, kind)), drawing);
  }

  function nodeParts(v, kind, row, room) {
    const lift = thickness(v, row) / 2 + 4;
    const gap = kind === "cut" ? 15 : 10;
    const widthRight = kind === "test" ? 12 : widthBehind(v) - 8;
    const parts = [svg("rect", { class: "hit", x: -room - 12, y: -row / 2, width: widthRight + room + 12, height: row, rx: 6 })];
    if (v > 0 || kind === "test") {
      const text = clipText(branchName(v), Math.min(room + 1, MAX_TEST_TEXT_PIXELS));
      parts.push(svg("text", { class: "edge", x: -gap, y: -lift, "text-anchor": "end" }, text));
    }
    if (kind === "test") {
      const name = clipText(nodeName(v), MAX_NAME_PIXELS + 1, FONT_PIXELS, 600);
      parts.push(svg("circle", { class: "disc", r: 6, fill: colour(v) }));
      parts.push(svg("text", { class: "column", x: -10, y: lift + 9, "text-anchor": "end" }, name));
    } else if (kind === "folded") {
      const text = foldedText(v);
      parts.push(
        svg("rect", { class: "pill", x: -4, y: -9, width: textWidth(text) + 14, height: 18, rx: 9, stroke: colour(v) }),
        svg("text", { class: "more", x: 3, y: 4 }, text),
      );
    } else parts.push(...leafParts(v, kind));
    return parts;
  }

  function leafParts(v, kind) {
    const box = { y: -LEAF_BAR_HEIGHT_PIXELS / 2, height: LEAF_BAR_HEIGHT_PIXELS };
    const parts = [svg("rect", { class: "trough", x: -1, width: LEAF_BAR_PIXELS, ...box })];
    if (!isClasses) {
      parts.push(svg("rect", { x: -1, width: Math.max(2, positionOfMean(v) * LEAF_BAR_PIXELS), fill: colour(v), ...box }));
    } else if (rows[v]) parts.push(...classBars(v, box));
    if (kind === "cut") parts.push(cutMark(LEAF_BAR_HEIGHT_PIXELS));
    parts.push(svg("text", { class: "prediction", x: LEAF_BAR_PIXELS + 5, y: 4 },
      svg("tspan", { class: "name" }, clipText(words.predictionLabel(v), MAX_NAME_PIXELS + 1)),
      svg("tspan", { class: "rest", dx: 6 }, rowsAndError(v))));
    return parts;
  }

  // The class shares of a leaf side by side, the predicted class first.
  function classBars(v, box) {
    const k = raw.classes.length;
    const otherClasses = Array.from({ length: k }, (_, c) => c).filter((c) => c !== tree.labels[v]);
    const bars = [];
    let x = -1;
    for (const c of [tree.labels[v], ...otherClasses]) {
      const width = (sample.counts[v * k + c] / rows[v]) * LEAF_BAR_PIXELS;
      if (width > 0) bars.push(svg("rect", { x: x.toFixed(2), width: width.toFixed(2), fill: classColour(c), ...box }));
      x += width;
    }
    return bars;
  }

  return { widthBefore, widthBehind, updateNode, updateLink, kindOf, colour, colourBy };
}

// Two slanted lines: the branch was cut here.
function cutMark(height) {
  const [top, bottom] = [-height / 2 - 3, height / 2 + 3];
  return svg("path", { class: "cutmark", d: `M-6 ${top}L-2 ${bottom}M-10 ${top}L-6 ${bottom}` });
}
