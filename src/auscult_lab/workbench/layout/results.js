/* The table of results, and the table by groups. */

const COSTS = {
  minutes: ["Training, min", "minutes of training", (model) => model.minutes],
  parameters: ["Parameters", "trained parameters", (model) => model.parameters],
  ms: ["ms per query", "milliseconds per query", (model) => model.ms],
};

function sortValue(model, column) {
  if (column === "model") return model.name.toLowerCase();
  return (COSTS[column] ? COSTS[column][2](model) : model.values[column]?.[0]) ?? null;
}

function sorted() {
  const sign = state.order === "up" ? 1 : -1;
  return models.map((_, index) => index).sort((first, second) => {
    const [one, other] = [sortValue(models[first], state.sort), sortValue(models[second], state.sort)];
    // What was not measured stands last in either order.
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (one < other ? -1 : one > other ? 1 : 0);
  });
}

function headCell(column, text) {
  const chosen = state.sort === column;
  const other = chosen ? (state.order === "up" ? "down" : "up") : COSTS[column] || column === "model" ? "up" : "down";
  const button = el("button", { type: "button", id: `sort-${column}`, click: () => change({ sort: column, order: other }) }, text,
    el("span", { "aria-hidden": "true", class: "arrow" }, chosen ? (state.order === "up" ? "▲" : "▼") : "↕"));
  return el("th", { scope: "col", "aria-sort": chosen ? (state.order === "up" ? "ascending" : "descending") : null,
    class: COSTS[column] ? "number" : "" }, button);
}

/** A mean with its letters, and beneath it a bar from zero with the interval on it. */
function measureCell(model, name, top, best) {
  const [value, low, high] = model.values[name] || [];
  if (value === undefined || value === null) return el("td", { class: "number" }, "–");
  const won = model.beats[name];
  const share = (each) => `${(100 * each) / (top || 1)}%`;
  const interval = low === undefined ? null : el("i", { class: "interval", "--from": share(low), "--to": share(high) });
  const told = low === undefined ? null : `95 % interval ${percent(low)} to ${percent(high)}`;
  return el("td", { class: value === best ? "measure best" : "measure", title: told },
    el("span", { class: "value" }, percent(value), value === best ? el("span", { class: "unseen" }, " (best)") : null,
      won ? el("sup", { title: `significantly better than ${won.names.join("; ")}` }, won.letters) : null),
    el("span", { class: "gauge", "aria-hidden": "true", "--value": share(value) }, interval),
    told ? el("span", { class: "ends" }, `${percent(low)} – ${percent(high)}`) : null);
}

function costCell(column, model) {
  const value = COSTS[column][2](model);
  return el("td", { class: "number" }, value === null ? "not known" : value ? grouped(value) : "–");
}

function drawResults() {
  const columns = data.measures.filter((name) => state.columns.split(" ").includes(name));
  // One scale for all bars, so that they can be compared across columns too.
  const top = Math.max(...models.flatMap((model) => columns.flatMap((name) => model.values[name] ?? 0)));
  const best = (name) => Math.max(...models.map((model) => model.values[name]?.[0] ?? 0));
  const rows = sorted().map((index) => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: "model" }, dot(index), models[index].name, el("span", { class: "letter" }, models[index].letter))),
    columns.map((name) => measureCell(models[index], name, top, best(name))),
    Object.keys(COSTS).map((column) => costCell(column, models[index]))));
  const head = [headCell("model", "Model"), columns.map((name) => headCell(name, `${name}, %`)),
    Object.entries(COSTS).map(([column, [title]]) => headCell(column, title))];
  replace(byId("results-table"), el("caption", { class: "unseen" }, "Models and their measures, sortable by column"),
    el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
  replace(byId("columns"), el("legend", {}, "Measures shown"), data.measures.map((name) => columnChip(name, columns)));
  const tested = models.some((model) => Object.keys(model.beats).length);
  const bars = "Bold is the best of a column; the thin line on a bar is the 95 % bootstrap interval. ";
  byId("results-note").textContent = bars + (tested
    ? "Raised letters name the models that are significantly worse (paired randomisation test, Holm's correction, p < 0.05); a-f stands for all from a to f."
    : "No difference between two models is significant (paired randomisation test, Holm's correction, p < 0.05).");
}

function columnChip(name, columns) {
  const chosen = columns.includes(name);
  const other = chosen ? columns.filter((each) => each !== name) : [...columns, name];
  return el("button", { type: "button", id: `column-${name}`, "aria-pressed": String(chosen),
    click: () => change({ columns: other.join(" ") }) }, name);
}

function drawGroups() {
  byId("groups").hidden = !data.breakdowns.length;
  if (!data.breakdowns.length) return;
  fillSelect("group", "group", data.breakdowns.map(({ name }) => [name, name]));
  const shown = data.breakdowns.find(({ name }) => name === state.group);
  const names = Object.keys(shown.measures);
  if (!names.includes(state.measure)) state.measure = names.includes("AP") ? "AP" : names[0];
  fillSelect("group-measure", "measure", names.map((name) => [name, name === "AP" ? "MAP" : name]));
  const values = shown.measures[state.measure];
  const best = shown.groups.map((_, place) => Math.max(...values.map((own) => own[place] ?? -1)));
  const top = Math.max(...values.flat().map((value) => value ?? 0)) || 1;
  const cell = (value, place) => el("td", { class: value === best[place] ? "number best" : "number",
    "--heat": `${Math.round((60 * (value ?? 0)) / top)}%` }, value === null ? "–" : percent(value));
  replace(byId("groups-table"), el("caption", { class: "unseen" }, `${state.measure} by ${shown.name}`),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Model"), shown.groups.map((group) =>
      el("th", { scope: "col", class: "number" }, group.name, el("small", {}, grouped(group.queries)))))),
    el("tbody", {}, models.map((model, index) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: "model" }, dot(index), model.name)), values[index].map(cell)))));
}
