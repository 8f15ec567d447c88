"""The page in French, Spanish and German: who gets which, the switch, numbers and dates, and no English left over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from starlette.requests import Request

from auscult_service.page.language import LANGUAGES, language_of, wording
from auscult_service.page.messages import Either, counted, message, message_in
from page.conftest import Service
from page.test_access_for_all import RULES, VIEWS, keep_a_search, path_of
from page.test_catalogues import TRANSLATED, messages
from page_service import Watched, follow

QUESTION = urlencode({"q": "How is Wilson disease treated?"})


@pytest.mark.parametrize(
    ("accepted", "cookie", "language"),
    [
        ("", "", "en"),
        ("de", "", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "", "de"),
        ("pt-BR,pt;q=0.9,es;q=0.8,en;q=0.7", "", "es"),
        ("en;q=0.3, fr;q=0.9", "", "fr"),
        ("fr;q=0, es", "", "es"),
        ("FR-ca", "", "fr"),
        ("ja, *;q=0.5", "", "en"),
        ("*", "", "en"),
        ("x" * 9_000, "", "en"),
        ("de;q=abc, fr", "", "fr"),
        ("fr", "de", "de"),
        ("fr", "tlh", "fr"),
        ("fr", "../de", "fr"),
    ],
)
def test_the_cookie_comes_before_the_browsers_languages(accepted: str, cookie: str, language: str) -> None:
    headers = [(b"accept-language", accepted.encode()), (b"cookie", f"language={cookie}".encode())]
    assert language_of(Request({"type": "http", "headers": headers})) == language


def test_numbers_dates_and_lists_follow_the_language() -> None:
    said = {language: wording(language) for language in LANGUAGES}
    assert [each.number(12_345) for each in said.values()] == ["12,345", "12\u202f345", "12.345", "12.345"]
    dates = [each.date("2021-07-14") for each in said.values()]
    assert dates == ["2021-07-14", "14 juil. 2021", "14 jul 2021", "14.07.2021"]
    assert [each.date("2021-07") for each in said.values()] == ["2021-07", "juil. 2021", "jul 2021", "Juli 2021"]
    for other in ("2021", "", "2021-13-40", "about 2020", "2021-07-14T08:00:00Z"):
        assert {each.date(other) for each in said.values()} == {other}
    either = Either(("A", "B"))
    assert [each.say(either) for each in said.values()] == ["A or B", "A ou B", "A o B", "A oder B"]
    assert said["de"].say(("A", message_in("aspect", "symptoms"))) == "A und Symptome"
    assert said["fr"].language_name("de-AT") == "allemand"
    assert said["fr"].language_name("unknown words") == "unknown words"


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", ["0 documents", "1 document", "2 documents"]),
        ("fr", ["0 document", "1 document", "2 documents"]),
        ("es", ["0 documentos", "1 documento", "2 documentos"]),
        ("de", ["0 Dokumente", "1 Dokument", "2 Dokumente"]),
    ],
)
def test_plural_forms_follow_the_language(language: str, forms: list[str]) -> None:
    said = [counted("%(num)s document", "%(num)s documents", number) for number in range(3)]
    assert [wording(language).say(each) for each in said] == forms


def test_values_are_put_into_words_once() -> None:
    hostile = message("called “%(name)s” here", name="100 % %(name)s <b>")
    assert wording("de").say(hostile) == "heißt hier „100 % %(name)s <b>“"


@pytest.fixture
def opened(request: pytest.FixtureRequest, browser: Any, service: Service) -> Iterator[Watched]:
    """A page in the language of the test's parameter, on a phone's width."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, bypass_csp=True, reduced_motion="reduce", locale=request.param
    )
    keep_a_search(context, service)
    seen = Watched(context.new_page(), service.base)
    yield seen
    context.close()


@pytest.mark.parametrize("opened", TRANSLATED, indirect=True)
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_is_left_in_english(opened: Watched, service: Service, view: str, request: Any) -> None:
    language = request.node.callspec.params["opened"]
    page = opened.open(path_of(service, view))
    assert page.locator("html").get_attribute("lang") == language
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # Only texts that no document has, and that differ.
    same = {text for _, english, said in messages(language) for text in english if text in said}
    english = {
        text
        for _, texts, _ in messages(language)
        for text in texts
        if "%(" not in text and len(text.split()) > 1 and text not in same
    }
    words = page.evaluate(
        """() => {
          const texts = [];
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walk.nextNode()) texts.push(walk.currentNode.data.trim());
          for (const each of document.querySelectorAll("[title], [aria-label], [placeholder], [alt]"))
            for (const name of ["title", "aria-label", "placeholder", "alt"])
              if (each.hasAttribute(name)) texts.push(each.getAttribute(name));
          return texts;
        }"""
    )
    assert len(words) > 20
    assert english.isdisjoint(words)


@pytest.mark.parametrize("opened", ["de"], indirect=True)
@pytest.mark.parametrize("view", ["home", "hits", "document", "patients", "compare", "login"])
def test_axe_finds_nothing_in_german(opened: Watched, service: Service, view: str) -> None:
    page = opened.open(path_of(service, view))
    page.locator(".languages summary").click()
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []


