/* Texts that scripts show. Modules that other scripts import do nothing by themselves: a browser may load them twice. */

const { lang } = document.documentElement;

/** Tell readers of screens. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Return a text of an element's data for a number of things; `{}` stands for the number. */
export function counted(element, number) {
  const one = new Intl.PluralRules(lang).select(number) === "one";
  const text = one ? element.dataset.one : element.dataset.other;
  return text.replace("{}", new Intl.NumberFormat(lang).format(number));
}
