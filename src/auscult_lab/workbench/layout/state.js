/* The page's data and state, and how elements are made. Texts become text nodes only, never markup.

data: main, measures; models (best first) with values {measure: [mean, low, high]}, beats, minutes, parameters, ms,
curves {measure: [a value per epoch]}; breakdowns; passages [id, title, text]; questions with candidates
[passage, relevance, flat highlight ranges], rankings (of each `answering` model) [candidate, score], and values
(of each such model, by `questionMeasures`); published papers. */
const data = JSON.parse(document.getElementById("data").textContent);
const models = data.models;
const byId = (id) => document.getElementById(id);

/** Attributes: functions listen, "--x" are custom properties, null and false are left out. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** New children in place of the old; what had the focus keeps it, found again by its id. */
function replace(node, ...children) {
  const focused = node.contains(document.activeElement) ? document.activeElement.id : "";
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null));
  if (focused) byId(focused)?.focus({ preventScroll: true });
}

const percent = (value) => (value === null || value === undefined ? "" : (100 * value).toFixed(1));
const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
const colour = (index) => `var(--c${index % 10})`;
const dot = (index) => el("span", { class: "dot", "--own": colour(index), "aria-hidden": "true" });

const answering = data.answering.map((index) => models[index].name);
const COLUMNS = ["MAP", "nDCG@10", "nDCG@5", "P@1", "R@1", "R@5", "RR"].filter((name) => data.measures.includes(name)).slice(0, 4);
const DEFAULTS = {
  part: "", theme: "", published: "", sort: data.main, order: "down",
  columns: (COLUMNS.length ? COLUMNS : data.measures.slice(0, 4)).join(" "), hidden: "", curve: "", cost: "ms",
  group: "", measure: "", a: answering[0] || "", b: answering[1] || answering[0] || "",
  by: data.questionMeasures[0] || "", show: "all", find: "", question: "",
};
const CHOICES = {
  sort: ["model", "minutes", "parameters", "ms", ...data.measures],
  a: answering, b: answering, by: data.questionMeasures, order: ["up", "down"], theme: ["", "dark", "light"],
};
const state = {};

/** From the address, which anyone may have written: what is unknown is as if it were not there. */
function readAddress() {
  Object.assign(state, DEFAULTS);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (Object.hasOwn(DEFAULTS, name) && (!CHOICES[name] || CHOICES[name].includes(value))) state[name] = value;
  }
  if (state.a === state.b) state.b = answering.find((name) => name !== state.a) || state.a;
}

/** Into the address, only what is not as it is at first. */
function writeAddress() {
  const told = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name] && name !== "part");
  history.replaceState(null, "", `#${new URLSearchParams(told)}`);
}

/** A selector of one field of the state; another filter begins at its first question. */
function fillSelect(id, name, options) {
  const select = byId(id);
  select.replaceChildren(...options.map(([value, text]) => el("option", { value }, text)));
  select.value = state[name];
  if (select.selectedIndex < 0) state[name] = select.value = options.length ? options[0][0] : "";
  select.onchange = () => change({ [name]: select.value, ...(name === "show" && { question: "" }) });
}
