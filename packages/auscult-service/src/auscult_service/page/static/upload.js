/* Files are dropped and sent with their progress; a job is followed until it has ended. */
import { counted, say } from "./saying.js";

const form = document.getElementById("upload");
if (form) {
  const drop = document.getElementById("drop");
  const files = document.getElementById("files");
  const chosen = document.getElementById("chosen");
  const { lang } = document.documentElement;

  /** Return a file's size in kilobytes or megabytes, as the page's language writes it. */
  function size(bytes) {
    const [number, unit, digits] = bytes < 1e6 ? [Math.max(1, Math.round(bytes / 1e3)), "kilobyte", 0] : [bytes / 1e6, "megabyte", 1];
    const form = { style: "unit", unit, minimumFractionDigits: digits, maximumFractionDigits: digits };
    return new Intl.NumberFormat(lang, form).format(number);
  }

  function list() {
    chosen.replaceChildren(...[...files.files].slice(0, 12).map((file) => {
      const item = document.createElement("li");
      item.textContent = `${file.name}, ${size(file.size)}`;
      return item;
    }));
    if (files.files.length > 12) chosen.append(chosen.dataset.more.replace("{}", files.files.length - 12));
  }

  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    files.files = event.dataTransfer.files;
    list();
    say(counted(chosen, files.files.length));
  });
  files.addEventListener("change", list);

  function fail(text) {
    document.getElementById("sending").hidden = true;
    const trouble = document.getElementById("trouble");
    trouble.textContent = text;
    trouble.hidden = false;
    form.querySelector("button").disabled = false;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest();
    const sent = document.getElementById("sent");
    document.getElementById("sending").hidden = false;
    document.getElementById("trouble").hidden = true;
    request.upload.addEventListener("progress", (step) => {
      if (step.lengthComputable) sent.value = (100 * step.loaded) / step.total;
    });
    request.addEventListener("load", () => {
      if (request.status < 400 && request.responseURL) return location.assign(request.responseURL);
      const told = new DOMParser().parseFromString(request.responseText, "text/html");
      const main = told.querySelector("#main");
      fail(main ? [...main.querySelectorAll("h1, p:not(.note, :has(.button))")].map((each) => each.textContent.trim()).join(" ") : form.dataset.unsent);
    });
    request.addEventListener("error", () => fail(form.dataset.away));
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "text/html");
    request.send(new FormData(form));
    form.querySelector("button").disabled = true;
  });
}

/** Load a job's page again, and put what it says now in place of what it said. */
async function follow(address) {
  for (let wait = 400; ; wait = Math.min(3000, wait * 1.4)) {
    await new Promise((done) => setTimeout(done, wait));
    let told;
    try {
      const answer = await fetch(address);
      if (!answer.ok) continue;
      told = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("job");
    } catch { continue; }
    if (!told) return location.reload();
    document.getElementById("job").replaceWith(told);
    if (!told.dataset.follow) return say(told.querySelector("h1").textContent);
  }
}

const job = document.getElementById("job");
if (job?.dataset.follow) follow(job.dataset.follow);
