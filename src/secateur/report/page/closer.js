// Look closer: the way to a node, and the distribution of the column it tests, by class, with the cut.

function closerOf(raw, tree, state, words, errors, picture) {
  function crumbs(v) {
    const path = [];
    for (let u = v; u >= 0; u = tree.parent[u]) path.unshift(u);
    const listed = path.length > 8 ? [...path.slice(0, 2), -1, ...path.slice(-5)] : path;
    return html("nav", { class: "crumbs", "aria-label": "The way to this node" }, html("ol", {}, ...listed.map((u) =>
      html("li", { "aria-current": u === v ? "true" : null }, u < 0 ? "…" : u === v ? html("bdi", {}, words.branchText(u)) : button(u ? words.branchText(u) : "all rows", () => picture.select(u, { focus: true }), { class: "plain" })))));
  }

  function bars(v) {
    const about = raw.rows?.nodes[v];
    if (!about || tree.arity[v] === 0) return null;
    const j = tree.feature[v];
    const size = { width: 400, height: 150, left: 8, right: 8, top: 16, bottom: 30 };
    const layers = about.by_class || [about.n];
    const n = layers[0].length;
    const tops = Array.from({ length: n }, (_, i) => layers.reduce((sum, layer) => sum + layer[i], 0));
    const most = Math.max(1, ...tops);
    const step = (size.width - size.left - size.right) / n;
    const y = (value) => size.height - size.bottom - (value / most) * (size.height - size.top - size.bottom);
    const parts = [];
    const means = about.mean?.filter((_, i) => about.n[i] > 0) || [];
    const [least, greatest] = [Math.min(...means), Math.max(...means)];
    for (let i = 0; i < n; i++) {
      let below = 0;
      layers.forEach((layer, c) => {
        const colour = about.by_class ? (about.classes[c] < 0 ? "#888" : classColour(about.classes[c])) : about.mean ? rampColour(greatest > least ? (about.mean[i] - least) / (greatest - least) : 0.5) : "#888";
        if (layer[i]) parts.push(svg("rect", { x: (size.left + i * step + 0.5).toFixed(1), width: Math.max(1, step - 1).toFixed(1), y: y(below + layer[i]).toFixed(1), height: (y(below) - y(below + layer[i])).toFixed(1), fill: colour },
          svg("title", {}, `${barName(about, j, i, n)}: ${count(layer[i], "row")}${about.by_class ? `, ${about.classes[c] < 0 ? "other classes" : raw.classes[about.classes[c]]}` : about.mean ? `, mean ${figure(about.mean[i])}` : ""}`)));
        below += layer[i];
      });
    }
    if (about.range) {
      const [low, high] = about.range;
      const x = size.left + ((tree.cut[v] - low) / (high - low)) * (size.width - size.left - size.right);
      if (isFinite(x)) parts.push(svg("line", { class: "threshold", x1: x, x2: x, y1: 6, y2: size.height - size.bottom + 4 }),
        svg("text", { class: "tick", x: Math.min(Math.max(x, 30), size.width - 30), y: size.height - size.bottom + 15, "text-anchor": "middle" }, tree.threshold[v]));
      parts.push(svg("text", { class: "tick", x: size.left, y: size.height - 4 }, axisText(j, low)), svg("text", { class: "tick", x: size.width - size.right, y: size.height - 4, "text-anchor": "end" }, axisText(j, high)));
    } else about.codes.forEach((code, i) => {
      const child = tree.branch[v][code] === undefined ? "" : words.childMark(v, code);
      parts.push(svg("text", { class: "tick", x: size.left + (i + 0.5) * step, y: size.height - size.bottom + 13, "text-anchor": "middle" }, clipped(raw.columns[j].categories[code], step - 2, 11)),
        svg("text", { class: "tick", x: size.left + (i + 0.5) * step, y: size.height - 4, "text-anchor": "middle" }, child));
    });
    const told = about.range ? "the line is the cut; values far out stand in the outermost bars" : "the letter is the branch a category takes";
    return html("figure", { class: "bars" },
      svg("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": `Distribution of ${words.columnOf(v)} at node ${v}` }, ...parts),
      html("figcaption", { class: "note" }, `${words.columnOf(v)} of the ${number(tops.reduce((a, b) => a + b, 0))} given rows that come here${about.missing ? `, and ${number(about.missing)} missing` : ""}: ${told}.`));
  }

  const axisText = (j, value) => (raw.columns[j].date ? dayText(Math.round(value)) : figure(value, 4));

  const barName = (about, j, i, n) => {
    if (about.codes) return i < about.codes.length ? raw.columns[j].categories[about.codes[i]] : "others";
    const [low, high] = about.range;
    return `${axisText(j, low + ((high - low) * i) / n)} to ${axisText(j, low + ((high - low) * (i + 1)) / n)}`;
  };

  return { crumbs, bars };
}
