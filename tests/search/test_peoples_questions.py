"""Questions as people ask them, of 40 short documents: written before the code that answers them, half held out.

`tests/data/peoples_questions` has the documents and both halves. The held-out half was looked at once, when this code
was finished: 71 % of its questions had the right passage first (the other half 84 %), 88 % among three (96 %); 30 % of
these were told to be no answer (32 %), and so were 9 of 11 questions that no document answers (8 of 11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import auscult
from auscult.files.json_text import parse_json
from auscult.search import Searcher
from auscult.search.certainty import DOUBTFUL, LIKELY
from auscult.search.hits import Hit
from auscult.understanding import Query

FOLDER = Path(__file__).parents[1] / "data" / "peoples_questions"
HALVES = ("questions", "held_out")


@dataclass(frozen=True)
class Answered:
    """A question, its hits, and the place of the first right one."""

    question: Mapping[str, Any]
    hits: list[Hit]
    right: int | None

    @property
    def chance(self) -> float:
        return max((hit.probability or 0.0 for hit in self.hits), default=0.0)


def plain(*parts: str) -> str:
    """The words of texts: a line of a note may have become a heading and what stands below it."""
    return " ".join(re.findall(r"\w+", " ".join(parts)))


def answers(question: Mapping[str, Any], hit: Hit) -> bool:
    return any(
        Path(answer["document"]).stem in hit.doc_id
        and (answer["heading"].lower() == hit.heading.lower() or plain(answer["line"]) in plain(hit.heading, hit.text))
        for answer in question["answers"]
    )


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Answered]]:
    place = tmp_path_factory.mktemp("answered") / "index"
    auscult.build_index(FOLDER / "documents", out=place)
    searcher = Searcher.open(place)
    by_half: dict[str, list[Answered]] = {}
    for half in HALVES:
        by_half[half] = []
        for question in parse_json((FOLDER / f"{half}.json").read_bytes()):
            query = searcher.understand(Query("", "", text=question["question"])).query
            hits = searcher.search(query)
            right = next((place for place, hit in enumerate(hits) if answers(question, hit)), None)
            by_half[half].append(Answered(question, hits, right))
    return by_half


@pytest.mark.parametrize("half", HALVES)
def test_the_answer_comes_first_or_among_three(answered: dict[str, list[Answered]], half: str) -> None:
    found = [each for each in answered[half] if each.question["answers"]]
    assert sum(each.right == 0 for each in found) >= 0.65 * len(found)
    assert sum(each.right is not None and each.right < 3 for each in found) >= 0.85 * len(found)


@pytest.mark.parametrize("half", HALVES)
def test_headings_without_text_are_found(answered: dict[str, list[Answered]], half: str) -> None:
    found = [each for each in answered[half] if each.question["kind"] == "heading"]
    assert all(each.right is not None and each.right < 5 for each in found)


@pytest.mark.parametrize("half", HALVES)
def test_british_and_american_spellings_find_the_same(answered: dict[str, list[Answered]], half: str) -> None:
    pairs: dict[str, list[Answered]] = {}
    for each in answered[half]:
        if "pair" in each.question:
            pairs.setdefault(each.question["pair"], []).append(each)
    assert len(pairs) >= 8
    for british, american in pairs.values():
        assert british.hits[0].passage_id == american.hits[0].passage_id
        assert british.chance == pytest.approx(american.chance, abs=0.1)


@pytest.mark.parametrize("half", HALVES)
def test_unanswerable_questions_are_rarely_called_answered(answered: dict[str, list[Answered]], half: str) -> None:
    found = [each for each in answered[half] if not each.question["answers"]]
    assert sum(each.chance >= LIKELY for each in found) <= 0.1 * len(found)
    assert sum(each.chance < DOUBTFUL for each in found) >= 0.15 * len(found)


@pytest.mark.parametrize("half", HALVES)
def test_correct_answers_are_rarely_called_doubtful(answered: dict[str, list[Answered]], half: str) -> None:
    right = [each for each in answered[half] if each.right == 0]
    assert sum(each.chance < DOUBTFUL for each in right) <= 0.2 * len(right)


@pytest.mark.parametrize("half", HALVES)
def test_the_line_that_answers_is_marked(answered: dict[str, list[Answered]], half: str) -> None:
    first = [result for result in answered[half] if result.right == 0]
    marked = 0
    for result in first:
        hit = result.hits[0]
        lines = [answer["line"] for answer in result.question["answers"]]
        texts = [sentence.text for sentence in hit.sentences if sentence.marked]
        marked += any(line in text or text in line for line in lines for text in texts)
    assert marked >= 0.7 * len(first)
