"""Slides, sheets, OpenDocument files and books: what is read, by the headings that it stands below."""

from __future__ import annotations

import io
import zipfile

import pytest

from auscult.files.limits import VARIABLE
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.registry import Registry
from good_files import zipped
from small_office_files import (
    GOUT,
    book,
    compound,
    old_workbook,
    open_sheet,
    open_slides,
    open_text,
    slides,
    steady,
    workbook,
)


def read(content: bytes) -> list[DraftDocument]:
    # Not by its name: people rename files.
    file = SourceFile("file.bin", content)
    return list(Registry().reader_of(file).read(file))


def headed(draft: DraftDocument) -> list[tuple[str, ...]]:
    paths = draft.heading_paths or [()] * len(draft.sections)
    return [(*path, section.heading) for path, section in zip(paths, draft.sections, strict=True)]


def changed(content: bytes, name: str, old: str, new: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    assert old.encode() in members[name]
    return zipped({**members, name: members[name].replace(old.encode(), new.encode())})


TABLE = "Medicine: Allopurinol | Dose: 100 mg\nMedicine: Colchicine | Dose: 500 µg"


def test_a_slide_is_a_section_below_its_number() -> None:
    (draft,) = read(slides())
    assert draft.title == "Gout"
    assert headed(draft) == [("Slide 1", "Gout"), ("Slide 2", "Treatment"), ("Slide 2", "Notes"), ("Slide 3",)]
    first, second, notes, third = (section.text for section in draft.sections)
    assert first == GOUT
    assert second == f"- rest the joint\n- cool it\n  - with ice\n\n{TABLE}\n\nMarch | Urate: 540\nApril | Urate: 360"
    assert (notes, third) == ("Tell them to drink water.", "Ask your doctor.")


def test_slides_follow_presentation_order_instead_of_file_order() -> None:
    with zipfile.ZipFile(io.BytesIO(slides())) as archive:
        told = archive.read("ppt/presentation.xml").decode()
    first, last = (told.split("<p:sldId ")[n].split("/>")[0] for n in (1, 3))
    swapped = told.replace(first, "x").replace(last, first).replace("<p:sldId x/>", f"<p:sldId {last}/>")
    (draft,) = read(changed(slides(), "ppt/presentation.xml", told, swapped))
    assert draft.sections[0].text == "Ask your doctor."


def test_struck_out_words_of_slides_are_omitted() -> None:
    name = "ppt/slides/slide3.xml"
    struck = changed(
        slides(), name, "<a:r><a:t>Ask", '<a:r><a:rPr strike="sngStrike"/><a:t>Do not ask</a:t></a:r><a:r><a:t>Ask'
    )
    (draft,) = read(struck)
    assert draft.sections[-1].text == "Ask your doctor."


@pytest.mark.parametrize("content", [old_workbook(), open_sheet()], ids=["xls", "ods"])
def test_sheets_are_sections_whose_rows_repeat_the_header(content: bytes) -> None:
    (draft,) = read(content)
    assert [(each.heading, each.text) for each in draft.sections] == [("Medicines", TABLE)]


def test_sheets_with_titles_dates_numbers_and_merged_cells() -> None:
    (draft,) = read(workbook())
    assert [(each.heading, each.text) for each in draft.sections] == [
        ("Medicines", f"Medicines for gout\n{TABLE}"),
        (
            "Values",
            "Date: 2024-03-05 | Analyte: Potassium | Value: 5.9\nDate: 2024-03-05 | Analyte: Sodium | Value: 140",
        ),
    ]


def sheet_of(*rows: tuple[object, ...]) -> str:
    from openpyxl import Workbook

    made = Workbook()
    for row in rows:
        made.active.append(row)
    buffer = io.BytesIO()
    made.save(buffer)
    (draft,) = read(buffer.getvalue())
    return draft.sections[0].text


def test_rows_after_a_blank_keep_only_matching_headers() -> None:
    text = sheet_of(("Drug", "Dose"), ("A", "1 mg"), (), ("B", "2 mg"), (), ("x", "y", "z"))
    assert text == "Drug: A | Dose: 1 mg\nDrug: B | Dose: 2 mg\nx | y | z"


def test_a_sheet_of_numbers_has_no_header() -> None:
    assert sheet_of(("Na", 140), ("K", 5.9)) == "Na | 140\nK | 5.9"


def test_opendocument_text_keeps_headings_lists_tables_and_notes() -> None:
    (draft,) = read(open_text())
    assert draft.title == "Gout"
    assert headed(draft) == [("",), ("Treatment",), ("Footnotes",)]
    first, second, notes = (section.text for section in draft.sections)
    assert first == f"{GOUT}\n\nPlatelets 10^9/L."
    assert second == f"- rest the joint\n- cool it\n\n{TABLE}"
    assert notes == "Count again."


def test_opendocument_slides_are_headed_by_their_title() -> None:
    (draft,) = read(open_slides())
    assert headed(draft) == [("Slide 1", "Gout")]
    assert draft.sections[0].text == GOUT


def test_flat_opendocument_text_is_read() -> None:
    flat = (
        "<?xml version='1.0'?><office:document xmlns:office='o' xmlns:text='t' xmlns:table='b' "
        "office:mimetype='application/vnd.oasis.opendocument.text'><office:body><office:text>"
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        f"<text:h text:outline-level='1'>Gout</text:h><text:p>{GOUT}<office:annotation><text:p>gone</text:p>"
        "</office:annotation></text:p><text:p>one<text:s/>two<text:line-break/>three</text:p></office:text></office:body>"
        "</office:document>"
    )
    (draft,) = read(flat.encode())
    assert draft.text == f"Gout\n\n{GOUT}\n\none two\nthree"


def test_a_chapter_is_a_document_of_its_book() -> None:
    first, second = read(book())
    assert (first.title, second.title) == ("Gout", "Sprains")
    assert first.key == "OEBPS/text/part 1.xhtml"
    assert first.metadata == {"book": "A handbook of joints", "author": "Ward 7", "language": "en"}
    assert [(each.heading, each.text) for each in first.sections] == [("", GOUT), ("Treatment", "Rest it.")]
    assert first.content is not None
    begin, end = first.runs[-1].tolist()[2:]
    assert first.content.decode(first.encoding)[begin:end] == "Rest it."


def test_a_book_behind_copy_protection_is_named() -> None:
    locked = "<encryption><CipherReference URI='OEBPS/text/part%201.xhtml'/></encryption>"
    with zipfile.ZipFile(io.BytesIO(book())) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    with pytest.raises(UnreadableError, match="copy protection"):
        read(zipped({**members, "META-INF/encryption.xml": locked.encode()}))


ENTITY = '<!DOCTYPE x [<!ENTITY e "gone">]>'


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (slides(), "ppt/slides/slide1.xml"),
        (open_text(), "content.xml"),
        (book(), "OEBPS/content.opf"),
        (book(), "OEBPS/text/part 1.xhtml"),
    ],
    ids=["pptx", "odt", "epub", "chapter"],
)
def test_declared_entities_are_refused(content: bytes, part: str) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        held = archive.read(part).decode()
    begin = held.index("<", held.index("?>")) if held.startswith("<?xml") else 0
    with pytest.raises(UnreadableError) as error:
        read(changed(content, part, held, held[:begin] + ENTITY + held[begin:]))
    assert error.value.kind == "declared entities"


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (slides(), "ppt/slides/slide1.xml"),
        (workbook(), "xl/worksheets/sheet1.xml"),
        (open_text(), "content.xml"),
        (book(), "OEBPS/text/part 1.xhtml"),
    ],
    ids=["pptx", "xlsx", "odt", "epub"],
)
def test_a_zip_bomb_part_is_not_unpacked(content: bytes, part: str) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    with pytest.raises(UnreadableError) as error:
        read(zipped({**members, part: members[part] + b" " * 20_000_000}))
    assert error.value.kind == "zip bomb"


def test_a_sheet_above_the_document_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "document=3")
    with pytest.raises(UnreadableError) as error:
        read(workbook())
    assert error.value.kind == "too large"


@pytest.mark.parametrize("content", [slides(), workbook(), open_text(), open_sheet(), book()])
def test_files_without_words_are_refused(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(steady(content))) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    gone = {"ppt/presentation.xml", "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml", "content.xml"}
    empty = {
        name: b"<a/>" if name in gone or name.endswith((".xhtml", ".opf")) else held for name, held in members.items()
    }
    with pytest.raises(UnreadableError):
        read(zipped(empty))


def test_an_embedded_workbook_does_not_decide_the_format() -> None:
    (draft,) = read(compound({"WordDocument": b"x" * 5000, "ObjectPool": {"Workbook": b"x" * 5000}}))
    assert (draft.media_type, draft.text) == ("application/msword", "")


def test_line_breaks_in_slide_titles_separate_words() -> None:
    old, new = "<a:t>Treatment</a:t></a:r>", "<a:t>General</a:t></a:r><a:br/><a:r><a:t>Treatment</a:t></a:r>"
    (draft,) = read(changed(slides(), "ppt/slides/slide2.xml", old, new))
    assert ("Slide 2", "General Treatment") in headed(draft)
