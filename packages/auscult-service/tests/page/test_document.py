"""Reading a document: its shape, the answer that grows, curves that lead to sentences, a PDF's pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from auscult.understanding import Query
from page.conftest import Service
from page_service import Watched, follow

QUESTION = "How is Wilson disease treated?"
PDF = {"index": "ward", "f.format": "PDF"}


def open_first(watched: Watched, question: str = QUESTION, **asked: str) -> Any:
    page = watched.open(f"/?{urlencode({'q': question, **asked})}")
    follow(page.locator(".hit h2 a").first)
    return page


def marked(page: Any) -> list[int]:
    found: list[int] = page.locator(".s.in").evaluate_all("all => all.map(each => Number(each.id.slice(1)))")
    return found


def test_documents_show_their_sentences_verbatim_under_headings(watched: Watched, service: Service) -> None:
    page = open_first(watched)
    reader = service.medquad.index.reader
    document = reader.document(reader.document_rows[page.url.partition("/d/medquad/")[2].partition("?")[0]])
    shown = page.locator(".s").evaluate_all("all => all.map(each => each.textContent)")
    assert shown == [document.slice(sentence) for sentence in document.sentences]
    headings = page.locator("#text h2").evaluate_all("all => all.map(each => each.firstChild.data.trim())")
    assert headings == [passage.heading for passage in document.passages]
    items = sum(sentence.list_item and sentence.begins_paragraph for sentence in document.sentences)
    assert page.locator("#text li").count() == items > 0


def test_the_marked_answer_can_grow_and_shrink(watched: Watched, service: Service) -> None:
    page = open_first(watched)
    begun = marked(page)
    hit = service.medquad.search(service.medquad.understand(Query("", "", (), "", QUESTION)).query, 1)[0]
    text = "".join(page.locator(".s.in").evaluate_all("all => all.map(each => each.textContent)"))
    assert hit.text.strip().startswith(text[:20]) or text[:20] in hit.text
    page.get_by_role("button", name="Grow the answer").click()
    grown = marked(page)
    assert {*begun} < {*grown}
    assert f"{len(grown)} sentences" in page.locator("#length").inner_text()
    page.keyboard.press("-")
    assert marked(page) == begun
    page.keyboard.press("-")
    shrunk = marked(page)
    assert {*shrunk} < {*begun}
    page.reload()
    assert marked(page) == shrunk


def test_the_answer_grows_without_scripts_as_with_them(browser: Any, service: Service, watched: Watched) -> None:
    page = open_first(watched)
    address = page.url
    page.get_by_role("button", name="Grow the answer").click()
    expected = marked(page)
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce")
    plain = context.new_page()
    plain.goto(address)
    follow(plain.locator("#grow"))
    found = [int(each.get_attribute("id")[1:]) for each in plain.locator(".s.in").all()]
    context.close()
    assert found == expected


def test_a_peak_leads_to_its_sentence(watched: Watched) -> None:
    page = open_first(watched)
    peak = page.locator(".track.combined a").first
    number = peak.get_attribute("href").removeprefix("#s")
    box = peak.locator(".peak").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    sentence = page.locator(f"#s{number}")
    assert "here" in sentence.get_attribute("class")
    assert page.evaluate("document.activeElement.id") == f"s{number}"
    assert sentence.evaluate(
        "each => { const box = each.getBoundingClientRect(); return 0 < box.top && box.top < innerHeight }"
    )


def test_clicking_beside_a_peak_selects_that_heights_sentence(watched: Watched) -> None:
    page = open_first(watched)
    sentences = int(page.locator("#tracks").get_attribute("data-sentences"))
    drawn = page.locator(".track.aspect svg").bounding_box()
    peaks = [each.bounding_box() for each in page.locator(".track.aspect .peak").all()]
    # As far from any peak as can be: a click on one leads to its own sentence.
    heights = [drawn["y"] + drawn["height"] * part / 100 for part in range(30, 71)]
    height = max(heights, key=lambda at: min(abs(at - each["y"] - each["height"] / 2) for each in peaks))
    page.mouse.click(drawn["x"] + 2, height)
    here = int(page.locator(".s.here").get_attribute("id").removeprefix("s"))
    assert abs(here - int((height - drawn["y"]) / drawn["height"] * sentences)) <= 1


def test_three_curves_stand_beside_the_text(watched: Watched, service: Service) -> None:
    page = open_first(watched)
    assert page.locator(".track figcaption").all_inner_texts() == ["entity", "aspect", "both"]
    for path in page.locator(".track .line").all():
        assert path.get_attribute("d").count("L") >= 20
    assert page.locator(".peaks a").count() >= 2


def test_a_document_is_read_without_a_question_too(watched: Watched) -> None:
    page = open_first(watched)
    page.goto(page.url.partition("?")[0])
    assert page.locator(".s").count() > 20
    assert page.locator(".s.in, .track, .answer-bar").count() == 0


def test_a_pdf_shows_pages_with_boxes_at_answers(watched: Watched, service: Service) -> None:
    page = open_first(watched, "When should I call a doctor about gout?", **PDF)
    assert page.locator(".sheet").count() == 3
    page.locator(".sheet img").first.scroll_into_view_if_needed()
    assert page.locator(".sheet img").first.evaluate("each => each.decode().then(() => each.naturalWidth)") > 500
    reader = service.ward.index.reader
    row = reader.document_rows["gout guideline.pdf"]
    document, original = reader.document(row), reader.original(row)
    for number in marked(page):
        sentence = document.sentences[number]
        expected = original.boxes(sentence.start, sentence.end)
        drawn = page.locator(f"rect.b.in[data-s='{number}']").evaluate_all(
            "all => all.map(each => ['x', 'y', 'width', 'height'].map(name => Number(each.getAttribute(name))))"
        )
        assert len(drawn) == len(expected) > 0
        for (x, y, width, height), box in zip(drawn, expected, strict=True):
            assert abs(x + 1.5 - box.left) < 0.2
            assert abs(y + 0.75 - box.top) < 0.2
            assert abs(width - 3 - (box.right - box.left)) < 0.2
            assert abs(height - 1.5 - (box.bottom - box.top)) < 0.2
    # The overlay lies on the picture.
    image, overlay = (page.locator(f".sheet {tag}").first.bounding_box() for tag in ("img", "svg"))
    assert abs(image["width"] - overlay["width"]) < 1
    assert abs(image["height"] - overlay["height"]) < 1


def test_context_grows_and_a_click_shows_the_sentence(watched: Watched) -> None:
    page = open_first(watched, "When should I call a doctor about gout?", **PDF)
    before = page.locator("rect.b.in").count()
    page.keyboard.press("+")
    assert page.locator("rect.b.in").count() > before
    box = page.locator("rect.b").last
    number = box.get_attribute("data-s")
    box.scroll_into_view_if_needed()
    box.click()
    assert "here" in page.locator(f"#s{number}").get_attribute("class")


def test_the_original_is_saved_as_it_was(watched: Watched, service: Service) -> None:
    page = open_first(watched, "When should I call a doctor about gout?", **PDF)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download gout guideline.pdf").click()
    reader = service.ward.index.reader
    content = reader.original(reader.document_rows["gout guideline.pdf"]).content
    assert waiting.value.path().read_bytes() == content


def test_html_is_shown_with_its_headings_and_lists(watched: Watched) -> None:
    page = open_first(watched, "Which asthma inhaler is a reliever?", **{"index": "ward", "f.format": "HTML"})
    assert "Relievers" in page.locator("#text h3").first.inner_text()
    assert page.locator("#text li").count() == 2
    assert page.locator("#text nav").count() == 0
