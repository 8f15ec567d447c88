"""What searching keeps in memory stays within its bounds, however many questions are asked."""

from __future__ import annotations

import gc
import random
from collections import Counter
from functools import _lru_cache_wrapper

import pytest

from auscult.concepts import Concept, KnowledgeBase
from auscult.documents import analysis
from auscult.index import Between, IndexWriter, passage_index
from auscult.index.words import analyse
from auscult.search import Searcher, SearchOptions
from encoders import HashedEncoder
from leaflets import generated, leaflets

QUESTIONS = 1_500
SLACK = 64
"""Objects of a type that may be more after as many questions again."""
ENCODER = HashedEncoder()


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    place = tmp_path_factory.mktemp("bounds") / "index"
    with IndexWriter(place, ENCODER) as writer:
        writer.add([*leaflets(), *generated(30)])
        writer.commit(KnowledgeBase([Concept(f"X:{n}", f"topic {n} wört{n}") for n in range(200)]))
    return Searcher.open(place, ENCODER)


def ask(searcher: Searcher, count: int, chance: random.Random) -> None:
    """Ask questions of all kinds: with names that are known, misspelt or new, aspects, and words that are nowhere."""
    for _ in range(count):
        name = chance.choice(
            ("migraine", "migraim", f"topic {chance.randint(0, 99)}", f"zorbic{chance.random()} fever")
        )
        words = " ".join(f"wört{chance.randint(0, 10**6)}" for _ in range(3))
        for _ in searcher.search(f"What are the symptoms of {name} with {words}?", 2):
            pass


def caches() -> list[_lru_cache_wrapper[object]]:
    return [each for each in gc.get_objects() if type(each) is _lru_cache_wrapper]


def objects() -> Counter[str]:
    gc.collect()
    return Counter(type(each).__name__ for each in gc.get_objects())


@pytest.mark.slow
def test_memory_does_not_grow_with_questions(searcher: Searcher) -> None:
    chance = random.Random(0)
    searcher.warm_up()
    ask(searcher, QUESTIONS, chance)
    unbounded = {id(cached): cached.cache_info().currsize for cached in caches() if cached.cache_info().maxsize is None}
    before = objects()
    ask(searcher, QUESTIONS, chance)
    after = objects()
    grown = {name: after[name] - before[name] for name in after if after[name] - before[name] > SLACK}
    assert grown == {}
    for cached in caches():
        info = cached.cache_info()
        if info.maxsize is None:
            assert info.currsize == unbounded.get(id(cached), info.currsize), cached
        else:
            assert info.currsize <= info.maxsize, cached


def test_filters_are_kept_up_to_a_number(searcher: Searcher) -> None:
    for number in range(3 * passage_index._KEPT):
        where = {"source": Between("", f"s{number}")}
        searcher.search("symptoms of migraine", 1, SearchOptions(where=where))
        assert len(searcher.index._filters) <= passage_index._KEPT


def test_the_token_cache_is_bounded_without_changing_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analysis, "_MOST_KNOWN", 50)
    texts = [f"kidneys{number} fail" for number in range(200)]
    first = [analyse(text) for text in texts]
    assert [analyse(text) for text in texts] == first
    assert len(analysis._known(analyse)) <= 50
