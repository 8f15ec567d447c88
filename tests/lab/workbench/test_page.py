"""The workbench's page, looked at as its reader does: in a real Chromium, from a file, without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import sync_playwright

from auscult.errors import ConfigError
from auscult_lab.evaluation.published_figures import published_tables
from auscult_lab.evaluation.records import EvaluationRecord, GroupRecord
from auscult_lab.workbench.assemble import Answer, AskedQuestion, ReportContent
from auscult_lab.workbench.conclusion import conclude
from auscult_lab.workbench.page import page_data, write_page
from needs import Needs

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-quic",
]  # fmt: skip
HOSTILE = '</script><img src=x onerror="window.hacked = 1"><script>window.hacked = 2</script><!-- & \'" \u2028'
WORDS = ("asthma", "gout", "lupus", "rabies", "mumps", "scurvy", "tetanus", "measles", "cholera", "anthrax", "plague")


def record(model: str, average: float, ms: float, **fields: Any) -> EvaluationRecord:
    measures = {"AP": average, "MAP": average, "nDCG@10": average + 0.05, "P@1": average - 0.1, "R@5": average + 0.1}
    by_type = [
        GroupRecord(name="what", queries=7, measures={"AP": average + 0.02, "P@1": average}),
        GroupRecord(name="how", queries=4, measures={"AP": average - 0.03, "P@1": average}),
    ]
    settings: dict[str, Any] = {
        "corpus": "ours", "protocol": "rerank", "track": "adapted", "queries": 11, "seed": 0, "version": "0.1.0",
        "revision": "", "hardware": "2 cores", "date": "2026-11-21T10:00:00+00:00", "by_question_type": by_type,
        "intervals": {name: (value - 0.04, value + 0.04) for name, value in measures.items()},
    }  # fmt: skip
    return EvaluationRecord(model=model, measures=measures, ms_per_query=ms, **(settings | fields))


def trained(seconds: float) -> dict[str, Any]:
    history = [{"epoch": each, "loss": 1 / (each + 1), "validation_RR": 0.4 + each / 20} for each in range(4)]
    return {"seconds": seconds, "parameters": 2_000_000, "history": history, "best_epoch": 2}


def records() -> tuple[EvaluationRecord, ...]:
    return (
        record("BM25", 0.41, 0.08, track="untrained"),
        record("KNRM", 0.62, 4.0, training=trained(120), better_than={"AP": ["BM25"], "P@1": ["BM25"]}),
        record("CK-KNRM", 0.65, 400.0, training=trained(2400), better_than={"AP": ["BM25"]}),
    )


def question(number: int, word: str) -> AskedQuestion:
    """KNRM has the relevant passage first for even numbers, BM25 for odd ones; CK-KNRM always."""
    title = HOSTILE if number == 3 else f"About {word}"
    text = f"{HOSTILE} {word}" if number == 3 else f"🩺 A text on {word} for its patients."
    start = text.rindex(word)
    right = Answer(f"{word}-1", title, text, 9.5, 2, ((start, start + len(word)),))
    wrong = Answer(f"{word}-2", "Elsewhere", "Nothing of the kind.", 3.25, 0, ())
    orders = {"BM25": number % 2 == 1, "KNRM, adapted": number % 2 == 0, "CK-KNRM, adapted": True}
    return AskedQuestion(
        query_id=f"q{number}",
        text=f"What helps against {HOSTILE if number == 3 else word}?",
        answers={label: (right, wrong) if first else (wrong, right) for label, first in orders.items()},
        measures={label: {"AP": 1.0 if first else 0.5, "P@1": float(first)} for label, first in orders.items()},
        relevant=1,
    )


def content(**changes: Any) -> ReportContent:
    settings: dict[str, Any] = {
        "title": f"Our hotline {HOSTILE}",
        "counts": {"questions": 1100, "passages": 22},
        "warnings": (f"Two passages are {HOSTILE}.",),
        "records": records(),
        "questions": tuple(question(number, word) for number, word in enumerate(WORDS)),
        "published": tuple(table for corpus in ("healthqa", "nfcorpus") for table in published_tables(corpus)),
        "version": "0.1.0",
        "date": "2026-11-21T10:00:00+00:00",
    }
    return ReportContent(**(settings | changes))


class Watched:
    """A page with what went wrong on it, and every address it asked for."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page, self.path = page, path
        self.faults: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, **state: str) -> Any:
        self.page.goto("about:blank")
        self.page.goto(f"{self.path.as_uri()}#{urlencode(state)}")
        return self.page

    def answers(self, side: int) -> list[str]:
        found: list[str] = self.page.locator(".sides > section").nth(side).locator("li h5").all_inner_texts()
        return found


