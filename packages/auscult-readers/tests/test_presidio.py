"""De-identification with Presidio: names, contacts, dates and numbers are replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.documents.note_headings import note_sections
from auscult.readers.contract import DraftDocument
from auscult.readers.deidentify import deidentified, open_deidentifier
from auscult_readers.presidio import PresidioDeidentifier
from needs import Needs

NOTE = """Patient: Anna Maria Weber-Schulz
DOB: 12.03.1961   MRN: 0034512-7

HISTORY:
Dr. von Hagen saw Mrs. Weber on 3 May 2024 and March 4, 2023. SSN 536-90-4399.
Call (030) 1234567 or anna.weber@example.org, http://weber.example.org/x.

PLAN:
Blood pressure 120/80, HbA1c 7.2 %, dose 2.5 mg. Weber-Schulz returns 2024-06-01.
"""
SECRETS = ("Anna", "Maria", "Weber", "Schulz", "Hagen", "1961", "0034512", "3 May", "March", "1234567", "example.org",
           "536-90", "2024", "2023")  # fmt: skip


def draft_of(text: str, **other: object) -> DraftDocument:
    return DraftDocument(text=text, sections=note_sections(text), media_type="text/plain", **other)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def presidio() -> PresidioDeidentifier:
    return PresidioDeidentifier()


def test_names_contacts_dates_and_numbers_are_found(presidio: PresidioDeidentifier) -> None:
    told = {"author": "Dr. Hagen", "patient": "0034512", "names": "Maria Weber\nDr. Hagen", "language": "en"}
    draft = deidentified(draft_of(NOTE, title="Letter on Mrs. Weber", url="u", metadata=told, content=b"x"), presidio)
    everything = repr(draft)
    assert not [secret for secret in SECRETS if secret in everything]
    assert [(section.heading, section.text) for section in draft.sections][-1] == (
        "PLAN",
        "Blood pressure 120/80, HbA1c 7.2 %, dose 2.5 mg. <NAME> returns <DATE>.",
    )
    assert draft.title == "Letter on Mrs. <NAME>"
    assert (dict(draft.metadata), draft.content, draft.url) == ({"language": "en"}, None, "")
    assert len(draft.runs) == len(draft.words) == 0


def test_presidio_is_opened_by_its_name(presidio: PresidioDeidentifier) -> None:
    opened = open_deidentifier("presidio")
    assert isinstance(opened, PresidioDeidentifier)
    assert opened.name == presidio.name == "presidio"


def test_persons_of_a_spacy_pipeline_are_found(tmp_path: Path, needs: Needs) -> None:
    needs.package("spacy")
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Okafor"}])
    pipeline.to_disk(tmp_path / "pipeline")
    opened = open_deidentifier(f"presidio:{tmp_path / 'pipeline'}")
    assert next(opened.find("She saw Okafor about gout.")) == (8, 14, "<NAME>")
