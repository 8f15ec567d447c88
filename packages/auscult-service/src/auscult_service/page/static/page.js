/* What every page has: keys, the theme at once, panels that close, judgements without leaving the page. */
import { completion } from "./complete.js";
import { say } from "./saying.js";

const root = document.documentElement;
const byId = (id) => document.getElementById(id);
root.dataset.script = "";

function dark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function nameTheme() {
  const button = byId("theme");
  button.textContent = dark() ? button.dataset.light : button.dataset.dark;
  button.value = dark() ? "light" : "dark";
}

byId("theme").addEventListener("click", (event) => {
  event.preventDefault();
  const to = dark() ? "light" : "dark";
  document.cookie = `theme=${to}; path=/; max-age=31536000; samesite=lax`;
  root.dataset.theme = to;
  nameTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
nameTheme();

/* Panels of chips and languages: one at a time, closed by Escape and by a click elsewhere. */
const panels = [...document.querySelectorAll("details.chip, details.languages")];
for (const panel of panels) {
  panel.addEventListener("toggle", () => {
    if (panel.open) for (const other of panels) if (other !== panel) other.open = false;
  });
}
addEventListener("click", (event) => {
  for (const panel of panels) if (!panel.contains(event.target)) panel.open = false;
});

/* On a phone the filters wait until they are asked for. */
const narrow = document.querySelector("details.narrow");
if (narrow && matchMedia("(max-width: 60rem)").matches) narrow.open = false;

/* Judgements */
for (const form of document.querySelectorAll("form.judge")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.submitter;
    const body = new URLSearchParams(new FormData(form, button));
    for (const each of form.querySelectorAll("button")) each.disabled = true;
    let kept = false;
    try {
      kept = (await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } })).ok;
    } catch { /* told below */ }
    for (const each of form.querySelectorAll("button")) {
      each.disabled = false;
      if (kept) each.setAttribute("aria-pressed", String(each === button));
    }
    button.focus();
    say(kept ? byId("said").dataset.kept : byId("said").dataset.lost);
    form.dataset.kept = String(kept);
  });
}

/* Keys */
const hits = [...document.querySelectorAll(".hit")];
let at = -1;

function move(step) {
  const focused = hits.findIndex((hit) => hit.contains(document.activeElement));
  at = Math.min(hits.length - 1, Math.max(0, (focused < 0 ? at : focused) + step));
  hits[at]?.querySelector("h2 a").focus();
  hits[at]?.scrollIntoView({ block: "nearest" });
}

function judge(answer) {
  const hit = hits.find((each) => each.contains(document.activeElement));
  hit?.querySelector(`.judge button[value="${answer}"]`)?.click();
}

addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (event.key === "Escape") {
    const open = panels.find((panel) => panel.open);
    if (open) { open.open = false; open.querySelector("summary").focus(); }
    return;
  }
  if (event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog[open]")) return;
  const deeds = {
    "/": () => { byId("q")?.focus(); byId("q")?.select(); },
    "?": () => byId("keys").showModal(),
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: hits.length && document.activeElement?.closest(".hit") ? () => move(1) : null,
    ArrowUp: hits.length && document.activeElement?.closest(".hit") ? () => move(-1) : null,
    y: () => judge("yes"),
    n: () => judge("no"),
  };
  const deed = deeds[event.key];
  if (!deed || (!hits.length && "jkyn".includes(event.key))) return;
  event.preventDefault();
  deed();
});
byId("show-keys")?.addEventListener("click", () => byId("keys").showModal());
byId("print")?.addEventListener("click", () => print());

for (const input of document.querySelectorAll("input[data-complete]")) completion(input, byId("completions"));
