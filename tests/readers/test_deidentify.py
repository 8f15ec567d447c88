"""Taking out who documents are about: what is found is replaced, and sections keep their places."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.documents import Section
from auscult.documents.note_headings import note_sections
from auscult.errors import ConfigError
from auscult.readers.contract import DraftDocument
from auscult.readers.deidentify import Deidentifier, deidentified, open_deidentifier


class Digits:
    """Finds numbers, and the word behind "by"."""

    name = "digits"

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        for match in re.finditer(r"\d+|(?<=by )\w+", text):
            yield *match.span(), "<X>"


def draft_of(text: str, **other: object) -> DraftDocument:
    return DraftDocument(text=text, sections=note_sections(text), media_type="text/plain", **other)  # type: ignore[arg-type]


def test_a_detected_name_is_hidden_in_every_place() -> None:
    text = "Seen by Hagen.\n\nPLAN: as Hagen says. Hagenbach is a town."
    draft = deidentified(draft_of(text, title="Hagen's letter", key="k"), Digits())
    assert draft.text == "Seen by <X>.\n\nPLAN: as <X> says. Hagenbach is a town."
    assert draft.title == "<X>'s letter"
    section = Section("Of Hagen", text[:6], start=0, above=("Hagen 5",))
    (found,) = deidentified(DraftDocument(text=text, sections=[section], media_type=""), Digits()).sections
    assert (found.heading, found.above) == ("Of <X>", ("<X> <X>",))


@settings(max_examples=200, deadline=None)
@given(st.text("ab1 \n.", max_size=40), st.data())
def test_sections_keep_their_places(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    sections = [Section("", text[cuts[n] : cuts[n + 1]], start=cuts[n]) for n in (0, 2)]
    draft = deidentified(DraftDocument(text=text, sections=sections, media_type=""), Digits())
    assert draft.text == re.sub(r"\d+", "<X>", text)
    reached = 0
    for section, before in zip(draft.sections, sections, strict=True):
        assert section.start is not None
        assert section.start >= reached
        reached = section.start + len(section.text)
        assert draft.text[section.start : reached] == section.text
        # A number that a section begins or ends in is wholly in it or wholly out of it; all else stays.
        letters = re.sub(r"<X>|\d", "", section.text)
        assert letters == re.sub(r"\d", "", before.text)


def test_own_deidentifiers_are_loaded_by_import_path() -> None:
    made = open_deidentifier("own_deidentifier:Numbers")
    assert isinstance(made, Deidentifier)
    assert list(made.find("a 12")) == [(2, 4, "<NUMBER>")]


@pytest.mark.parametrize("named", ["nobody", "no_such_module:x", "json:nothing", "json:dumps"])
def test_anything_but_a_deidentifier_is_refused(named: str) -> None:
    with pytest.raises(ConfigError):
        open_deidentifier(named)