@pytest.fixture(scope="module")
def browser(needs: Needs) -> Iterator[Any]:
    with sync_playwright() as running:
        started = running.chromium.launch(executable_path=needs.chromium(), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "new folder" / "report.html"
    write_page(content(), path)
    return path


@pytest.fixture
def watched(browser: Any, report: Path) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce", offline=True)
    seen = Watched(context.new_page(), report)
    yield seen
    context.close()
    assert seen.faults == []
    assert {address.partition(":")[0] for address in seen.asked} <= {"file", "about"}


def models_in_order(page: Any) -> list[str]:
    return [text.split()[0] for text in page.locator("#results-table tbody th").all_inner_texts()]


def test_table_shows_all_figures_and_marks_the_best(watched: Watched) -> None:
    page = watched.open()
    assert models_in_order(page) == ["CK-KNRM", "KNRM", "BM25"]
    first = page.locator("#results-table tbody tr").first.inner_text()
    assert all(figure in first for figure in ("65.0", "(best)", "61.0 – 69.0", "40", "2,000,000", "400"))
    best = page.locator("#results-table .best")
    assert best.count() == 4
    assert page.locator("#results-table tbody tr").nth(1).locator("sup").all_inner_texts() == ["c", "c"]
    assert "Holm's correction" in page.locator("#results-note").inner_text()


def test_the_table_sorts_by_any_column(watched: Watched) -> None:
    page = watched.open()
    page.locator("#sort-ms").click()
    assert models_in_order(page) == ["BM25", "KNRM", "CK-KNRM"]
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.id") == "sort-ms"
    page.keyboard.press("Enter")
    assert models_in_order(page) == ["CK-KNRM", "KNRM", "BM25"]
    page.locator("#sort-parameters").click()
    assert models_in_order(page)[0] == "BM25"
    page.get_by_role("button", name="R@5", exact=True).click()
    assert page.locator("#sort-R\\@5").count() == 0


def test_browsing_shows_each_models_answers_with_highlights(watched: Watched) -> None:
    page = watched.open(a="KNRM", b="BM25", question="q1")
    assert page.locator("#question h3").inner_text() == "What helps against gout?"
    assert watched.answers(0) == ["Elsewhere", "About gout"]
    assert watched.answers(1) == ["About gout", "Elsewhere"]
    # The emoji before it is two units of a JavaScript string.
    assert page.locator("#question mark").all_inner_texts() == ["gout", "gout"]
    assert page.locator(".answers li.relevant h5").all_inner_texts() == ["About gout", "About gout"]
    assert "grade 2" in page.locator(".relevant .badge").first.inner_text()
    assert "place 1 in the other" in page.locator(".sides > section").first.locator("li").nth(1).inner_text()
    assert page.locator("#question tbody tr").all_inner_texts() == ["AKNRM\t50.0\t0.0", "BBM25\t100.0\t100.0"]
    page.get_by_label("Model A").select_option("CK-KNRM")
    assert watched.answers(0) == ["About gout", "Elsewhere"]


def test_questions_are_searched_filtered_and_walked_through(watched: Watched) -> None:
    page = watched.open(a="KNRM", b="BM25")
    page.get_by_label("Search the questions").fill("HELPS plague")
    assert page.locator("#found").inner_text() == "1 of 11 questions"
    page.get_by_label("Search the questions").fill("")
    page.locator("#shown").select_option("a-wins")
    assert page.locator("#found").inner_text() == "6 of 11 questions"
    page.locator("#question").focus()
    page.keyboard.press("ArrowRight")
    assert "lupus" in page.locator("#question h3").inner_text()
    page.get_by_role("button", name="Next").click()
    assert "mumps" in page.locator("#question h3").inner_text()
    page.keyboard.press("ArrowLeft")
    assert "lupus" in page.locator("#question h3").inner_text()
    page.get_by_label("Search the questions").fill("no such word")
    assert "No question fits" in page.locator("#question").inner_text()


def test_the_address_restores_the_view(watched: Watched) -> None:
    page = watched.open()
    page.locator("#sort-P\\@1").click()
    page.get_by_label("Model B").select_option("BM25")
    page.locator("#choose-q4").click()
    page.get_by_role("button", name="theme").click()
    address, seen = page.url, page.locator("main").inner_text()
    page.goto("about:blank")
    page.goto(address)
    assert page.locator("main").inner_text() == seen
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert "mumps" in page.locator("#question h3").inner_text()
    watched.open(a="no such model", sort="no such column", question="q99", group="x", by="x", curve="x", show="x")
    assert page.locator("#question h3").inner_text() == "What helps against asthma?"


def test_parts_are_reached_without_losing_the_view(watched: Watched) -> None:
    page = watched.open(question="q2")
    page.get_by_role("link", name="Questions").click()
    # It scrolls smoothly, and takes its time on a busy machine.
    page.wait_for_function("document.querySelector('#questions h2').getBoundingClientRect().top < 400")
    page.wait_for_url("**q2**")
    assert "lupus" in page.locator("#question h3").inner_text()


def test_curves_and_costs_show_their_values(watched: Watched) -> None:
    page = watched.open()
    assert page.locator("#curves polyline").count() == 2
    page.locator("#curves svg").scroll_into_view_if_needed()
    page.locator("#curves .chosen").first.hover(force=True)
    assert page.locator("#curves .tip").inner_text() == "CK-KNRM, epoch 3: 50.0"
    page.locator(".legend").get_by_role("button", name="CK-KNRM").click()
    assert page.locator("#curves polyline").count() == 1
    page.locator("#curve").select_option("loss")
    assert page.locator("#curves svg").get_attribute("aria-label") == "Training loss after each epoch of training"
    assert page.locator("#scatter .name").all_text_contents() == ["CK-KNRM", "KNRM", "BM25"]
    page.locator("#cost").select_option("minutes")
    assert "none" in page.locator("#scatter svg").text_content()
    across = [float(page.locator("#scatter .point").nth(each).get_attribute("cx")) for each in range(3)]
    assert across[0] > across[1] > across[2]


def test_groups_are_shown_with_their_best(watched: Watched) -> None:
    page = watched.open()
    assert page.locator("#groups-table thead th").all_inner_texts() == ["Model", "what\n7", "how\n4"]
    assert page.locator("#groups-table .best").all_inner_texts() == ["67.0", "62.0"]


def test_published_figures_are_one_click_away(watched: Watched) -> None:
    page = watched.open()
    page.get_by_role("button", name="Published figures").click()
    dialog = page.get_by_role("dialog", name="Published figures")
    text = dialog.inner_text()
    for table in content().published:
        assert table.table in text
        assert all(row.model in text for row in table.rows)
    assert "Ming Zhu, Aman Ahuja, Wei Wei, Chandan K. Reddy" in text
    assert dialog.locator("tr", has_text="in this report").count() >= 2
    page.keyboard.press("Escape")
    # The browser tells the page of the closing in a task of its own, after the key.
    page.wait_for_function("!location.hash.includes('published')")
    assert not dialog.is_visible()


def test_hostile_text_is_text(watched: Watched) -> None:
    page = watched.open(question="q3")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    seen = " ".join(HOSTILE.split())
    for place in ("h1", ".warnings", "#question h3", ".relevant h5", ".relevant p:last-child"):
        assert seen in " ".join(page.locator(place).first.text_content().split()), place
    assert page.locator("#question mark").all_inner_texts() == ["rabies", "rabies"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone(browser: Any, report: Path, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, color_scheme=scheme, offline=True, reduced_motion="reduce"
    )
    page = Watched(context.new_page(), report).open(question="q3")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Published figures").click()
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= 360
    context.close()


# The rules of WCAG that a program can check here: names, unique ids, table heads, contrast of the text on its ground.
AUDIT = """() => {
  const faults = [];
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  for (const id of ids) if (ids.filter((other) => other === id).length > 1) faults.push(`id twice: ${id}`);
  for (const field of document.querySelectorAll("select, input"))
    if (!field.labels.length) faults.push(`no label: ${field.id}`);
  for (const each of document.querySelectorAll("button, a, summary"))
    if (!each.textContent.trim()) faults.push(`no name: ${each.outerHTML}`);
  for (const each of document.querySelectorAll("[role=region], [role=img], [role=group]"))
    if (!each.getAttribute("aria-label")) faults.push(`no label: ${each.outerHTML.slice(0, 80)}`);
  for (const each of document.querySelectorAll("th")) if (!each.scope) faults.push(`no scope: ${each.textContent}`);
  for (const each of document.querySelectorAll(".scroll")) if (each.tabIndex !== 0) faults.push("no key scrolls it");
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colours) => {
    pen.clearRect(0, 0, 1, 1);
    for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
    const parts = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = document.querySelectorAll("p, th, td, h1, h2, h3, h4, h5, button:enabled, dt, dd, label, mark, sup");
  for (const each of texts) {
    if (!each.textContent.trim() || !each.checkVisibility() || each.closest("[hidden], .unseen")) continue;
    const grounds = [];
    for (let at = each; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor);
    const [ground, ink] = [light(grounds), light([...grounds, getComputedStyle(each).color])];
    const contrast = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
    if (contrast < 4.5) faults.push(`${contrast.toFixed(2)}: ${each.tagName} ${each.textContent.slice(0, 30)}`);
  }
  return faults;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible(watched: Watched, theme: str) -> None:
    page = watched.open(theme=theme, question="q1")
    assert page.evaluate(AUDIT) == []
    assert page.locator("main").count() == page.locator("h1").count() == page.locator("html[lang]").count() == 1
    page.get_by_role("button", name="Published figures").click()
    assert page.evaluate(AUDIT) == []


def test_questions_are_listed_a_hundred_at_a_time(browser: Any, tmp_path: Path) -> None:
    many = tuple(question(number, f"{WORDS[number % 11]}{number}") for number in range(2000))
    write_page(content(questions=many), tmp_path / "report.html")
    context = browser.new_context(offline=True, reduced_motion="reduce")
    page = Watched(context.new_page(), tmp_path / "report.html").open()
    assert page.locator("#question-list li").count() == 100
    page.get_by_role("button", name="Show more").click()
    assert page.locator("#question-list li").count() == 200
    page.get_by_label("Search the questions").fill("gout1871")
    assert "gout1871" in page.locator("#question h3").inner_text()
    context.close()


def test_report_of_one_model_omits_empty_parts(browser: Any, tmp_path: Path) -> None:
    lone = record("BM25", 0.4, 0.1, track="untrained", by_question_type=[], intervals={})
    write_page(content(records=(lone,), questions=(), published=()), tmp_path / "report.html")
    context = browser.new_context(offline=True, reduced_motion="reduce")
    seen = Watched(context.new_page(), tmp_path / "report.html")
    page = seen.open()
    assert [
        page.locator(f"#{part}").is_visible() for part in ("learning", "groups", "questions", "open-published")
    ] == [False] * 4
    assert page.locator(".bar a:visible").all_inner_texts() == ["Results", "Costs"]
    context.close()
    assert seen.faults == []


class Tags(HTMLParser):
    """Elements that are open; a page whose tags do not match is no valid one."""

    EMPTY = {"meta", "input", "link", "br"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.faults += [f"{tag}: {name}" for name, _ in attributes if name in ("src", "onclick", "onerror")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")


def test_report_is_well_formed_and_self_contained(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert (tags.open, tags.faults) == ([], [])
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    json.loads(data[1])
    outside = set(re.findall(r"https?://[^\s\"'<]+", page.replace(data[1], "")))
    assert outside == {"http://www.w3.org/2000/svg"}


def test_a_passage_is_stored_once() -> None:
    data = page_data(content())
    assert len(data["passages"]) == len(set(data["passages"])) == 2 * len(WORDS)
    assert all(len(each["candidates"]) == 2 for each in data["questions"])


def test_values_that_are_no_numbers_are_left_out() -> None:
    history = [{"loss": 1.0, "validation_RR": 0.5}, {"loss": float("nan")}]
    data = page_data(content(records=(record("KNRM", 0.5, 1.0, training={"history": history}),)))
    assert data["models"][0]["curves"] == {"loss": [1.0, None], "validation_RR": [0.5, None]}


def test_a_report_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least one evaluated model"):
        write_page(content(records=()), tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_an_unrecorded_training_cost_is_unknown_not_zero() -> None:
    untrained, _, _ = records()
    shipped = record("CDV", 0.3, 1.0, track="zero-shot", training={"parameters": 5})
    models = page_data(content(records=(untrained, shipped)))["models"]
    costs = {each["name"]: (each["minutes"], each["parameters"]) for each in models}
    assert costs == {"BM25": (0.0, 0.0), "CDV": (None, 5.0)}


def test_conclusion_recommends_the_cheapest_not_significantly_worse() -> None:
    headline, significance, advice, caution = conclude(records())
    assert headline == "CK-KNRM ranks best: MAP 65.0 % (95 % interval 61.0 to 69.0)."
    assert significance == "It is significantly better than 1 of 2 others, but not than KNRM."
    assert advice == (
        "Take KNRM unless 3.0 points of MAP, which may be chance, are worth 400 ms instead of 4 ms per query "
        "and 40 instead of 2 minutes of training."
    )
    assert caution.startswith("With 11 test questions")


def test_short_trainings_show_seconds_and_equal_ones_nothing() -> None:
    bm25, _, slow = records()
    for seconds, told in ((20, " and 20 instead of 0 seconds of training."), (0.2, " per query.")):
        best = slow.model_copy(update={"training": trained(seconds), "better_than": {}})
        assert conclude((bm25, best))[2].endswith(told)


def test_texts_follow_script_direction_and_long_ids_fit(browser: Any, tmp_path: Path) -> None:
    arabic_question = question(0, "asthma")
    arabic = Answer("p" * 90, "الربو", "الربو مرض", 1.0, 1, ())
    ranked = dict.fromkeys(arabic_question.answers, (arabic,))
    arabic_question = replace(arabic_question, query_id="q" * 90, text="ما هو الربو؟", answers=ranked)
    write_page(content(questions=(arabic_question,)), tmp_path / "report.html")
    context = browser.new_context(viewport={"width": 360, "height": 740}, offline=True, reduced_motion="reduce")
    page = Watched(context.new_page(), tmp_path / "report.html").open()
    for place in ("#question h3", "#question-list span", ".answers h5", ".answers p:last-child"):
        assert page.locator(place).first.evaluate("each => getComputedStyle(each).direction") == "rtl", place
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    heading = page.locator("#question > .heading p")
    assert heading.evaluate("each => each.scrollWidth <= each.clientWidth && each.getBoundingClientRect().right <= 360")
    page.get_by_role("button", name="Published figures").click()
    captions = page.locator("caption span")
    assert all(
        captions.nth(each).evaluate(
            "each => each.getBoundingClientRect().right <= each.closest('.scroll').getBoundingClientRect().right"
        )
        for each in range(captions.count())
    )
    context.close()


def test_conclusion_names_winner_and_who_leads_another_measure() -> None:
    bm25, knrm, _ = records()
    winner = knrm.model_copy(update={"queries": 500})
    rival = bm25.model_copy(update={"measures": bm25.measures | {"nDCG@10": 0.9}})
    assert conclude((rival, winner)) == (
        "KNRM ranks best: MAP 62.0 % (95 % interval 58.0 to 66.0).",
        "It is significantly better than BM25.",
        "By nDCG@10, BM25 is ahead of it (90.0 % against 67.0 %).",
        "Take KNRM: no other model is as good.",
    )
    alike = conclude((bm25, knrm.model_copy(update={"better_than": {}})))
    assert alike[1:3] == (
        "No other model is significantly worse.",
        "Take BM25 unless 21.0 points of MAP, which may be chance, are worth 4 ms instead of 0.08 ms per query "
        "and 2 instead of 0 minutes of training.",
    )
