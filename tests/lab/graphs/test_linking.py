"""The n-gram linker, and `auscult graph`."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.errors import AuscultError, DataError
from auscult_lab.graphs.graph import make_graph
from auscult_lab.graphs.linking import EntityLinker, EntitySpan, NgramLinker


def mentions(linker: EntityLinker, text: str) -> list[tuple[str, str]]:
    return [(text[span.start : span.end], span.entity_id) for span in linker.link(text)]


def test_the_longest_name_from_the_left_is_taken() -> None:
    linker = NgramLinker([("heart",), ("heart failure",), ("failure to thrive",)], ["H", "HF", "FT"])
    assert mentions(linker, "Heart failure to thrive; the heart.") == [("Heart failure", "HF"), ("heart", "H")]
    assert linker.link("Heart failure") == [EntitySpan(0, 13, "HF")]


def test_neighbouring_names_are_both_found() -> None:
    linker = NgramLinker([("fever",), ("cough",)], ["F", "C"])
    assert mentions(linker, "fever cough fever") == [("fever", "F"), ("cough", "C"), ("fever", "F")]


def test_whole_words_match_despite_case_accents_and_punctuation() -> None:
    linker = NgramLinker([("Ménière's disease",), ("rash",)], ["M", "R"])
    assert mentions(linker, "MENIERE'S-DISEASE, crash rashes") == [("MENIERE'S-DISEASE", "M")]


def test_preferred_names_beat_synonyms_then_earlier_entities_win() -> None:
    linker = NgramLinker([("influenza", "grippe"), ("grippe",), ("flu",), ("flu",)], ["1", "2", "3", "4"])
    assert mentions(linker, "grippe flu") == [("grippe", "2"), ("flu", "3")]


def test_acronyms_count_as_they_are_written() -> None:
    names = [("acute lymphoblastic leukemia", "ALL"), ("multiple endocrine neoplasia", "men")]
    linker = NgramLinker(names, ["L", "N"])
    assert mentions(linker, "all men have ALL or MEN") == [("ALL", "L"), ("MEN", "N")]


def test_function_words_articles_and_letters_are_no_mention() -> None:
    linker = NgramLinker([("the syndrome",), ("With",), ("A",), ("7",), ("cold",)], list("abcde"))
    assert mentions(linker, "the syndrome with a 7 cold") == [("cold", "e")]
    assert mentions(NgramLinker([("with",)], ["w"], skip=()), "with") == [("with", "w")]


def test_shared_name_links_to_entity_with_most_triples() -> None:
    triples = [("X:1", "r", "X:9"), ("X:2", "r", "X:9"), ("X:2", "s", "X:9")]
    linker = NgramLinker.from_graph(make_graph(triples, {"X:1": ["cold"], "X:2": ["cold"]}))
    assert mentions(linker, "a cold") == [("cold", "X:2")]


def test_without_a_name_nothing_is_linked() -> None:
    assert NgramLinker([], []).link("fever") == []


NAMES = ["a b", "b c", "c", "ab", "ba c", "b"]
APART = re.compile(r" +|\.")


def test_names_match_with_and_without_their_punctuation() -> None:
    linker = NgramLinker([("tuberous sclerosis",), ("tuberous sclerosis, type 1",), ("gout (disorder)",)], list("abc"))
    assert mentions(linker, "Tuberous sclerosis, type 1") == [("Tuberous sclerosis, type 1", "b")]
    assert mentions(linker, "tuberous sclerosis type 1") == [("tuberous sclerosis type 1", "b")]
    assert mentions(linker, "tuberous sclerosis; type 1") == [("tuberous sclerosis; type 1", "b")]
    assert mentions(linker, "a gout (disorder).") == [("gout (disorder", "c")]


def test_well_known_acronym_links_to_no_other_entity() -> None:
    names = [("myeloid sarcoma", "MS"), ("multiple sclerosis", "disseminated sclerosis")]
    assert mentions(NgramLinker(names, ["sarcoma", "sclerosis"]), "MS is myeloid sarcoma") == [
        ("myeloid sarcoma", "sarcoma")
    ]
    named = [names[0], (*names[1], "MS")]
    assert mentions(NgramLinker(named, ["sarcoma", "sclerosis"]), "MS") == [("MS", "sclerosis")]


def test_mentions_cross_line_breaks_but_not_full_stops() -> None:
    linker = NgramLinker([("breast  cancer",), ("fever",)], ["b", "f"])
    text = "  breast\r\n   cancer,  fever"
    assert mentions(linker, text) == [("breast\r\n   cancer", "b"), ("fever", "f")]
    assert mentions(linker, "of the breast. Cancer was") == []


@given(st.text(alphabet="abc .", max_size=60))
def test_as_a_search_of_all_ngrams(text: str) -> None:
    """Against the plain way: at each word, the longest n-gram that is a name, else the next word."""
    linker = NgramLinker([(name,) for name in NAMES if len(name) > 1], [name for name in NAMES if len(name) > 1])
    words = [(match.group(), match.start(), match.end()) for match in re.finditer(r"[abc]+", text)]
    expected, at = [], 0
    while at < len(words):
        for size in (3, 2, 1):
            gram = words[at : at + size]
            name = " ".join(word for word, _, _ in gram)
            # A name is written with one character, or one run of blanks, between its words.
            between = [text[first[2] : second[1]] for first, second in pairwise(gram)]
            if len(gram) == size and name in NAMES and len(name) > 1 and all(map(APART.fullmatch, between)):
                expected.append(EntitySpan(gram[0][1], gram[-1][2], name))
                at += size
                break
        else:
            at += 1
    assert linker.link(text) == expected


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "triples.tsv"
    head = "subject_id\tsubject_name\trelation\tobject_id\tobject_name"
    rows = ["DOID:2\tinfluenza\thas_symptom\tSYMP:1\tfever", "DOID:2\tinfluenza\tis_a\tDOID:1\tviral disease"]
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def test_the_command_counts(table: Path) -> None:
    done = CliRunner().invoke(app, ["concepts", "graph", "stats", str(table), "--json"])
    counted = json.loads(done.stdout)
    assert (counted["entities"], counted["triples"], counted["degree_max"]) == (3, 2, 2)
    shown = CliRunner().invoke(app, ["concepts", "graph", "stats", str(table)])
    assert "has_symptom" in shown.stdout
    assert "influenza" in shown.stdout


def test_the_command_links(table: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Influenza with fever", encoding="utf-8")
    done = CliRunner().invoke(app, ["concepts", "graph", "link", str(table), str(note), "--json"])
    spans = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(span["start"], span["end"], span["entity_id"]) for span in spans] == [(0, 9, "DOID:2"), (15, 20, "SYMP:1")]
    shown = CliRunner().invoke(app, ["concepts", "graph", "link", str(table), "a fever"])
    assert "SYMP:1" in shown.stdout


def test_the_command_draws(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "influenza.svg"
    done = CliRunner().invoke(
        app, ["concepts", "graph", "picture", str(table), "Influenza", "--out", str(out), "--steps", "1"]
    )
    assert done.exit_code == 0
    assert "viral disease" in out.read_text(encoding="utf-8")


def test_unwritable_picture_fails_before_reading_the_graph(tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    done = CliRunner().invoke(
        app, ["concepts", "graph", "picture", "nowhere", "x", "--out", str(tmp_path / "folder.svg")]
    )
    assert isinstance(done.exception, DataError)
    assert "folder.svg, which is a folder" in str(done.exception)


@pytest.mark.parametrize(
    "arguments",
    [
        ["stats", "nowhere"],
        ["link", "nowhere", "a fever"],
        ["link", "TABLE", "."],
        ["picture", "TABLE", "x", "--out", "a.gif"],
    ],
)
def test_mistakes_are_user_errors(table: Path, arguments: list[str]) -> None:
    done = CliRunner().invoke(
        app, ["concepts", "graph", *(str(table) if each == "TABLE" else each for each in arguments)]
    )
    assert isinstance(done.exception, AuscultError)
