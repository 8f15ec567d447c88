/* Browsing: the list of questions, and the chosen one with the answers of two models side by side. */

const AT_ONCE = 100;
const SAME = 1e-9;
let limit = AT_ONCE;

const valueOf = (question, label) => question.values[answering.indexOf(label)]?.[data.questionMeasures.indexOf(state.by)] ?? null;
const gain = (question) => (valueOf(question, state.a) ?? 0) - (valueOf(question, state.b) ?? 0);
const FILTERS = {
  all: ["all questions", () => true],
  "a-wins": ["where A wins over B", (question) => gain(question) > SAME],
  "b-wins": ["where B wins over A", (question) => gain(question) < -SAME],
  alike: ["where both are alike", (question) => Math.abs(gain(question)) <= SAME],
  missed: ["where both find nothing", (question) => !valueOf(question, state.a) && !valueOf(question, state.b)],
};

/** The questions that search and filter leave; where a model wins, its largest gain first. */
function wanted() {
  const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (question) => words.every((word) => `${question.id} ${question.text}`.toLowerCase().includes(word));
  const left = data.questions.filter((question) => fits(question) && FILTERS[state.show][1](question));
  return state.show.endsWith("-wins") ? left.sort((one, other) => Math.abs(gain(other)) - Math.abs(gain(one))) : left;
}

function listItem(question) {
  const bar = (label, name) => {
    const value = valueOf(question, label);
    return el("span", { class: `versus ${name}`, "--value": `${100 * (value ?? 0)}%` },
      el("span", { class: "unseen" }, `${name.toUpperCase()} ${percent(value)} `));
  };
  return el("li", {}, el("button", { type: "button", id: `choose-${question.id}`,
    "aria-current": question.id === state.question ? "true" : null,
    click: () => change({ question: question.id }) }, el("span", { dir: "auto" }, question.text), bar(state.a, "a"), bar(state.b, "b")));
}

function drawQuestions() {
  byId("questions").hidden = !answering.length;
  if (!answering.length) return;
  const named = answering.map((label) => [label, label]);
  fillSelect("model-a", "a", named);
  fillSelect("model-b", "b", named);
  fillSelect("compared", "by", data.questionMeasures.map((name) => [name, name]));
  fillSelect("shown", "show", Object.entries(FILTERS).map(([value, [text]]) => [value, text]));
  if (byId("find").value !== state.find) byId("find").value = state.find;
  const left = wanted();
  if (left.length && !left.some(({ id }) => id === state.question)) state.question = left[0].id;
  const place = left.findIndex(({ id }) => id === state.question);
  limit = Math.max(limit, place + 1);
  replace(byId("question-list"), left.slice(0, limit).map(listItem));
  const all = grouped(data.questions.length);
  byId("found").textContent = left.length === data.questions.length ? `${all} questions` : `${grouped(left.length)} of ${all} questions`;
  byId("more").hidden = left.length <= limit;
  drawQuestion(left[place], place, left.length);
}

/** To another question of the list. */
function move(steps) {
  const left = wanted();
  const next = left[left.findIndex(({ id }) => id === state.question) + steps];
  if (!next) return;
  change({ question: next.id });
  reveal();
}

/** The chosen question's entry into the list's view; the page itself stays where it is. */
function reveal() {
  const [list, entry] = [byId("question-list"), byId(`choose-${state.question}`)];
  if (entry) list.scrollTop = entry.offsetTop - list.offsetTop - list.clientHeight / 3;
}

function drawQuestion(question, place, number) {
  if (!question) return replace(byId("question"), el("p", { class: "empty" }, "No question fits. Take another word or filter."));
  const button = (id, text, steps, off) => el("button", { type: "button", id, disabled: off,
    "aria-keyshortcuts": steps < 0 ? "ArrowLeft" : "ArrowRight", click: () => move(steps) }, text);
  replace(byId("question"),
    el("div", { class: "heading" }, el("p", { class: "note" }, `Question ${place + 1} of ${grouped(number)}, ${question.id}`),
      el("span", { class: "steps" }, button("previous", "← Previous", -1, place === 0), button("next", "Next →", 1, place === number - 1))),
    el("h3", { dir: "auto" }, question.text), measuresTable(question),
    el("div", { class: "sides" }, ranking(question, state.a, state.b, "a"), ranking(question, state.b, state.a, "b")));
}

function measuresTable(question) {
  const row = (label, name) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: `side ${name}` }, name.toUpperCase()), label),
    data.questionMeasures.map((_, place) => el("td", { class: "number" }, percent(question.values[answering.indexOf(label)][place]) || "–")));
  return el("div", { class: "scroll", role: "region", "aria-label": "This question's measures", tabindex: "0" }, el("table", { class: "small" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Percent"),
      data.questionMeasures.map((name) => el("th", { scope: "col", class: "number" }, name)))),
    el("tbody", {}, row(state.a, "a"), row(state.b, "b"))));
}

function ranking(question, label, otherLabel, name) {
  const own = question.rankings[answering.indexOf(label)];
  const other = question.rankings[answering.indexOf(otherLabel)].map(([candidate]) => candidate);
  const found = own.filter(([candidate]) => question.candidates[candidate][1] > 0).length;
  return el("section", { "aria-label": `Answers of ${label}` },
    el("h4", {}, el("span", { class: `side ${name}` }, name.toUpperCase()), label,
      el("small", {}, `${found} of ${question.relevant} relevant in its first ${own.length}`)),
    el("ol", { class: "answers" }, own.map(([candidate, score], place) =>
      answer(question.candidates[candidate], score, place, other.indexOf(candidate)))));
}

function answer([passage, relevance, ranges], score, place, elsewhere) {
  const [id, title, text] = data.passages[passage];
  const beside = elsewhere === place ? "same place in the other" : elsewhere < 0 ? "not in the other's list" : `place ${elsewhere + 1} in the other`;
  return el("li", { class: relevance > 0 ? "relevant" : "" },
    el("p", { class: "place" }, el("b", {}, String(place + 1)),
      relevance > 0 ? el("span", { class: "badge" }, relevance > 1 ? `✓ relevant, grade ${relevance}` : "✓ relevant") : null,
      el("span", { class: "note", title: `passage ${id}, score ${score}` }, beside)),
    title ? el("h5", { dir: "auto" }, title) : null, el("p", { dir: "auto" }, highlighted(text, ranges)));
}

/** Ranges count characters, of which JavaScript's strings hold some as two. */
function highlighted(text, ranges) {
  const letters = [...text];
  const parts = [];
  let end = 0;
  for (let each = 0; each < ranges.length; each += 2) {
    parts.push(letters.slice(end, ranges[each]).join(""), el("mark", {}, letters.slice(ranges[each], ranges[each + 1]).join("")));
    end = ranges[each + 1];
  }
  return [...parts, letters.slice(end).join("")];
}
