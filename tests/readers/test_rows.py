"""Tables and JSON lines, by the public schema and by a mapping of one's own."""

from __future__ import annotations

import json

import pytest

from auscult.errors import ConfigError
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.rows import Columns, RowReader


def read(name: str, content: str, columns: str = "") -> list[DraftDocument]:
    file = SourceFile(name, content.encode())
    reader = RowReader(Columns.parse(columns))
    assert reader.recognises(file)
    drafts = list(reader.read(file))
    for draft in drafts:
        for section in draft.sections:
            assert section.start is not None
            assert draft.text[section.start : section.start + len(section.text)] == section.text
        assert draft.content is not None
        assert draft.content.decode() == draft.text
    return drafts


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_are_read_by_the_mapping(separator: str) -> None:
    lines = [["Nr", "Name", "Body", "Datum", "Ward"], ["7", "Gout", '"PLAN:\nRest."', "2024-05-01", "B2"]]
    table = "\n".join(separator.join(line) for line in lines)
    (draft,) = read("t.csv", table, "id=Nr,title=name,text=Body,date=Datum")
    assert (draft.key, draft.title, draft.text, dict(draft.metadata)) == (
        "7", "Gout", "PLAN:\nRest.", {"date": "2024-05-01"},
    )  # fmt: skip
    assert [(section.heading, section.text) for section in draft.sections] == [("PLAN", "Rest.")]


def test_several_columns_of_text_are_headed_sections() -> None:
    (draft,) = read("t.csv", "History,Plan,x\nCough.,Rest.,1\n", "text=History+Plan")
    assert [(section.heading, section.text) for section in draft.sections] == [("History", "Cough."), ("Plan", "Rest.")]
    assert draft.key == "2", "the number of the line, where no column is the id"


def test_fields_of_json_are_mapped_along_paths() -> None:
    record = {"note": {"body": "Cough.", "no": 12}, "codes": ["ICD10:M10", "X:1"], "ward": "B2"}
    for content in (json.dumps(record), json.dumps([record]), json.dumps(record, indent=1)):
        (draft,) = read("t.json", content, "text=note.body,id=note.no,entity_ids=codes,unit=ward")
        assert (draft.text, draft.key, tuple(draft.entity_ids)) == ("Cough.", "12", ("ICD10:M10", "X:1"))
        assert dict(draft.metadata) == {"unit": "B2"}


def test_column_names_default_to_the_public_schema() -> None:
    lines = [
        {"id": "a", "title": "Gout", "sections": [{"heading": "H", "text": "One."}, {"text": " "}, {"text": "Two."}]},
        {"id": "b", "text": "PLAN: Rest.", "metadata": {"ward": "B2", "n": 1}, "source": "S", "url": "u"},
        {"id": "c", "text": " "},
    ]
    first, second = read("t.jsonl", "\n".join(map(json.dumps, lines)))
    assert [(section.heading, section.text) for section in first.sections] == [("H", "One."), ("", "Two.")]
    assert (second.source, second.url, dict(second.metadata)) == ("S", "u", {"ward": "B2", "n": "1"})
    assert second.remarks == ["1 rows without words, first: line 3"]
    (row,) = read("t.tsv", "ID\tText\tWard\n1\tCough.\tB2\n")
    assert (row.key, row.text, dict(row.metadata)) == ("1", "Cough.", {"ward": "B2"})


