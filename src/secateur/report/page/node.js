// How a node and its branch look, and how a screen reader and hovering tell of it.

const BAR = 40; // pixels of the bar of a leaf

function looksOf(raw, tree, state, words) {
  const isClasses = raw.kind === "classes";
  const sample = tree.samples[0];
  const rows = sample.total;
  const nameOf = (v) => words.columnShort(v) || `node ${v}`;
  const edgeOf = (v) => (v === 0 ? count(rows[0], "row") : words.branchShort(v));

  // The room of the texts before a node, and of what stands behind one that is not open.
  function textRoom(v, open) {
    const name = open.has(v) ? Math.min(130, textWidth(nameOf(v), TEXT, 600)) : 0;
    return Math.max(v === 0 && !open.has(v) ? 0 : Math.min(110, textWidth(edgeOf(v))), name);
  }

  function leafRoom(v) {
    if (state.kept[v]) return textWidth(foldedText(v)) + 30;
    return BAR + 22 + Math.min(130, textWidth(words.answerShort(v))) + textWidth(restOf(v));
  }

  const foldedText = (v) => `+${count(nLeavesBelow(v), "leaf", "leaves")}`;

  function restOf(v) {
    if (!isClasses) return number(rows[v]);
    return `${number(rows[v])} · ${rows[v] ? percent(sample.cost[v] / rows[v]) : "empty"}`;
  }

  const means = isClasses ? null : sample.mean;
  const lowest = means ? means.reduce((a, b) => Math.min(a, b)) : 0;
  const highest = means ? means.reduce((a, b) => Math.max(a, b)) : 1;
  const valueShare = (v) => (highest > lowest ? (means[v] - lowest) / (highest - lowest) : 0.5);
  const colour = (v) => (isClasses ? classColour(tree.labels[v]) : rampColour(valueShare(v)));

  // How much of one kind a node is, from 0 to 1.
  function purity(v) {
    if (!rows[v]) return 0;
    if (!isClasses) {
      const whole = sample.cost[0] / (rows[0] || 1);
      return whole > 0 ? Math.max(0, 1 - sample.cost[v] / rows[v] / whole) : 1;
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
    let n = 0;
    for (let u = v; u < tree.end[v]; ) {
      if (state.kept[u]) u += 1;
      else {
        n += 1;
        u = tree.end[u];
      }
    }
    return n;
  }

  function told(v, kind) {
    const size = count(rows[v], "row");
    const start = `Node ${v}: ${words.branchText(v)}.`;
    if (kind === "test") return `${start} Tests ${words.columnOf(v) || "something"}. ${size}.`;
    const error = isClasses ? `, error ${percent(sample.cost[v] / (rows[v] || 1))}` : "";
    if (kind === "folded") return `${start} Branch of ${count(nLeavesBelow(v), "leaf", "leaves")}, not unfolded. ${size}.`;
    const cut = kind === "cut" ? ` Cut: ${count(tree.nLeaves[v], "leaf", "leaves")} went.` : "";
    return `${start} Leaf: ${words.answerShort(v)}. ${size}${error}.${cut}`;
  }

  const thickness = (v, row) => Math.max(1.2, (rows[v] / (rows[0] || 1)) * Math.min(14, row * 0.5));

  function dressLink(link, v, row) {
    link.setAttribute("class", "link");
    link.setAttribute("stroke", colour(v));
    link.setAttribute("stroke-width", thickness(v, row).toFixed(2));
    link.setAttribute("stroke-opacity", (0.34 + 0.56 * purity(v)).toFixed(2));
  }

  function dress(item, v, kind, { row, wide }) {
    const room = wide[tree.depth[v]];
    const look = [kind, row, room, kind === "folded" ? nLeavesBelow(v) : 0].join();
    if (item.look === look) return;
    item.look = look;
    const g = item.element;
    g.setAttribute("class", `node ${kind}`);
    if (kind === "test" || kind === "folded") g.setAttribute("aria-expanded", kind === "test");
    else g.removeAttribute("aria-expanded");
    const lift = thickness(v, row) / 2 + 4;
    const gap = kind === "cut" ? 15 : 10;
    const tail = kind === "test" ? 12 : leafRoom(v) - 8;
    const parts = [svg("rect", { class: "hit", x: -room - 12, y: -row / 2, width: tail + room + 12, height: row, rx: 6 })];
    if (v > 0 || kind === "test") {
      parts.push(svg("text", { class: "edge", x: -gap, y: -lift, "text-anchor": "end" }, clipped(edgeOf(v), Math.min(room + 1, 110))));
    }
    if (kind === "test") {
      parts.push(svg("circle", { class: "disc", r: 6, fill: colour(v) }));
      parts.push(svg("text", { class: "column", x: -10, y: lift + 9, "text-anchor": "end" }, clipped(nameOf(v), 131, TEXT, 600)));
    } else if (kind === "folded") {
      const text = foldedText(v);
      parts.push(
        svg("rect", { class: "pill", x: -4, y: -9, width: textWidth(text) + 14, height: 18, rx: 9, stroke: colour(v) }),
        svg("text", { class: "more", x: 3, y: 4 }, text),
      );
    } else parts.push(...leafParts(v, kind));
    // The picture of a node is for the eye; its title, which is its name, says the same in words.
    g.replaceChildren(svg("title", {}, told(v, kind)), svg("g", { "aria-hidden": "true" }, ...parts));
  }

  function leafParts(v, kind) {
    const high = 12;
    const parts = [svg("rect", { class: "trough", x: -1, y: -high / 2, width: BAR, height: high })];
    if (isClasses && rows[v]) {
      const k = raw.classes.length;
      const order = [tree.labels[v], ...Array.from({ length: k }, (_, c) => c).filter((c) => c !== tree.labels[v])];
      let x = -1;
      for (const c of order) {
        const w = (sample.counts[v * k + c] / rows[v]) * BAR;
        if (w > 0) parts.push(svg("rect", { x: x.toFixed(2), y: -high / 2, width: w.toFixed(2), height: high, fill: classColour(c) }));
        x += w;
      }
    } else if (!isClasses) {
      parts.push(svg("rect", { x: -1, y: -high / 2, width: Math.max(2, valueShare(v) * BAR), height: high, fill: colour(v) }));
    }
    if (kind === "cut") parts.push(cutMark(high));
    const label = svg("text", { class: "answer", x: BAR + 5, y: 4 });
    label.append(svg("tspan", { class: "name" }, clipped(words.answerShort(v), 131)), svg("tspan", { class: "rest", dx: 6 }, restOf(v)));
    parts.push(label);
    return parts;
  }

  return { textRoom, leafRoom, dress, dressLink, kindOf, colour, told };
}

function cutMark(high) {
  return svg("path", { class: "cutmark", d: `M-6 ${-high / 2 - 3}L-2 ${high / 2 + 3}M-10 ${-high / 2 - 3}L-6 ${high / 2 + 3}` });
}
