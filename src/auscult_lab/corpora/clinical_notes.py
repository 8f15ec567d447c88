"""Clinical notes that may be shared: MTSamples, ACI-Bench, MTS-Dialog and PriMock57.

Four record formats, told apart by their fields:

- MTSamples `{"note_id", "sample_name", "description", "medical_specialty": [...], "sections": [...]}`;
- ACI-Bench `{"note_id", "split", "chief_complaint", "sections": [...], "dialogue"}`;
- MTS-Dialog `{"id", "split", "section_header", "section_text", "dialogue"}`: one section a record;
- PriMock57 `{"note_id", "presenting_complaint", "note"}`: free text, whose headings are looked for.

No source says which notes are of one patient, so each note's `patient` (by which notes are split) is its own id.
Dialogues are not notes and are left out. ACI-Bench, MTS-Dialog and PriMock57 are CC BY 4.0; the reports of
MTSamples come without a formal licence.
"""

from __future__ import annotations

from auscult.documents import Section
from auscult.documents.note_headings import note_sections
from auscult.files.records import Record
from auscult.sources.sectioned import Draft, SectionedCorpus, headed_sections


class ClinicalNotesCorpus(SectionedCorpus):
    """Notes of any of the four formats, also mixed; the splits of the source, "train" where it has none."""

    name = "clinical_notes"

    def draft(self, record: Record) -> Draft:
        """Read one note of whichever format."""
        if "section_text" in record.fields:
            return _mts_dialog(record)
        if "note" in record.fields:
            return _primock(record)
        return _mtsamples(record) if "sample_name" in record.fields else _aci_bench(record)


def _mtsamples(record: Record) -> Draft:
    return Draft(
        doc_id=record.text("note_id"),
        title=record.text("sample_name"),
        sections=headed_sections(record),
        source="MTSamples",
        metadata={
            "description": record.text("description", ""),
            "medical_specialty": "; ".join(record.texts("medical_specialty")),
            "patient": record.text("note_id"),
        },
    )


def _aci_bench(record: Record) -> Draft:
    return Draft(
        doc_id=record.text("note_id"),
        title=record.text("chief_complaint", ""),
        sections=headed_sections(record),
        split=record.text("split", "train"),
        source="ACI-Bench",
        metadata={"subset": record.text("subset", ""), "patient": record.text("note_id")},
    )


def _mts_dialog(record: Record) -> Draft:
    return Draft(
        doc_id=record.text("id"),
        title="",
        sections=[Section(record.text("section_header", ""), record.text("section_text"))],
        split=record.text("split", "train"),
        source="MTS-Dialog",
        metadata={"patient": record.text("id")},
    )


def _primock(record: Record) -> Draft:
    return Draft(
        doc_id=record.text("note_id"),
        # What the patient said first is a quotation, no name of what the note is about.
        title="",
        sections=note_sections(record.text("note"), bare_headings=False),
        text=record.text("note"),
        source="PriMock57",
        metadata={"presenting_complaint": record.text("presenting_complaint", ""), "patient": record.text("note_id")},
    )
