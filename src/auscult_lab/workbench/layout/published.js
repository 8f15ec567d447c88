/* The papers' own tables, in a dialog; drawn when it is first opened. */

function paperTable(paper, { table, about, measures, rows, note }) {
  const best = measures.map((_, place) => Math.max(...rows.map(([, , values]) => values[place] ?? -1)));
  const body = rows.flatMap(([group, model, values, here], place) => [
    place === 0 || rows[place - 1][0] !== group ? el("tr", { class: "group" }, el("th", { colspan: measures.length + 1, scope: "rowgroup" }, group)) : null,
    el("tr", {}, el("th", { scope: "row" }, model, here ? el("span", { class: "badge" }, "in this report") : null),
      values.map((value, column) => el("td", { class: value === best[column] ? "number best" : "number" }, percent(value) || "–")))]);
  return el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `${paper.key}, ${table}, ${about[0]}` }, el("table", { class: "small" },
    el("caption", {}, el("span", {}, el("b", {}, `${table}: ${about[0]}`), ` ${about.slice(1).join(", ")}. ${note}`)),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Model"), measures.map((name) => el("th", { scope: "col", class: "number" }, name)))),
    el("tbody", {}, body)));
}

function drawPublished() {
  const [dialog, papers] = [byId("published"), byId("papers")];
  byId("open-published").hidden = !data.published.length;
  if (state.published && data.published.length && !papers.childElementCount) {
    papers.append(...data.published.map((paper) => el("section", {}, el("h3", {}, paper.title),
      el("p", { class: "note" }, [paper.authors, paper.venue, paper.key].filter(Boolean).join(". ")),
      paper.tables.map((table) => paperTable(paper, table)))));
  }
  if (state.published && !dialog.open) dialog.showModal();
  if (!state.published && dialog.open) dialog.close();
}
