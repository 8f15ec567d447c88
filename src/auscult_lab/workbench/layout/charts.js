/* Learning curves and the scatter of cost against quality, as SVG of the width there is. */

const MARGIN = { left: 52, right: 18, top: 14, bottom: 44 };

/** From values to pixels, with the round values to write at the axis. */
function scale(low, high, from, to, logarithmic) {
  const place = logarithmic ? Math.log10 : (value) => value;
  const at = (value) => from + ((place(value) - place(low)) / (place(high) - place(low) || 1)) * (to - from);
  const power = 10 ** Math.floor(Math.log10((high - low) / 5 || 1));
  const step = power * [1, 2, 5, 10].find((each) => (high - low) / (each * power) <= 6);
  at.ticks = [];
  if (logarithmic) for (let tick = 10 ** Math.ceil(Math.log10(low)); tick <= high; tick *= 10) at.ticks.push(tick);
  else for (let tick = Math.ceil(low / step); tick * step <= high + step / 1e6; tick++) at.ticks.push(tick * step);
  return at;
}

/** An empty chart: grid, ticks and axis titles. */
function frame(told, width, height, x, y, xTitle, yTitle, shownX, shownY) {
  const bottom = height - MARGIN.bottom;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told },
    y.ticks.map((tick) => [svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: MARGIN.left - 8, y: y(tick) + 4, "text-anchor": "end" }, shownY(tick))]),
    x.ticks.map((tick) => svg("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle" }, shownX(tick))),
    svg("text", { class: "axis", x: (MARGIN.left + width - MARGIN.right) / 2, y: height - 6, "text-anchor": "middle" }, xTitle),
    svg("text", { class: "axis", x: 13, y: bottom / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${bottom / 2})` }, yTitle));
}

/** Says the point nearest to the pointer. */
function tellNearest(figure, chart, points) {
  const ring = svg("circle", { class: "ring", r: 7, visibility: "hidden" });
  const tip = el("p", { class: "tip", hidden: true });
  chart.append(ring);
  figure.append(tip);
  const far = (point, event) => Math.hypot(point.x - event.offsetX, point.y - event.offsetY);
  chart.addEventListener("pointermove", (event) => {
    const near = points.reduce((best, point) => (far(point, event) < far(best, event) ? point : best), points[0]);
    tip.hidden = !near || far(near, event) > 60;
    ring.setAttribute("visibility", tip.hidden ? "hidden" : "visible");
    if (tip.hidden) return;
    fill(ring, { cx: near.x, cy: near.y, stroke: colour(near.model) }, []);
    tip.textContent = near.text;
    fill(tip, { "--x": `${near.x}px`, "--y": `${near.y}px` }, []);
    tip.classList.toggle("left", near.x > chart.clientWidth / 2);
  });
  chart.addEventListener("pointerleave", () => { tip.hidden = true; ring.setAttribute("visibility", "hidden"); });
}

const joined = (points) => points.map((point) => `${point.x},${point.y}`).join(" ");
const widthOf = (figure) => Math.max(280, Math.round(figure.clientWidth));

function drawCurves() {
  const names = [...new Set(models.flatMap((model) => Object.keys(model.curves)))].sort((one) => (one === "loss" ? 1 : -1));
  byId("learning").hidden = !names.length;
  if (!names.length) return;
  const named = (name) => (name === "loss" ? "Training loss" : `Validation ${name.slice(11)}, %`);
  fillSelect("curve", "curve", names.map((name) => [name, named(name)]));
  const name = state.curve;
  const shown = name === "loss" ? (value) => value.toPrecision(3) : percent;
  const hidden = state.hidden.split("|");
  const learned = models
    .map((model, index) => ({ index, label: model.name, best: model.bestEpoch, values: model.curves[name] || [] }))
    .filter(({ values }) => values.some((value) => value !== null));
  const visible = learned.filter(({ label }) => !hidden.includes(label));
  const all = (visible.length ? visible : learned).flatMap(({ values }) => values).filter((value) => value !== null);
  const [width, height] = [widthOf(byId("curves")), 360];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = (high - low || high || 1) * 0.06;
  const longest = Math.max(...learned.map(({ values }) => values.length));
  const x = scale(1, Math.max(longest, 2), MARGIN.left + 8, width - MARGIN.right);
  x.ticks = x.ticks.filter(Number.isInteger);
  const y = scale(low - room, high + room, height - MARGIN.bottom, MARGIN.top);
  const chart = frame(`${named(name)} after each epoch of training`, width, height, x, y, "Epochs of training", named(name), String, shown);
  const points = [];
  for (const { index, label, best, values } of visible) {
    const own = values.map((value, epoch) => ({ value, epoch })).filter(({ value }) => value !== null)
      .map(({ value, epoch }) => ({ epoch, x: x(epoch + 1), y: y(value), model: index,
        text: `${label}, epoch ${epoch + 1}: ${shown(value)}` }));
    chart.append(svg("polyline", { class: `line dash${Math.floor(index / 10) % 3}`, points: joined(own), stroke: colour(index) }),
      ...own.filter((point) => point.epoch === best || own.length === 1)
        .map((point) => svg("circle", { class: "chosen", cx: point.x, cy: point.y, r: 4.5, fill: colour(index) })));
    points.push(...own);
  }
  const others = (label) => (hidden.includes(label) ? hidden.filter((each) => each !== label) : [...hidden, label]);
  const toggle = (label) => change({ hidden: others(label).filter(Boolean).join("|") });
  const legend = el("div", { class: "chips legend", role: "group", "aria-label": "Models shown" }, learned.map(({ index, label }) =>
    el("button", { type: "button", id: `curve-of-${index}`, "aria-pressed": String(!hidden.includes(label)),
      click: () => toggle(label) }, dot(index), label)));
  replace(byId("curves"), chart, legend, el("figcaption", { class: "note" }, "A dot marks the epoch whose weights were kept. " +
    "Where models were validated on questions of their own, compare the shapes of curves and not their heights."));
  tellNearest(byId("curves"), chart, points);
  drawCurvesTable(learned, shown);
}

function drawCurvesTable(learned, shown) {
  const figure = (value) => ((value ?? null) === null ? "–" : shown(value));
  const cells = ({ best, values }) => [String(values.length), ...[0, best, values.length - 1].map((epoch) => figure(values[epoch]))];
  const head = ["Model", "Epochs", "First", "Kept", "Last"].map((title, place) =>
    el("th", { scope: "col", class: place > 0 ? "number" : "" }, title));
  replace(byId("curves-table"), el("thead", {}, el("tr", {}, head)), el("tbody", {}, learned.map((model) =>
    el("tr", {}, el("th", { scope: "row" }, model.label), cells(model).map((text) => el("td", { class: "number" }, text))))));
}

/** A height for each label at which it covers none placed before. */
function placeLabels(points, width) {
  const placed = [];
  for (const point of [...points].sort((one, other) => one.y - other.y)) {
    const long = 7 * point.label.length;
    const left = point.x + 12 + long > width;
    const from = left ? point.x - 12 - long : point.x + 12;
    const box = { from, to: from + long, y: point.y + 4 };
    while (placed.some((other) => box.from < other.to && other.from < box.to && Math.abs(box.y - other.y) < 15)) box.y += 3;
    placed.push(box);
    Object.assign(point, { labelX: Math.max(from, 2), labelY: box.y });
  }
}

function drawScatter() {
  fillSelect("cost", "cost", Object.entries(COSTS).map(([column, [, title]]) => [column, title]));
  const [, title, costOf] = COSTS[state.cost];
  const known = models.map((model, index) => ({ model, index, cost: costOf(model), values: model.values[data.main] }))
    .filter(({ cost, values }) => cost !== null && values);
  const positive = known.map(({ cost }) => cost).filter((cost) => cost > 0);
  const [least, most] = positive.length ? [Math.min(...positive), Math.max(...positive)] : [1, 10];
  // A logarithmic axis has no zero: what costs nothing stands at its left end, marked so.
  const free = known.some(({ cost }) => !cost) ? least / 8 : least / 2;
  const [width, height] = [widthOf(byId("scatter")), 380];
  const ends = known.flatMap(({ values }) => values);
  const x = scale(free, most * 2, MARGIN.left + 14, width - MARGIN.right, true);
  x.ticks = x.ticks.filter((tick) => tick >= least / 2);
  if (free < least / 2) x.ticks.unshift(free);
  const y = scale(Math.max(0, Math.min(...ends) - 0.03), Math.min(1, Math.max(...ends) + 0.03), height - MARGIN.bottom, MARGIN.top);
  const chart = frame(`${data.main} against ${title}`, width, height, x, y, `${title}, logarithmic`, `${data.main}, %`,
    (tick) => (tick === free ? "none" : grouped(tick)), percent);
  const points = known.map(({ model, index, cost, values: [value, low, high] }) => ({ model: index, label: model.name, cost, value, low, high,
    x: x(cost || free), y: y(value), text: `${model.name}: ${data.main} ${percent(value)} %, ${cost ? grouped(cost) : "no"} ${title}` }));
  const beaten = (point) => points.some((other) => other.cost <= point.cost && other.value > point.value);
  const front = points.filter((point) => !beaten(point)).sort((one, other) => one.x - other.x);
  placeLabels(points, width);
  chart.append(svg("polyline", { class: "front", points: joined(front) }),
    ...points.flatMap((point) => [
      point.low === undefined ? null : svg("line", { class: "whisker", stroke: colour(point.model),
        x1: point.x, x2: point.x, y1: y(point.low), y2: y(point.high) }),
      svg("circle", { class: "point", cx: point.x, cy: point.y, r: 5.5, fill: colour(point.model) }),
      svg("text", { class: "name", x: point.labelX, y: point.labelY }, point.label)]).filter(Boolean));
  replace(byId("scatter"), chart);
  tellNearest(byId("scatter"), chart, points);
}
