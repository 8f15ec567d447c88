"""What papers say, and where it is in the code: the lists name places that are there."""

from pathlib import Path
from typing import Any

import pytest

from auscult.errors import DataError
from study.pages import elements
from study.pages.elements import elements_table, find_place, read_elements
from study.pages.papers import ARNOLD, GALKO, GRUNDMANN, WANG, ZHU
from study.pages.tuning_table import tuning_table

PAPERS = [page.name for page in (ARNOLD, ZHU, GRUNDMANN, WANG, GALKO)]


@pytest.mark.parametrize("key", PAPERS)
def test_each_paper_is_listed_and_every_place_is_there(key: str) -> None:
    assert len(read_elements(key)) >= 10
    assert elements_table(key).rows


@pytest.mark.parametrize("key", PAPERS)
def test_what_departs_is_told_and_no_element_is_listed_twice(key: str) -> None:
    listed = read_elements(key)
    assert len({each.element for each in listed}) == len(listed)
    assert {each.state for each in listed} >= {"faithful", "departs"}


def test_names_of_classes_methods_fields_and_constants_are_found() -> None:
    here = "study/pages/elements.py"
    lines = (elements.ROOT / here).read_text().splitlines()
    for name in ("ELEMENTS", "Element", "Element.how", "Place.as_markdown", "find_place"):
        place = find_place(f"{here}::{name}")
        assert name.rpartition(".")[2] in lines[place.line - 1]
    assert find_place(here).as_markdown() == "[elements.py](../../study/pages/elements.py)"


@pytest.mark.parametrize(
    "where", ["study/gone.py", "study/pages/elements.py::gone", "study/pages/elements.py::Place.gone"]
)
def test_what_is_gone_is_named(where: str) -> None:
    with pytest.raises(DataError, match="gone"):
        find_place(where)


@pytest.mark.parametrize(
    "text",
    [
        "- {element: a, is: faithful}",
        "- {element: a, is: departs, where: x.py}",
        "- {element: a, is: so, how: b}",
        "- [",
    ],
)
def test_a_list_that_tells_too_little_is_an_error(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.yaml").write_text(text)
    monkeypatch.setattr(elements, "ELEMENTS", tmp_path)
    with pytest.raises(DataError, match=r"x\.yaml"):
        read_elements("x")


def test_the_table_of_tuning_has_a_row_a_ranker_with_the_best_first() -> None:
    def record(ranker: str, best: float, *, complete: bool = True) -> dict[str, Any]:
        choices = [
            {
                "learning_rate": 0.01,
                "negatives": "one",
                "train_words": True,
                "validation_R@1": 0.3,
                "validation_RR": best,
            },
            {
                "learning_rate": 0.1,
                "negatives": "bench",
                "train_words": True,
                "validation_R@1": 0.1,
                "validation_RR": 0.2,
            },
        ]
        return {"ranker": ranker, "best": choices[0], "choices": choices, "complete": complete, "date": "2026-11-24",
                "hardware": "2 cores"}  # fmt: skip

    table = tuning_table([record("PACRR", 0.5, complete=False), record("KNRM", 0.6)])
    assert [row[0] for row in table.rows] == ["KNRM", "PACRR"]
    assert table.rows[0][1:] == ("0.01", "0 + 1 + 0", "trained", "30.0", "60.0", "20.0", "2")
    assert table.rows[1][-1] == "2, the others took too long"
