"""Lines that stand around the text of pages, and lines that look like them and are text."""

from __future__ import annotations

import pytest

from auscult.readers.html.phrases import LONGEST, stands_around
from auscult.readers.html.reader import read_page


@pytest.mark.parametrize(
    "line",
    [
        *("Share this article", "Möchten Sie den Artikel teilen?", "120 Kommentare", "Comments are closed."),
        *("Mehr zum Thema:", "Vous aimerez aussi", "Czytaj też", "Foto: A. Maker/Agency", "Advertisement"),
    ],
)
def test_boilerplate_lines_are_recognised(line: str) -> None:
    assert stands_around(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "Comments",
            "More information",
            "Source: WHO",
            "Share needles with nobody",
            "Print",
            "Bild: Gelenk mit Gicht",
        ),
        *("Photosensitivity", "Call 112", f"Foto: {'x' * LONGEST}"),
    ],
)
def test_informative_lines_are_no_boilerplate(line: str) -> None:
    assert not stands_around(line)


def test_boilerplate_is_removed_from_pages_and_nothing_else() -> None:
    prose = "<p>Gout is a form of arthritis that is caused by crystals of uric acid in a joint.</p>" * 12
    around = "<p>Share this article</p><div class='donation-cta'>Give today</div><p>Foto: A. Maker</p>"
    inside = "<h2>Comments</h2><p>Drink water.</p><div class='teaser-text'>Attacks come at night.</div>"
    text = read_page(f"<title>Gout</title><h1>Gout</h1>{prose}{around}{inside}".encode()).text
    assert all(each not in text for each in ("Share this", "Give today", "Maker"))
    assert all(each in text for each in ("Comments", "Drink water.", "Attacks come at night."))
