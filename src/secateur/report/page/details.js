// Details of a node: the path to it, and the distribution of the column it tests among the rows that reach it.

const MAX_PATH_BUTTONS = 8;
const DISTRIBUTION = { width: 400, height: 150, left: 8, right: 8, top: 16, bottom: 30 }; // pixels

function createNodeDetails(raw, tree, state, words, errors, picture) {
  // The path to a node as buttons; the middle of a long path is left out.
  function pathButtons(v) {
    const path = [];
    for (let u = v; u >= 0; u = tree.parent[u]) path.unshift(u);
    const entries = path.map((u) => pathEntry(u, u === v));
    if (path.length > MAX_PATH_BUTTONS) entries.splice(2, path.length - 7, html("li", {}, "…"));
    return html("nav", { class: "crumbs", "aria-label": "The path to this node" }, html("ol", {}, ...entries));
  }

  function pathEntry(u, isLast) {
    if (isLast) return html("li", { "aria-current": "true" }, html("bdi", {}, words.branchText(u)));
    return html("li", {}, button(words.branchText(u), () => picture.select(u, { focus: true }), { class: "plain" }));
  }

  // The bars of the tested column, stacked by class or coloured by the mean of the target; null if the page has none.
  function distribution(v) {
    const bars = raw.rows?.nodes[v];
    if (!bars || tree.arity[v] === 0) return null;
    const layers = bars.by_class || [bars.n];
    const nBars = layers[0].length;
    const heights = Array.from({ length: nBars }, (_, i) => layers.reduce((sum, layer) => sum + layer[i], 0));
    const barWidth = (DISTRIBUTION.width - DISTRIBUTION.left - DISTRIBUTION.right) / nBars;
    const parts = [...barParts(v, bars, layers, heights, barWidth)];
    if (bars.range) parts.push(...numericAxis(v, bars.range));
    else parts.push(...categoryAxis(v, bars.codes, barWidth));
    const name = words.columnName(v);
    const label = `Distribution of ${name} at node ${v}`;
    const viewBox = `0 0 ${DISTRIBUTION.width} ${DISTRIBUTION.height}`;
    const nRows = heights.reduce((a, b) => a + b, 0);
    const missing = bars.missing ? `, and ${formatNumber(bars.missing)} missing` : "";
    const legend = bars.range
      ? "the line is the threshold; extreme values are counted in the outermost bars"
      : "the letter is the branch of a category";
    return html("figure", { class: "bars" },
      svg("svg", { viewBox, role: "img", "aria-label": label }, ...parts),
      html("figcaption", { class: "note" }, `${name} of the ${formatNumber(nRows)} rows that reach this node${missing}: ${legend}.`));
  }

  function barParts(v, bars, layers, heights, barWidth) {
    const j = tree.feature[v];
    const highest = Math.max(1, ...heights);
    const usableHeight = DISTRIBUTION.height - DISTRIBUTION.top - DISTRIBUTION.bottom;
    const y = (rows) => DISTRIBUTION.height - DISTRIBUTION.bottom - (rows / highest) * usableHeight;
    const parts = [];
    for (let i = 0; i < heights.length; i++) {
      let rowsBelow = 0;
      layers.forEach((layer, line) => {
        if (layer[i]) {
          const title = `${barName(bars, j, i, heights.length)}: ${formatCount(layer[i], "row")}${barNote(bars, line, i)}`;
          parts.push(svg("rect", {
            x: (DISTRIBUTION.left + i * barWidth + 0.5).toFixed(1),
            width: Math.max(1, barWidth - 1).toFixed(1),
            y: y(rowsBelow + layer[i]).toFixed(1),
            height: (y(rowsBelow) - y(rowsBelow + layer[i])).toFixed(1),
            fill: barColour(bars, line, i),
          }, svg("title", {}, title)));
        }
        rowsBelow += layer[i];
      });
    }
    return parts;
  }

  function barColour(bars, line, i) {
    const grey = "#888";
    if (bars.by_class) return bars.classes[line] < 0 ? grey : classColour(bars.classes[line]);
    if (!bars.mean) return grey;
    const means = bars.mean.filter((_, bar) => bars.n[bar] > 0);
    const [lowest, highest] = [Math.min(...means), Math.max(...means)];
    return rampColour(highest > lowest ? (bars.mean[i] - lowest) / (highest - lowest) : 0.5);
  }

  function barNote(bars, line, i) {
    if (bars.by_class) return `, ${bars.classes[line] < 0 ? "other classes" : raw.classes[bars.classes[line]]}`;
    return bars.mean ? `, mean ${formatMeasure(bars.mean[i])}` : "";
  }

  function barName(bars, j, i, nBars) {
    if (bars.codes) return i < bars.codes.length ? raw.columns[j].categories[bars.codes[i]] : "others";
    const [low, high] = bars.range;
    const edge = (bar) => axisText(j, low + ((high - low) * bar) / nBars);
    return `${edge(i)} to ${edge(i + 1)}`;
  }

  const axisText = (j, value) => (raw.columns[j].date ? formatDay(Math.round(value)) : formatMeasure(value, 4));

  // The threshold as a line, and the ends of the range.
  function numericAxis(v, [low, high]) {
    const { width, height, left, right, bottom } = DISTRIBUTION;
    const j = tree.feature[v];
    const parts = [];
    const x = left + ((tree.exactThreshold[v] - low) / (high - low)) * (width - left - right);
    if (isFinite(x)) {
      const textX = Math.min(Math.max(x, 30), width - 30);
      parts.push(
        svg("line", { class: "threshold", x1: x, x2: x, y1: 6, y2: height - bottom + 4 }),
        svg("text", { class: "tick", x: textX, y: height - bottom + 15, "text-anchor": "middle" }, tree.threshold[v]),
      );
    }
    parts.push(
      svg("text", { class: "tick", x: left, y: height - 4 }, axisText(j, low)),
      svg("text", { class: "tick", x: width - right, y: height - 4, "text-anchor": "end" }, axisText(j, high)),
    );
    return parts;
  }

  // The name of each category, and the letter of its branch.
  function categoryAxis(v, codes, barWidth) {
    const { height, left, bottom } = DISTRIBUTION;
    const { categories } = raw.columns[tree.feature[v]];
    return codes.flatMap((code, i) => {
      const position = { class: "tick", x: left + (i + 0.5) * barWidth, "text-anchor": "middle" };
      const letter = tree.branch[v][code] === undefined ? "" : words.childLetter(v, code);
      return [
        svg("text", { ...position, y: height - bottom + 13 }, clipText(categories[code], barWidth - 2, 11)),
        svg("text", { ...position, y: height - 4 }, letter),
      ];
    });
  }

  return { pathButtons, distribution };
}
