/* Completion of the box: an ARIA combobox with a list. Names become text nodes only, never markup. */

const WAIT = 60;

/** Let a field complete from its address `data-complete`, into a listbox. */
export function completion(input, list) {
  let options = [];
  let chosen = -1;
  let asked = 0;
  let timer = 0;
  let typed = input.value;
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id, "aria-haspopup": "listbox",
  })) input.setAttribute(name, value);

  function close() {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(number) {
    // What is still on its way would take the choice back.
    asked++;
    clearTimeout(timer);
    chosen = number;
    [...list.children].forEach((each, place) => each.setAttribute("aria-selected", String(place === number)));
    const option = list.children[number];
    if (!option) {
      input.removeAttribute("aria-activedescendant");
      input.value = typed;
      return;
    }
    option.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option.id);
    input.value = options[number].text;
  }

  function take(number) {
    input.value = options[number].text;
    close();
    input.form.requestSubmit();
  }

  function show() {
    list.replaceChildren(...options.map((option, number) => {
      const item = document.createElement("li");
      item.id = `completion-${number}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      for (const [tag, name, text] of [["b", "", option.name], ["span", "how", option.how]]) {
        if (!text) continue;
        const part = document.createElement(tag);
        if (name) part.className = name;
        part.textContent = text;
        item.append(part, " ");
      }
      item.addEventListener("pointerdown", (event) => event.preventDefault());
      item.addEventListener("click", () => take(number));
      return item;
    }));
    list.hidden = !options.length;
    chosen = -1;
    input.setAttribute("aria-expanded", String(Boolean(options.length)));
  }

  async function ask() {
    const number = ++asked;
    // Browsers fill fields, too, when somebody goes back.
    typed = input.value;
    if (typed.trim().length < 2) return close();
    const told = new URLSearchParams({ q: typed });
    const index = input.form.elements.index;
    if (index) told.set("index", index.value);
    try {
      const answer = await fetch(`${input.dataset.complete}?${told}`);
      const found = answer.ok ? await answer.json() : { options: [] };
      if (number !== asked || document.activeElement !== input) return;
      options = found.options;
      show();
    } catch { close(); }
  }

  input.addEventListener("input", () => { typed = input.value; clearTimeout(timer); timer = setTimeout(ask, WAIT); });
  input.addEventListener("blur", () => { asked++; close(); });
  input.form.addEventListener("submit", () => { clearTimeout(timer); asked++; close(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      input.value = typed;
      return close();
    }
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    if (list.hidden) return event.key === "ArrowDown" && ask();
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    // One place more than there are options: what was typed.
    choose(((chosen + 1 + step + options.length + 1) % (options.length + 1)) - 1);
  });
}
