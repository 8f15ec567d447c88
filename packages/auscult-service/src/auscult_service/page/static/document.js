/* A document: the answer grows and shrinks, curves lead to sentences, boxes follow the text. */
import { counted, say } from "./saying.js";

const text = document.getElementById("text");
const pages = document.getElementById("pages");
const chain = (text.dataset.chain ?? "").trim().split(" ").filter(Boolean).map((each) => each.split("-").map(Number));
let at = Number(text.dataset.at ?? 0);
const begun = at;
const sentence = (number) => document.getElementById(`s${number}`);
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const behavior = calm ? "instant" : "smooth";

/** Mark the sentences of the chosen stretch, in the text, on pages and beside curves. */
function mark() {
  const [first, last] = chain[at];
  for (const each of document.querySelectorAll(".s.in")) each.classList.remove("in");
  for (let number = first; number < last; number++) sentence(number)?.classList.add("in");
  for (const box of document.querySelectorAll("rect.b")) {
    box.classList.toggle("in", first <= box.dataset.s && box.dataset.s < last);
  }
  for (const where of document.querySelectorAll("rect.where")) {
    where.setAttribute("y", first);
    where.setAttribute("height", last - first);
  }
  sentence(first)?.before(document.getElementById("answer"));
  const length = document.getElementById("length");
  length.textContent = counted(length, last - first);
  document.getElementById("permalink").hash = `s${first}`;
  for (const [id, place] of [["shrink", at - 1], ["grow", at + 1]]) {
    const button = document.getElementById(id);
    if (chain[place]) button.removeAttribute("aria-disabled");
    else button.setAttribute("aria-disabled", "true");
  }
  const address = new URL(location.href);
  if (at === begun) address.searchParams.delete("s");
  else address.searchParams.set("s", `${first}-${last}`);
  history.replaceState(null, "", address);
  say(length.dataset.said.replace("{}", length.textContent));
}

function step(by) {
  if (!chain[at + by]) return;
  at += by;
  mark();
}

for (const [id, by] of [["shrink", -1], ["grow", 1]]) {
  const button = document.getElementById(id);
  if (!button) continue;
  button.tabIndex = 0;
  button.addEventListener("click", (event) => { event.preventDefault(); step(by); });
  button.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); step(by); }
  });
}

/** Show a sentence where it stands: in the text, and on its page. */
function jump(number, how = behavior) {
  const there = sentence(number);
  if (!there) return;
  there.scrollIntoView({ block: "center", behavior: how });
  const box = pages?.querySelector(`rect[data-s="${number}"]`);
  box?.scrollIntoView({ block: "center", behavior: how });
  for (const each of document.querySelectorAll(".here")) each.classList.remove("here");
  there.classList.add("here");
  for (const each of pages?.querySelectorAll(`rect[data-s="${number}"]`) ?? []) each.classList.add("here");
}

const numberOf = (hash) => /^#s\d+$/.test(hash) ? Number(hash.slice(2)) : -1;
addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const hash = link?.getAttribute("href") ?? "";
  if (numberOf(hash) < 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.replaceState(null, "", hash);
  jump(numberOf(hash));
  const there = sentence(numberOf(hash));
  there.tabIndex = -1;
  there.focus({ preventScroll: true });
});

/* A click beside a peak leads to the sentence at its height. */
const tracks = document.getElementById("tracks");
tracks?.addEventListener("click", (event) => {
  const drawn = event.target.closest("svg");
  if (!drawn || event.target.closest("a")) return;
  const box = drawn.getBoundingClientRect();
  const number = Math.floor(((event.clientY - box.top) / box.height) * Number(tracks.dataset.sentences));
  jump(Math.min(Number(tracks.dataset.sentences) - 1, Math.max(0, number)));
});

/* A click on a sentence of a page shows it in the text. */
pages?.addEventListener("click", (event) => {
  const box = event.target.closest("rect");
  if (box) jump(Number(box.dataset.s));
});

const peaks = [...document.querySelectorAll(".peaks a")];
let peak = -1;
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea, dialog[open]")) return;
  const deeds = {
    "+": () => step(1),
    "=": () => step(1),
    "-": () => step(-1),
    j: () => peaks.length && peaks[peak = Math.min(peaks.length - 1, peak + 1)].click(),
    k: () => peaks.length && peaks[peak = Math.max(0, peak - 1)].click(),
  };
  const deed = deeds[event.key];
  if (!deed) return;
  event.preventDefault();
  deed();
});

/* What an address names is shown on its page, too. */
const named = numberOf(location.hash);
if (named >= 0) jump(named, "instant");
else if (location.hash === "#answer" && chain.length) {
  jump(chain[at][0], "instant");
  for (const each of document.querySelectorAll(".here")) each.classList.remove("here");
}
