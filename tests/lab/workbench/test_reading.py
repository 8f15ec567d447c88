"""The workbench reads users' files, and shows everything that is wrong with them at once."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.errors import CorpusMissingError, DataError
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.workbench.checking import check
from auscult_lab.workbench.folder import WorkFolder
from auscult_lab.workbench.plan import Wishes
from auscult_lab.workbench.preparing import prepare
from auscult_lab.workbench.reading import read_user_data
from auscult_lab.workbench.splitting import divide, groups_of
from auscult_lab.workbench.userdata import Findings, UnusableDataError, UserData
from user_data import judgements, passages, questions, write_beir, write_folder, write_table


def read(path: Path) -> tuple[UserData, Findings]:
    findings = Findings()
    data = check(read_user_data(path, findings), findings)
    if not findings.faults:
        data = divide(data, findings)
    return data, findings


def kinds(path: Path) -> set[str]:
    return {fault.kind for fault in read(path)[1].faults}


def test_three_tables_are_read_by_column_names(tmp_path: Path):
    data, findings = read(write_folder(tmp_path / "mine"))
    assert not findings.faults
    assert data.name == "mine"
    assert [len(data.questions), len(data.passages), len(data.judgements)] == [45, 45, 45]
    assert data.questions[0].text == "How does gout show itself?"
    assert data.passages[0].title == "Gout"
    assert any("All judgements are positive" in warning for warning in findings.warnings)


def test_one_joined_table_numbers_rows_without_ids(tmp_path: Path):
    texts = {row[0]: row[2] for row in passages()}
    rows = [(words, texts[f"P-{asked}"], "yes") for asked, words in questions()]
    rows += [(words, texts["P-gout-cures"], "no") for asked, words in questions() if asked != "gout-cures"]
    write_table(tmp_path / "all.csv", ("Query", "Answer", "Relevant"), rows)
    data, findings = read(tmp_path / "all.csv")
    assert not findings.faults
    assert [len(data.questions), len(data.passages), len(data.judgements)] == [45, 45, 89]
    assert sum(judged.relevance for judged in data.judgements) == 45
    assert read(tmp_path)[0].questions == data.questions


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_and_quoted_line_breaks_are_read(tmp_path: Path, delimiter: str):
    folder = write_folder(tmp_path / "mine")
    lines = [f'{row[0]}{delimiter}"{row[2]}\nTwo lines."' for row in passages()]
    (folder / "passages.csv").write_text(f"id{delimiter}text\n" + "\n".join(lines) + "\n")
    data, findings = read(folder)
    assert not findings.faults
    assert data.passages[1].text.endswith("\nTwo lines.")
    assert data.passages[1].place.line == 4


def test_beir_and_its_splits_are_kept(tmp_path: Path):
    data, findings = read(write_beir(tmp_path / "beir"))
    assert not findings.faults
    assert Counter(question.split for question in data.questions) == {"train": 25, "dev": 8, "test": 12}
    (tmp_path / "beir" / "corpus.jsonl").rename(tmp_path / "plain")
    with gzip.open(tmp_path / "beir" / "corpus.jsonl.gz", "wb") as packed:
        packed.write((tmp_path / "plain").read_bytes())
    assert [each.text for each in read(tmp_path / "beir")[0].passages] == [each.text for each in data.passages]


def test_single_split_is_divided_again_with_a_warning(tmp_path: Path):
    data, findings = read(write_beir(tmp_path / "beir", splits=False))
    assert not findings.faults
    assert Counter(question.split for question in data.questions) == {"train": 26, "dev": 9, "test": 10}
    assert any("divided anew" in warning for warning in findings.warnings)


def test_near_duplicates_share_a_split_drawn_by_seed(tmp_path: Path):
    asked = questions() + [[f"again-{row[0]}", row[1].upper().replace("?", "!")] for row in questions()]
    judged = judgements() + [[f"again-{row[0]}", row[1], "1"] for row in judgements()]
    folder = write_folder(tmp_path / "mine", question_rows=asked, judged=judged)
    data, findings = read(folder)
    assert not findings.faults
    split = {question.question_id: question.split for question in data.questions}
    assert all(split[f"again-{row[0]}"] == split[row[0]] for row in questions())
    assert split == {question.question_id: question.split for question in read(folder)[0].questions}
    other = divide(check(read_user_data(folder, findings), findings), findings, seed=2)
    assert split != {question.question_id: question.split for question in other.questions}


def test_a_division_leaves_enough_to_test_on(tmp_path: Path):
    for number, test in ((30, 10), (45, 10)):
        folder = tmp_path / str(number)
        data, findings = read(write_folder(folder, question_rows=questions()[:number], judged=judgements()[:number]))
        assert not findings.faults
        assert Counter(question.split for question in data.questions)["test"] == test
    # All ask the same: they stay in one part, and none is left to test on.
    same = [[row[0], f"What helps against gout in winter{'?' * place}"] for place, row in enumerate(questions())]
    _, findings = read(write_folder(tmp_path / "same", question_rows=same))
    assert [(fault.kind, fault.got) for fault in findings.faults] == [
        ("too little data", "0 test questions with a relevant passage")
    ]
    beir = write_beir(tmp_path / "beir")
    moved = (beir / "qrels" / "test.tsv").read_text().splitlines()
    (beir / "qrels" / "test.tsv").write_text("\n".join(moved[:6]) + "\n")
    assert [fault.got for fault in read(beir)[1].faults] == ["5 test questions with a relevant passage"]


def test_test_questions_like_those_learned_from_are_counted(tmp_path: Path):
    beir = write_beir(tmp_path / "beir")
    texts = dict(questions())
    # Test questions begin with the 34th: two in the words of one training question, one in those of a development one.
    ids = [row[0] for row in questions()]
    words = "What are the first symptoms of {} in older men"
    texts |= {ids[0]: words.format("gout"), ids[40]: words.format("gout") + " now", ids[41]: words.format("a gout")}
    texts |= {ids[30]: "How do nurses care for a fever", ids[42]: "how do nurses care for fevers?"}
    lines = [json.dumps({"_id": each, "text": text}) for each, text in texts.items()]
    (beir / "queries.jsonl").write_text("\n".join(lines) + "\n")
    _, findings = read(beir)
    warnings = " ".join(findings.warnings)
    assert "2 of 12 test questions ask nearly the same as a training question." in warnings
    assert "1 of 12 test questions ask nearly the same as a development question." in warnings


def test_alike_means_most_words_in_common():
    texts = [
        "What are the first symptoms of gout in older men",
        "what is the first symptom of gout, in older men?",
        "What are the last symptoms of measles in older men",
        "",
    ]
    assert groups_of(texts) == [[0, 1], [2], [3]]


Spoil = Callable[[Path], object]


def rewrite(name: str, change: Callable[[str], str]) -> Spoil:
    def spoil(folder: Path) -> None:
        path = folder / name
        path.write_text(change(path.read_text()))

    return spoil


def latin(folder: Path) -> None:
    path = folder / "passages.csv"
    path.write_bytes(path.read_text().replace("fever", "fièvre").encode("latin-1"))


def half_a_character(folder: Path) -> None:
    (folder / "passages.csv").unlink()
    lines = [json.dumps({"id": row[0], "text": row[2]}) for row in passages()]
    lines[0] = json.dumps({"id": passages()[0][0], "text": "Whole: \U0001f600"})
    lines[2] = json.dumps({"id": passages()[2][0], "text": "Half: \ud83d"})
    (folder / "passages.jsonl").write_text("\n".join(lines) + "\n")


def utf16(folder: Path) -> None:
    path = folder / "questions.csv"
    path.write_bytes(path.read_text().encode("utf-16"))


SPOILT: dict[str, tuple[Spoil, str, int]] = {
    "missing id": (rewrite("questions.csv", lambda text: text.replace("gout-signs,", ",", 1)), "questions.csv", 2),
    "repeated passage id": (
        rewrite("passages.csv", lambda text: text.replace("P-gout-causes", "P-gout-signs", 1)),
        "passages.csv",
        3,
    ),
    "repeated question id": (
        rewrite("questions.csv", lambda text: text.replace("gout-causes", "gout-signs", 1)),
        "questions.csv",
        3,
    ),
    "judgement on an unknown question": (
        rewrite("judgements.csv", lambda text: text.replace("gout-signs,", "flu-signs,", 1)),
        "judgements.csv",
        2,
    ),
    "judgement on an unknown passage": (
        rewrite("judgements.csv", lambda text: text.replace("P-gout-signs", "P-flu", 1)),
        "judgements.csv",
        2,
    ),
    "empty question": (
        rewrite("questions.csv", lambda text: text.replace("How does gout show itself?", "?", 1)),
        "questions.csv",
        2,
    ),
    "empty passage": (
        rewrite("passages.csv", lambda text: text + "P-empty,,\n"),
        "passages.csv",
        47,
    ),
    "no number as label": (
        rewrite("judgements.csv", lambda text: text.replace("P-gout-signs,1", "P-gout-signs,perhaps", 1)),
        "judgements.csv",
        2,
    ),
    "contradicting judgements": (
        rewrite("judgements.csv", lambda text: text + "gout-signs,P-gout-signs,0\n"),
        "judgements.csv",
        47,
    ),
    "broken row": (rewrite("judgements.csv", lambda text: text + "gout-signs,P-gout-causes\n"), "judgements.csv", 47),
    "broken quotes": (rewrite("passages.csv", lambda text: text + 'P-x,"Gout"s,text\n'), "passages.csv", 47),
    "repeated column": (rewrite("passages.csv", lambda text: text.replace("Title", "Text", 1)), "passages.csv", 1),
    "no column for the question": (
        rewrite("questions.csv", lambda text: text.replace("Question", "Frage", 1)),
        "questions.csv",
        1,
    ),
    "empty file": (rewrite("passages.csv", lambda text: text.splitlines()[0]), "passages.csv", 0),
    "no relevant passage": (rewrite("judgements.csv", lambda text: text.replace(",1", ",0")), "mine", 0),
    "question without a negative": (
        lambda folder: write_table(
            folder / "judgements.csv",
            ("question id", "passage id", "label"),
            [*judgements()[1:], *(["gout-signs", row[0], "1"] for row in passages())],
        ),
        "questions.csv",
        2,
    ),
    "no text file": (rewrite("passages.csv", lambda text: text + "P-x,,a\0b\n"), "passages.csv", 47),
    "wrong encoding": (latin, "passages.csv", 2),
    "broken character": (half_a_character, "passages.jsonl", 3),
    "label too high": (
        rewrite("judgements.csv", lambda text: text.replace("P-gout-signs,1", "P-gout-signs,2147483647", 1)),
        "judgements.csv",
        2,
    ),
    "cell too long": (
        rewrite("passages.csv", lambda text: text + f"P-x,,{'long ' * 2_000_001}\n"),
        "passages.csv",
        47,
    ),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_each_fault_is_named_with_file_and_line(tmp_path: Path, kind: str):
    spoil, file, line = SPOILT[kind]
    folder = write_folder(tmp_path / "mine")
    spoil(folder)
    faults = [fault for fault in read(folder)[1].faults if fault.kind == kind]
    assert [(fault.place.file, fault.place.line) for fault in faults][:1] == [(file, line)]
    assert all(fault.remedy and fault.got for fault in faults)


def test_utf16_is_called_by_its_name(tmp_path: Path):
    folder = write_folder(tmp_path / "mine")
    utf16(folder)
    assert [fault.got for fault in read(folder)[1].faults] == ["UTF-16, not UTF-8"]


def test_bad_json_lines_do_not_stop_other_checks(tmp_path: Path):
    folder = write_beir(tmp_path / "beir")
    lines = (folder / "queries.jsonl").read_text().splitlines()
    lines[0] = json.dumps({"_id": "", "text": "What is it?"})
    (folder / "queries.jsonl").write_text("\n".join([*lines, "{broken", "[1]"]) + "\n")
    assert kinds(folder) >= {"no JSON", "no JSON object", "missing id", "judgement on an unknown question"}


def test_too_little_data_and_leaked_questions_are_faults(tmp_path: Path):
    small = write_folder(tmp_path / "small", question_rows=questions()[:20], judged=judgements()[:20])
    assert "too little data" in kinds(small)
    few = write_folder(tmp_path / "few", texts=passages()[:5], judged=judgements()[:5], question_rows=questions()[:5])
    found = [fault.got for fault in read(few)[1].faults]
    assert found == ["5 questions with a relevant passage", "5 passages"]
    beir = write_beir(tmp_path / "beir")
    text = (beir / "queries.jsonl").read_text()
    last, first = questions()[-1][1], questions()[0][1]
    (beir / "queries.jsonl").write_text(text.replace(last, first.lower()))
    assert kinds(beir) == {"test question that is trained on"}
    both = write_beir(tmp_path / "both")
    with (both / "qrels" / "test.tsv").open("a") as file:
        file.write("gout-signs\tP-gout-causes\t1\n")
    assert kinds(both) == {"one question in two splits"}


def test_usable_odd_data_is_corrected_with_a_warning(tmp_path: Path):
    rows = [[row[0].replace("-", " "), row[1]] for row in questions()] + [["lost", "Is anybody there?"]]
    texts = [*passages(), passages()[0], ["P-titled", "Leprosy and its history", ""]]
    judged = [[row[0].replace("-", " "), row[1], "2"] for row in judgements()] + [["lost", "P-gout-signs", "0"]]
    judged += [judged[0]]
    data, findings = read(write_folder(tmp_path / "mine", question_rows=rows, texts=texts, judged=judged))
    assert not findings.faults
    warnings = " ".join(findings.warnings)
    for words in (
        "Blanks in ids",
        "no relevant passage",
        "stand in the data twice",
        "read by their title",
        "given twice",
    ):
        assert words in warnings
    assert len(data.questions) == 45
    assert data.questions[0].question_id == "gout_signs"
    assert data.passages[-1].text == "Leprosy and its history"


def test_unread_files_are_reported(tmp_path: Path):
    folder = write_folder(tmp_path / "mine")
    assert not any("Not read" in warning for warning in read(folder)[1].warnings)
    for name in ("extra.csv", "more.jsonl", "passages2.xlsx", ".hidden"):
        (folder / name).write_text("id\n")
    data, findings = read(folder)
    assert len(data.passages) == 45
    assert findings.warnings[:2] == [
        "Not read, because their names say nothing: extra.csv, more.jsonl.",
        "Not read, because only .csv, .tsv, .jsonl are: passages2.xlsx.",
    ]
    write_table(tmp_path / "one" / "all.csv", ("question", "passage"), [("What is gout?", "A disease.")])
    for row in range(12):
        (tmp_path / "one" / f"{row:02}.txt").write_text("Mine.")
    told = read(tmp_path / "one")[1].warnings[0]
    assert "00.txt" in told
    assert told.endswith("09.txt and 2 more.")


def test_missing_files_are_named_before_anything_is_read(tmp_path: Path):
    folder = write_folder(tmp_path / "mine")
    (folder / "passages.csv").unlink()
    with pytest.raises(CorpusMissingError, match="passages"):
        read(folder)
    for nothing in (tmp_path / "none", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(CorpusMissingError):
            read(nothing)
    (tmp_path / "table.xlsx").write_bytes(b"PK")
    with pytest.raises(CorpusMissingError, match="CSV"):
        read(tmp_path / "table.xlsx")


def test_all_faults_become_one_error(tmp_path: Path):
    folder = write_folder(tmp_path / "mine")
    for kind in ("missing id", "empty passage", "broken row"):
        SPOILT[kind][0](folder)
    work = WorkFolder(tmp_path / "work")
    with pytest.raises(UnusableDataError) as caught:
        prepare(folder, work, Wishes())
    assert {"missing id", "empty passage", "broken row"} <= {each.kind for each in caught.value.faults}
    assert not work.root.exists()


def test_what_is_written_is_a_corpus(tmp_path: Path):
    work = WorkFolder(tmp_path / "work")
    described = prepare(write_folder(tmp_path / "mine"), work, Wishes()).description
    corpus = open_corpus(str(work.data(described.name)))
    assert corpus.name == "mine"
    assert sum(len(corpus.queries(split)) for split in ("train", "dev", "test")) == 45
    assert len(list(corpus.documents())) == 45
    assert described.counts["test questions"] == len(corpus.queries("test")) == 10
    assert described.protocol == "end-to-end"
    assert not work.entities.exists()


def test_models_read_question_words_even_with_entities(tmp_path: Path):
    folder, work = write_folder(tmp_path / "mine"), WorkFolder(tmp_path / "work")
    rows = [
        (*row, row[0].partition("-")[0], "symptoms; diet" if row[0].endswith("-signs") else "") for row in questions()
    ]
    write_table(folder / "questions.csv", ("id", "question", "disease", "question type"), rows)
    description = prepare(folder, work, Wishes()).description
    corpus = open_corpus(str(work.data(description.name)))
    asked = dict(questions())
    for split in ("train", "dev", "test"):
        queries = corpus.queries(split)
        assert [query.terms for query in queries] == [asked[query.query_id] for query in queries]
        named = work.name_entities(queries)
        assert [query.entity for query in named] == [query.query_id.partition("-")[0] for query in queries]
        assert {query.aspects for query in named if query.query_id.endswith("-signs")} == {("symptoms", "diet")}
        assert [query.text for query in named] == [query.text for query in queries]
    work.entities.write_text("[]")
    with pytest.raises(DataError, match=r"entities\.json"):
        work.name_entities(corpus.queries("test"))


def test_questions_on_one_entity_are_no_duplicates(tmp_path: Path):
    folder = write_beir(tmp_path / "beir")
    lines = [
        json.dumps({"_id": row[0], "text": row[1], "metadata": {"entity": row[0].partition("-")[0]}})
        for row in questions()
    ]
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    _, findings = read(folder)
    assert not findings.faults
    assert not any("nearly the same" in warning for warning in findings.warnings)


def test_question_in_two_splits_is_noticed_across_files(tmp_path: Path):
    folder = write_folder(tmp_path / "files")
    (folder / "questions.csv").unlink()
    write_table(folder / "train_questions.csv", ("id", "question"), questions()[:30])
    write_table(folder / "test_questions.csv", ("id", "question"), questions()[29:])
    faults = read(folder)[1].faults
    assert [(fault.kind, fault.got) for fault in faults] == [
        ("one question in two splits", f"'{questions()[29][0]}' in test and train")
    ]
    beir = write_beir(tmp_path / "beir")
    rows = [{"_id": row[0], "text": row[1], "split": "train"} for row in questions()[:34]]
    rows += [{"_id": row[0], "text": row[1]} for row in questions()[34:]]
    (beir / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert {fault.got for fault in read(beir)[1].faults if fault.kind == "one question in two splits"} == {
        *(f"'{row[0]}' in dev and train" for row in questions()[25:33]),
        f"'{questions()[33][0]}' in test and train",
    }


def test_tabbed_cells_are_read_with_and_without_quotes(tmp_path: Path):
    folder = write_folder(tmp_path / "mine")
    (folder / "passages.csv").unlink()
    said = [
        '"one\ttwo"',
        '"a ""word"" in quotes"',
        '"two\nlines"',
        '"Gout" is a word',
        'A 6" snake',
        'No "end',
        '"Begun',
    ]
    meant = ["one\ttwo", 'a "word" in quotes', "two\nlines", *said[3:]]
    own = [row[2] for row in passages()]
    lines = [f"{row[0]}\t{text}" for row, text in zip(passages(), [*said, *own[len(said) :]], strict=True)]
    (folder / "passages.tsv").write_text("id\ttext\n" + "\r\n".join(lines))
    data, findings = read(folder)
    assert not findings.faults
    assert [each.text for each in data.passages] == [*meant, *own[len(meant) :]]
    assert [each.place.line for each in data.passages[2:5]] == [4, 6, 7]
    (folder / "passages.tsv").write_text("id\ttext\n" + "\n".join(lines) + "\nP-x\n")
    assert [(fault.kind, fault.place.line) for fault in read(folder)[1].faults] == [("broken row", 48)]


def test_lines_of_other_json_than_text_are_named(tmp_path: Path):
    folder = write_beir(tmp_path / "beir")
    queries = folder / "queries.jsonl"
    lines = queries.read_text().splitlines()
    queries.write_text(json.dumps([json.loads(line) for line in lines], indent=1))
    assert [(fault.kind, fault.got) for fault in read(folder)[1].faults] == [("no JSON object", "an array")]
    deep = '{"_id": "deep", "text": ' + "[" * 100_000 + "]" * 100_000 + "}"
    queries.write_text("\n".join([*lines, deep]))
    assert [(fault.kind, fault.place.line) for fault in read(folder)[1].faults] == [("no JSON", 46)]
    asked = json.loads(lines[0]) | {"text": {"en": "What?"}}
    aside = json.loads(lines[1]) | {"entity": {"en": "gout"}}
    queries.write_text("\n".join([json.dumps(asked), json.dumps(aside), *lines[2:]]))
    assert [(fault.kind, fault.got) for fault in read(folder)[1].faults] == [("object for text", "an object as 'text'")]


def test_other_formats_and_closed_folders_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("a.json", "b.txt", "c.xlsx"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(CorpusMissingError, match=r"got only a\.json, b\.txt, c\.xlsx"):
        read(tmp_path)

    def closed(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", closed)
    with pytest.raises(DataError, match="Permission denied"):
        read(tmp_path)