def test_schema_records_and_mapped_records_can_be_mixed() -> None:
    lines = '{"id": "a", "text": "One."}\n{"Body": "Two."}\n{"id": "c", "text": "", "Body": "Three."}\n'
    assert [(draft.key, draft.text) for draft in read("t.jsonl", lines, "text=Body")] == [
        ("a", "One."), ("2", "Two."), ("3", "Three."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "columns", "told"),
    [
        ("t.jsonl", '{"a": "1", "b": "2"}', "", "2 others .*--read map=text=COLUMN"),
        ("t.csv", 'a,b\n"1,2\n', "", "values between separators"),
        ("t.csv", "a,b\n1,2\n", "text=c", r"a column c, got 2 others \(line 2\); correct the mapping"),
        ("t.csv", "a,b\n1\n", "text=a", r"2 columns, got 1 \(line 2\)"),
        ("t.csv", 'a,b\n"1,2\n', "text=a", "values between separators"),
        ("t.jsonl", '{"text": "x"}\n{"text', "", r"one JSON object a line, or a list of them, got malformed JSON"),
        ("t.jsonl", '["x"]', "", "JSON objects"),
        ("t.jsonl", "[" * 100_000, "", "malformed JSON"),
        ("t.csv", "text\n.\n", "", "rows with words"),
        (
            "t.csv",
            "id,text,unit,unit\n1,a,mg,ml\n",
            "",
            "a name of its own for each column, got one name for columns 3 and 4",
        ),
        ("t.tsv", "Text\t text\na\tb\n", "", "one name for columns 1 and 2"),
        ("t.csv", "Nr;Body;Body\n1;a;b\n", "text=body", "one name for columns 2 and 3; rename one"),
    ],
)
def test_mistakes_in_tables_are_reported(name: str, content: str, columns: str, told: str) -> None:
    with pytest.raises(UnreadableError, match=told):
        read(name, content, columns)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_an_ordinary_table_is_one_document(separator: str) -> None:
    rows = [["Drug", "Dose", "Dose"], ["Enoxaparin", "40 mg", ""], ["Colchicine", "", "0.5 mg"], ["."]]
    (draft,) = read("formulary.csv", "\n".join(separator.join(row) for row in rows))
    assert draft.text == "Drug: Enoxaparin | Dose: 40 mg\nDrug: Colchicine | Dose: 0.5 mg\nDrug: ."
    assert draft.remarks[0].startswith("read as one table of 3 rows, as no column is called text; say what")
    with pytest.raises(UnreadableError, match="rows with words"):
        read("t.csv", "-,.\n.,-\n")


def test_repeated_columns_that_are_unread_do_no_harm() -> None:
    (draft,) = read("t.csv", "Body,,,Seen,Seen\nRest.,,,1,2\n", "text=Body")
    assert draft.text == "Rest."
    (draft,) = read("t.csv", "text,,\nRest.,,\n", "")
    assert draft.text == "Rest."


@pytest.mark.parametrize("given", ["text", "=Body", "title=Name", "text=a,text=b", "text="])
def test_invalid_mappings_are_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="mapping"):
        Columns.parse(given)


def test_a_mapping_is_written_as_it_is_typed() -> None:
    told = "title=Name,text=History+Plan"
    assert str(Columns.parse(told)) == told
    assert Columns.parse(" title = Name , text = History + Plan") == Columns.parse(told)
    assert not Columns.parse("")


@pytest.mark.parametrize(
    ("fields", "groups"),
    [
        ({"access": "ward-4"}, "ward-4"),
        ({"access": ["ward-4", "ward-5"]}, "ward-4, ward-5"),
        ({"metadata": {"Access": ["ward-4"]}}, "ward-4"),
        ({"access": []}, None),
        ({"access": None}, None),
        # What cannot be read is for no group, and not for everybody.
        ({"access": {"group": "ward-4"}}, ","),
        ({"access": [4]}, ","),
    ],
)
def test_groups_that_a_row_names_are_never_lost(fields: dict[str, object], groups: str | None) -> None:
    (draft,) = read("t.jsonl", json.dumps({"text": "Rest helps.", **fields}))
    assert draft.metadata.get("access") == groups


def test_a_heading_without_text_is_its_sections_text() -> None:
    sections = [{"heading": "No known drug allergies", "text": " "}, {"heading": "Plan", "text": "Rest."}]
    (draft,) = read("a.json", json.dumps([{"id": "n", "sections": sections}]))
    assert [(section.heading, section.text) for section in draft.sections] == [
        ("No known drug allergies", "No known drug allergies"),
        ("Plan", "Rest."),
    ]


