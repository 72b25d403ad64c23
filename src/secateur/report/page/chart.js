// The currency against the number of leaves, on a logarithmic axis. The slider lies over the chart and shares its axis.

const MAX_CURVE_POINTS_DRAWN = 40; // curves with more points are drawn without dots
const MIN_TICK_DISTANCE_PIXELS = 30;
const MIN_MARK_DISTANCE_PIXELS = 72;
const SLIDER_STEPS = 1000;
const THUMB_PIXELS = 20;
const HEADROOM = 1.06; // the chart is so much higher than its highest curve

function createChart(raw, tree, state, errors, currency) {
  const stops = raw.stops;
  const maxLeaves = Math.max(...stops.leaves, 2);
  const slider = $("slider");
  const box = { left: 46, right: 14, top: 14, bottom: 34, height: 220 };
  const { rate } = errors;
  const { toShownScale, format } = currency;
  const lines = chartLines();
  const hasLine = (key) => lines.some((line) => line.key === key);
  const shownValues = lines.flatMap((line) => line.values.filter((value) => value !== null));
  // Certificates limit the error, so that their limits have a place in a chart of errors only.
  const stamp = currency.isError ? raw.certified : null;
  const highest = Math.max(...shownValues, stamp || 0, 1e-300);
  const tickText = (value) => (currency.isShare ? `${Number((value * 100).toFixed(2))}%` : formatMeasure(value));

  // The position of a number of leaves on the axis, from 0 to 1.
  const position = (leaves) => Math.log(leaves) / Math.log(maxLeaves);
  let width = 0;
  const x = (leaves) => box.left + position(leaves) * (width - box.left - box.right);
  const y = (value) => box.top + (1 - Math.min(value / (highest * HEADROOM), 1)) * (box.height - box.top - box.bottom);

  // One curve for the certified limits, for each sample, and for cross-validation.
  function chartLines() {
    const found = [];
    if (stops.bound && currency.isError) found.push({ key: "bound", name: "certified limit", rates: stops.bound });
    tree.samples.forEach((sample, s) => {
      const rates = stops.scores ? stops.scores[s] : stops.errors[s].map((cost) => (cost === null ? null : rate(s, cost)));
      if (rates) found.push({ key: `sample-${s}`, name: sample.name, rates });
    });
    if (stops.cv && stops.cv_name !== tree.samples[1]?.sample) {
      const name = stops.cv_name === "cross-validation" ? "cross-validated" : stops.cv_name;
      found.push({ key: "cv", name, rates: stops.cv });
    }
    return found.map((line) => ({ ...line, values: line.rates.map(toShownScale) }));
  }

  function draw() {
    width = Math.max(240, $("chart").clientWidth);
    const values = valueTicks(highest);
    box.left = 12 + Math.max(30, ...values.map((value) => textWidth(tickText(value), 11)));
    const curves = $("curves");
    curves.setAttribute("viewBox", `0 0 ${width} ${box.height}`);
    curves.setAttribute("height", box.height);
    curves.replaceChildren(curves.querySelector("title"));
    drawAxes(curves, values);
    drawMarks(curves);
    if (stops.cv) drawBand(curves);
    for (const line of lines) drawCurve(curves, line);
    if (stamp !== null) {
      const leaves = stops.leaves[raw.marks.fitted];
      const title = svg("title", {}, raw.certificate);
      curves.append(svg("path", { class: "stamp", d: starPath(x(leaves), y(stamp)) }, title));
    }
    curves.append(svg("g", { id: "hovered" }), svg("g", { id: "now" }));
    placeSlider();
    update();
  }

  function drawAxes(curves, values) {
    for (const value of values) {
      curves.append(
        svg("line", { class: "grid", x1: box.left, x2: width - box.right, y1: y(value), y2: y(value) }),
        svg("text", { class: "tick", x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, tickText(value)),
      );
    }
    let lastTick = -100;
    for (const leaves of leafTicks(maxLeaves)) {
      if (x(leaves) - lastTick < MIN_TICK_DISTANCE_PIXELS) continue;
      lastTick = x(leaves);
      const tickPosition = { x: lastTick, y: box.height - box.bottom + 16, "text-anchor": "middle" };
      curves.append(svg("text", { class: "tick", ...tickPosition }, formatNumber(leaves)));
    }
    curves.append(
      svg("text", { class: "tick", x: 2, y: box.height - 3 }, currency.name),
      svg("text", { class: "tick", x: width - box.right, y: box.height - 3, "text-anchor": "end" }, "leaves (log scale)"),
    );
  }

  // Vertical lines at the stops that have a name. Names that would overlap are put below one another.
  function drawMarks(curves) {
    const names = { one_se: "1 SE", best: "least", fitted: "fitted" };
    const drawnAt = [];
    for (const key of ["fitted", "one_se", "best"]) {
      if (raw.marks[key] === undefined) continue;
      const px = x(stops.leaves[raw.marks[key]]);
      const level = drawnAt.filter((other) => Math.abs(other - px) < MIN_MARK_DISTANCE_PIXELS).length;
      drawnAt.push(px);
      const anchor = px > width - 60 ? "end" : "start";
      const textX = px + (anchor === "end" ? -3 : 3);
      curves.append(
        svg("line", { class: `mark ${key}`, x1: px, x2: px, y1: box.top, y2: box.height - box.bottom }),
        svg("text", { class: "tick", x: textX, y: box.top + 8 + 12 * level, "text-anchor": anchor }, names[key]),
      );
    }
  }

  // One standard error on either side of the cross-validated scores.
  function drawBand(curves) {
    const known = stops.cv.map((_, i) => i).filter((i) => stops.cv[i] !== null);
    const edge = (sign) => known.map((i) => {
      const value = toShownScale(Math.max(0, stops.cv[i] + sign * stops.se[i]));
      return `${x(stops.leaves[i]).toFixed(1)},${y(value).toFixed(1)}`;
    });
    curves.append(svg("polygon", { class: "band", points: [...edge(1), ...edge(-1).reverse()].join(" ") }));
  }

  function drawCurve(curves, line) {
    const points = [];
    line.values.forEach((value, i) => {
      if (value !== null) points.push([x(stops.leaves[i]).toFixed(1), y(value).toFixed(1)]);
    });
    curves.append(svg("polyline", { class: `curve ${line.key}`, points: points.map((point) => point.join(",")).join(" ") }));
    if (points.length > MAX_CURVE_POINTS_DRAWN) return;
    for (const [cx, cy] of points) curves.append(svg("circle", { class: `point ${line.key}`, cx, cy, r: 2 }));
  }

  // The middle of the thumb moves from half its width to half its width before the other end of the slider.
  function placeSlider() {
    slider.style.left = `${box.left - THUMB_PIXELS / 2}px`;
    slider.style.width = `${width - box.left - box.right + THUMB_PIXELS}px`;
    slider.style.top = `${box.top}px`;
    slider.style.height = `${box.height - box.top - box.bottom}px`;
  }

  // Redraw the parts that depend on the shown tree: dots on the curves, the thumb, and the tiles.
  function update() {
    const { leaves, costs, scores } = state.numbers;
    const limit = state.limit();
    const cv = stops.cv && !state.edits.length && hasLine("cv") ? stops.cv[state.stop] : null;
    const dots = tree.samples.map((_, s) => ({ key: `sample-${s}`, value: toShownScale(scores[s]) }));
    dots.push({ key: "bound", value: currency.isError ? limit.value : null }, { key: "cv", value: cv === null ? null : toShownScale(cv) });
    const known = dots.filter(({ value }) => value !== null);
    $("now")?.replaceChildren(...known.map(({ key, value }) => currentDot(key, x(leaves.length), value)));
    slider.value = SLIDER_STEPS * position(leaves.length);
    const rates = tree.samples.flatMap((sample, s) => {
      const error = `${sample.name} ${errors.name} ${errors.format(rate(s, costs[s]))}`;
      return currency.isError || scores[s] === null ? [error] : [`${sample.name} ${currency.name} ${format(scores[s])}`, error];
    });
    const text = `${formatCount(leaves.length, "leaf", "leaves")}, ${rates.join(", ")}`;
    slider.setAttribute("aria-valuetext", text);
    announce(text);
    drawTiles(leaves.length, state.numbers, limit, cv);
  }

  // A dot, or an arrow at the upper edge if the value is above the chart.
  function currentDot(key, px, value) {
    if (value <= highest * HEADROOM) return svg("circle", { class: `dot ${key}`, cx: px, cy: y(value), r: 5 });
    return svg("path", { class: `dot ${key}`, d: `M${px} ${box.top - 8}l6 9h-12Z` });
  }

  function tile(key, name, value, note) {
    const small = note ? html("small", {}, note) : null;
    return html("div", { class: `tile ${key}` }, html("dt", {}, name), html("dd", {}, value, small));
  }

  const baselineNote = (baseline) => (baseline ? `best constant ${format(baseline.value)}` : "");

  function formatR2(s, meanSquaredError) {
    const explained = errors.explainedVariance(s, meanSquaredError) ?? 0;
    return `R²\u00a0${formatNumber(Number(explained.toFixed(3)))}`;
  }

  function drawTiles(nLeaves, { costs, scores }, limit, cv) {
    const tiles = [tile("leaves", nLeaves === 1 ? "leaf" : "leaves", formatNumber(nLeaves), `of ${formatNumber(tree.nLeaves[0])}`)];
    tree.samples.forEach((sample, s) => {
      if (!currency.isError && scores[s] !== null) {
        tiles.push(tile(`score-${s}`, `${sample.name} ${currency.name}`, format(scores[s]), baselineNote(sample.baseline)));
      }
      const wrongRows = `${formatNumber(costs[s])} of ${formatNumber(sample.total[0])}${sample.unit ? " by weight" : ""}`;
      const note = errors.isClasses ? wrongRows : formatR2(s, rate(s, costs[s]));
      tiles.push(tile(`sample-${s}`, `${sample.name} ${errors.name}`, errors.format(rate(s, costs[s])), note));
    });
    if (cv !== null) {
      const r2 = errors.isClasses || !currency.isError ? "" : `, ${formatR2(0, cv)}`;
      const note = `± ${currency.formatStandardError(cv, stops.se[state.stop])}${r2}`;
      tiles.push(tile("cv", `cross-validated ${currency.name}`, format(cv), note));
    }
    if (limit.value !== null) {
      const scope = { path: "all stops at once", certificate: "this tree alone", branching: "any pruning, however chosen" };
      const confidence = `error at most (${raw.confidence} sure)`;
      tiles.push(tile("bound", confidence, formatPercent(limit.value, Math.ceil), scope[limit.from]));
    } else if (state.edits.length && raw.certified !== null) tiles.push(tile("bound", "certified limit", "none", "for cuts by hand"));
    $("tiles").replaceChildren(...tiles);
    $("limits").textContent = limit.why || "";
  }

  // The stop nearest to a position on the axis.
  function nearestStop(share) {
    const distance = (i) => Math.abs(position(stops.leaves[i]) - share);
    let nearest = 0;
    for (let i = 1; i < stops.leaves.length; i++) if (distance(i) < distance(nearest)) nearest = i;
    return nearest;
  }

  // Show the values of all curves at the stop nearest to the pointer.
  function hover(event) {
    const { left } = slider.getBoundingClientRect();
    const stop = nearestStop((event.clientX - left - THUMB_PIXELS / 2) / (slider.clientWidth - THUMB_PIXELS));
    const px = x(stops.leaves[stop]);
    const tip = $("tip");
    tip.replaceChildren(...tipLines(stop));
    tip.hidden = false;
    const preferred = px + (px > width / 2 ? -tip.offsetWidth - 12 : 12);
    tip.style.left = `${Math.min(Math.max(0, preferred), width - tip.offsetWidth)}px`;
    tip.style.top = `${box.top + 4}px`;
    const known = lines.filter((line) => line.values[stop] !== null);
    $("hovered").replaceChildren(
      svg("line", { class: "mark", x1: px, x2: px, y1: box.top, y2: box.height - box.bottom }),
      ...known.map((line) => svg("circle", { class: `point ${line.key}`, cx: px, cy: y(line.values[stop]), r: 4 })),
    );
  }

  function tipLines(stop) {
    const isMember = stops.member[stop] >= 0;
    const member = isMember ? `pruning ${stops.member[stop]} of ${Math.max(...stops.member)}` : raw.names[stop];
    const texts = [html("strong", {}, formatCount(stops.leaves[stop], "leaf", "leaves")), html("div", {}, member)];
    for (const { key, name, rates } of lines) {
      if (rates[stop] === null) continue;
      const value = key === "bound" ? formatPercent(rates[stop], Math.ceil) : format(rates[stop]);
      texts.push(html("div", {}, html("span", { class: `key-dot ${key}` }), `${name} ${value}`));
    }
    if (stops.alpha && stops.alpha[stop] !== null) texts.push(html("div", {}, `alpha ${formatNumber(stops.alpha[stop])}`));
    return texts;
  }

  slider.addEventListener("pointermove", hover);
  slider.addEventListener("pointerleave", () => {
    $("tip").hidden = true;
    $("hovered").replaceChildren();
  });
  slider.addEventListener("input", () => state.goTo(nearestStop(slider.value / SLIDER_STEPS)));
  slider.addEventListener("change", () => (slider.value = SLIDER_STEPS * position(state.numbers.leaves.length)));
  slider.addEventListener("keydown", (event) => {
    const offsets = { ArrowRight: -1, ArrowUp: -1, ArrowLeft: 1, ArrowDown: 1, PageUp: -10, PageDown: 10 };
    if (event.key === "Home") state.goTo(stops.leaves.length - 1);
    else if (event.key === "End") state.goTo(0);
    else if (offsets[event.key]) state.goTo(state.stop + offsets[event.key]);
    else return;
    event.preventDefault();
  });

  function drawLegend() {
    const key = (width, height, part) => svg("svg", { class: "key", width, height, "aria-hidden": "true" }, part);
    const items = lines.map((line) => {
      const sample = svg("line", { class: `curve ${line.key}`, x1: 0, x2: 22, y1: 5, y2: 5 });
      return html("li", {}, key(22, 10, sample), line.name);
    });
    if (stamp !== null) {
      const star = svg("path", { class: "stamp", d: starPath(7, 7) });
      items.push(html("li", {}, key(14, 14, star), `certificate of the fitted tree: ${formatPercent(raw.certified, Math.ceil)}`));
    }
    $("legend").replaceChildren(...items);
  }

  // A button for each stop that has a name.
  function drawStopButtons() {
    const stopButton = (name, stop) => button(`${name} (${formatNumber(stops.leaves[stop])})`, () => state.goTo(stop));
    const names = { fitted: "As fitted", one_se: "Smallest within 1 SE", best: `Least ${currency.name}` };
    const buttons = [];
    for (const [key, name] of Object.entries(names)) {
      if (raw.marks[key] !== undefined) buttons.push(stopButton(name, raw.marks[key]));
    }
    for (const [stop, name] of Object.entries(raw.names)) {
      if (!name.includes("fitted")) buttons.push(stopButton(`${name[0].toUpperCase()}${name.slice(1)}`, Number(stop)));
    }
    $("stops").replaceChildren(...buttons);
  }

  $("size-title").textContent = `${currency.name[0].toUpperCase()}${currency.name.slice(1)} against size`;
  $("curves-title").textContent = `${$("size-title").textContent}, the number of leaves`;
  drawLegend();
  drawStopButtons();
  state.listeners.push(update);
  new ResizeObserver(() => $("chart").clientWidth !== width && draw()).observe($("chart"));
  draw();
}

// The SVG path of a five-pointed star.
function starPath(cx, cy) {
  const points = [];
  for (let i = 0; i < 10; i++) {
    const radius = i % 2 ? 3 : 7;
    const angle = (Math.PI * i) / 5 - Math.PI / 2;
    points.push(`${(cx + radius * Math.cos(angle)).toFixed(1)} ${(cy + radius * Math.sin(angle)).toFixed(1)}`);
  }
  return `M${points.join("L")}Z`;
}

// About four round values from 0 to the highest value.
function valueTicks(highest) {
  const roughStep = highest / 4;
  const unit = 10 ** Math.floor(Math.log10(roughStep));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * unit);
  const step = steps.find((size) => size >= roughStep * (1 - 1e-9));
  const ticks = [];
  for (let i = 0; i * step <= highest * HEADROOM; i++) ticks.push(i * step);
  return ticks;
}

// 1, 2, 5, 10, 20, 50, ... up to the largest number of leaves.
function leafTicks(maxLeaves) {
  const ticks = [];
  for (let unit = 1; unit <= maxLeaves; unit *= 10) {
    for (const factor of [1, 2, 5]) if (factor * unit <= maxLeaves) ticks.push(factor * unit);
  }
  return ticks;
}
