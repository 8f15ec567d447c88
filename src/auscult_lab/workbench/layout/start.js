/* What is drawn again when which part of the state changes; keys, address, theme. */

const VIEWS = [
  [["sort", "order", "columns"], drawResults],
  [["curve", "hidden"], drawCurves],
  [["cost"], drawScatter],
  [["group", "measure"], drawGroups],
  [["a", "b", "by", "show", "find", "question"], drawQuestions],
  [["published"], drawPublished],
  [["theme"], drawTheme],
];

function change(changes) {
  Object.assign(state, changes);
  for (const [names, draw] of VIEWS) if (names.some((name) => name in changes)) draw();
  writeAddress();
}

function dark() {
  return state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function drawTheme() {
  document.documentElement.dataset.theme = state.theme;
  byId("theme").textContent = dark() ? "Light theme" : "Dark theme";
}

/** A part of the report is an address of its own that leaves the rest of the state as it is. */
function followAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  const part = address.get("part");
  if (part && address.size === 1 && Object.keys(state).length) {
    byId(part)?.scrollIntoView();
    return writeAddress();
  }
  readAddress();
  for (const [, draw] of VIEWS) draw();
  for (const link of document.querySelectorAll(".bar a")) link.hidden = byId(link.hash.split("=")[1]).hidden;
  reveal();
  if (part) byId(part)?.scrollIntoView();
}

function onKey(event) {
  const busy = event.target.closest("input, select, dialog, .scroll") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (busy || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  event.preventDefault();
  move(event.key === "ArrowLeft" ? -1 : 1);
}

addEventListener("hashchange", followAddress);
addEventListener("keydown", onKey);
addEventListener("resize", () => requestAnimationFrame(() => { drawCurves(); drawScatter(); }));
byId("theme").addEventListener("click", () => change({ theme: dark() ? "light" : "dark" }));
byId("open-published").addEventListener("click", () => change({ published: "1" }));
byId("close-published").addEventListener("click", () => change({ published: "" }));
byId("published").addEventListener("close", () => { if (state.published) change({ published: "" }); });
byId("find").addEventListener("input", (event) => { limit = AT_ONCE; change({ find: event.target.value, question: "" }); });
byId("more").addEventListener("click", () => { limit += AT_ONCE; drawQuestions(); });
followAddress();