def test_file_patterns_can_have_their_own_mapping() -> None:
    columns = Columns.parse("text=Body", {"labs/*.csv": "text=Result,title=Test", "*.tsv": "text=Note"})
    again = Columns.from_json(columns.to_json())
    assert again == columns
    reader = RowReader(again)
    for name, content, text in (
        ("labs/june.csv", "Test,Result\nUrate,High.\n", "High."),
        ("ward.zip/labs/june.csv", "Test,Result\nUrate,High.\n", "High."),
        ("labs/june.tsv", "Note\tBody\nCough.\tx\n", "Cough."),
        ("notes.csv", "Body,Result\nFever.,x\n", "Fever."),
    ):
        (draft,) = reader.read(SourceFile(name, content.encode()))
        assert draft.text == text, name
    newer = Columns.parse("", {"*.tsv": "text=Plan"}).over(columns)
    assert (str(newer), str(newer.of("a.tsv")), str(newer.of("labs/a.csv"))) == (
        "text=Body", "text=Plan", "text=Result,title=Test",
    )  # fmt: skip


def test_errors_reveal_no_content_of_a_file() -> None:
    for name, content in (
        ("t.csv", "text,Canary\nCanary\n"),
        ("t.json", json.dumps({f"Canary {number}": "Canary" for number in range(20_000)})),
        ("t.jsonl", '{"text": "Canary"'),
        ("t.csv", 'id,text\n1,"Canary'),
    ):
        for columns in ("", "text=Body"):
            with pytest.raises(UnreadableError) as raised:
                list(RowReader(Columns.parse(columns)).read(SourceFile(name, content.encode())))
            assert "Canary" not in str(raised.value)
            assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    ("fields", "sections"),
    [
        ({"sections": [{"heading": "Allergies", "body": "Penicillin"}]}, [("Allergies", "Penicillin")]),
        ({"sections": [{"title": "Dose", "value": 62.5}]}, [("Dose", "62.5")]),
        (
            {"sections": [{"heading": "Allergies", "items": ["Penicillin", "Latex"]}]},
            [("Allergies", "Penicillin\nLatex")],
        ),
        ({"sections": ["No allergy.", "Stop warfarin."]}, [("", "No allergy."), ("", "Stop warfarin.")]),
        ({"sections": {"Allergies": "None", "Plan": ["Rest"]}}, [("Allergies", "None"), ("Plan", "Rest")]),
        (
            {"text": "PLAN: Rest.", "allergies": ["Penicillin"], "drugs": [{"name": "Digoxin", "dose": "62.5 µg"}]},
            [("PLAN", "Rest."), ("allergies", "Penicillin"), ("drugs", "name: Digoxin | dose: 62.5 µg")],
        ),
        ({"text": "PLAN: Rest.", "sections": [{"text": "Two."}]}, [("PLAN", "Rest."), ("", "Two.")]),
        ({"text": ["No allergy.", "Stop."]}, [("", "No allergy."), ("", "Stop.")]),
        ({"text": {"Plan": "Rest."}}, [("Plan", "Rest.")]),
        (
            {"sections": [{"heading": "A", "text": "One.", "sections": [{"heading": "B", "text": "Two."}]}]},
            [("A", "One."), ("A > B", "Two.")],
        ),
        ({"sections": [{"heading": "A", "text": "One.", "note": "Not today."}]}, [("A", "One.\nnote: Not today.")]),
    ],
)
def test_lists_and_objects_of_records_are_read(fields: dict[str, object], sections: list[tuple[str, str]]) -> None:
    (draft,) = read("t.json", json.dumps([{"id": "1", **fields}]))
    paths = draft.heading_paths or [()] * len(draft.sections)
    found = [
        (" > ".join([*path, section.heading]), section.text)
        for section, path in zip(draft.sections, paths, strict=True)
    ]
    assert found == sections


def test_fields_beside_a_sections_text_are_told() -> None:
    sections = [{"heading": "A", "text": "One.", "code": "10154-3", "order": 2}]
    (draft,) = read("t.json", json.dumps([{"id": "1", "sections": sections}]))
    assert draft.remarks == ["2 fields of sections are not read: they are beside a text"]


def test_numbers_of_json_are_as_written() -> None:
    content = '{"text": "Rest.", "weight": 1.50, "labs": {"PTH": 0.000010, "fasting": true}}'
    (draft,) = read("t.jsonl", content)
    assert draft.metadata == {"weight": "1.50"}
    assert draft.sections[-1].text == "PTH: 0.000010\nfasting: yes"


def test_deep_json_is_refused() -> None:
    content = '{"text": "x", "a": ' + "[" * 100 + "]" * 100 + "}"
    with pytest.raises(UnreadableError, match="at most 20 deep"):
        read("t.json", content)