def test_the_switch_works_by_keyboard_and_stays(watched: Watched) -> None:
    page = watched.open(f"/?{QUESTION}")
    switch = page.locator(".languages summary")
    assert switch.get_attribute("aria-label") == "Language: English"
    switch.focus()
    page.keyboard.press("Enter")
    assert page.locator(".languages button").all_inner_texts() == [*LANGUAGES.values()]
    page.keyboard.press("Escape")
    assert page.locator(".languages .panel").is_hidden()
    assert switch.evaluate("each => each === document.activeElement")
    page.keyboard.press("Enter")
    for _ in range(2):
        page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("html").get_attribute("lang") == "fr"
    assert "Wilson" in page.locator("#q").input_value(), "the question stays"
    page.reload()
    assert page.get_by_role("button", name="Rechercher").is_visible()
    assert page.locator(".languages [aria-current]").text_content() == "Français"


def test_without_scripts_the_switch_works(browser: Any, service: Service) -> None:
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce", locale="en")
    page = context.new_page()
    page.goto(f"{service.base}/coverage?entity=Wilson+disease")
    page.locator(".languages summary").click()
    follow(page.get_by_role("button", name="Español"))
    assert page.url.endswith("/coverage?entity=Wilson+disease")
    assert page.locator("html").get_attribute("lang") == "es"
    assert "Tratamiento" in page.locator("tbody").inner_text()
    context.close()


@pytest.mark.parametrize("opened", ["de"], indirect=True)
def test_scripts_speak_the_language_of_the_page(opened: Watched, service: Service) -> None:
    page = opened.open(path_of(service, "document"))
    page.locator("#grow").click()
    number = page.locator("#length").inner_text().removesuffix(" Sätze")
    assert int(number) > 1
    assert page.locator("#said").text_content() == f"Die Antwort hat {number} Sätze."
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Hell"
    page = opened.open("/add")
    page.locator("#files").set_input_files([{"name": "a.txt", "mimeType": "text/plain", "buffer": b"a" * 1_200_000}])
    assert page.locator("#chosen li").inner_text() == "a.txt, 1,2 MB"


@pytest.mark.parametrize("opened", ["fr"], indirect=True)
def test_an_upload_says_in_french_what_was_skipped(opened: Watched, service: Service) -> None:
    page = opened.open("/add?index=ward")
    files = [("vide.txt", b""), ("cassé.pdf", b"%PDF-1.7 broken")]
    page.locator("#files").set_input_files(
        [{"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in files]
    )
    page.get_by_role("button", name="Ajouter", exact=True).click()
    page.locator("h1", has_text="Rien n’a été ajouté").wait_for()
    assert "Aucun des fichiers n’a pu être ajouté." in page.locator("#job .similar").inner_text()
    rows = dict(
        page.locator("tbody tr").evaluate_all("all => all.map(row => [...row.cells].map(each => each.innerText))")
    )
    assert rows["vide.txt"].startswith("Le fichier ne contient pas de texte. empty file")
    assert rows["cassé.pdf"].startswith("Le fichier est endommagé ou incomplet. broken")
    assert page.locator("tbody span[lang=en]").count() == 2


@pytest.mark.parametrize("opened", ["de"], indirect=True)
def test_hits_explain_themselves_in_german(opened: Watched) -> None:
    page = opened.open(f"/?{QUESTION}")
    assert page.locator(".hit .chance").first.inner_text() in ("Antwort", "mögliche Antwort")
    reasons = page.locator(".hit").first.locator(".reason").all_inner_texts()
    assert reasons[0] == "nennt Wilson Disease im Titel"
    assert page.locator("details.aspect summary b").inner_text() == "Behandlung"
    page = opened.open("/?q=What+is+the+capital+of+Mongolia%3F")
    assert "Vielleicht beantwortet hier nichts diese Frage" in page.locator(".nothing").inner_text()
    page = opened.open("/?index=clinic&q=gout&assertion=negated")
    assert page.locator(".hit .assertion").first.inner_text() == "verneint"


def test_the_api_stays_english(service: Service) -> None:
    with httpx.Client(base_url=service.base, timeout=60, headers={"Accept-Language": "de"}) as client:
        client.cookies.set("language", "de")
        told = client.post("/api/v1/search", json={"question": "zyxwv", "index": "medquad"}).json()
        assert "language" not in told
        assert client.get("/api/v1/jobs/unknown").json()["error"]["message"].startswith("expected the id of a job")
        assert (
            client.get("/export.csv", params={"q": "gout"}).text.removeprefix("\ufeff").startswith("rank,probability")
        )
        shown = client.get("/jobs/unknown", headers={"Accept": "text/html"}).text
        assert "Unter dieser Adresse gibt es keinen Upload von Ihnen." in shown
        suggestions = client.get("/complete", params={"q": "drepanoc", "index": "medquad"}).json()["options"]
        assert suggestions[0]["how"] == "auch drepanocytosis genannt"


def test_other_languages_leave_the_choice_to_the_browser(service: Service) -> None:
    with httpx.Client(base_url=service.base, timeout=60) as client:
        answer = client.get("/language", params={"to": "fr", "next": "/saved"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/saved")
        assert client.cookies["language"] == "fr"
        answer = client.get("/language", params={"to": "fr", "next": "//evil.example"})
        assert answer.headers["location"] == "/"
        client.get("/language", params={"to": "klingon"})
        assert "language" not in client.cookies
