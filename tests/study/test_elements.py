"""What papers say, and where it is in the code: the lists name places that are there."""

from pathlib import Path

import pytest

from auscult.errors import DataError
from study.pages import elements
from study.pages.elements import departures_table, element_rows, find_place, read_elements
from study.pages.papers import ARNOLD, GALKO, GRUNDMANN, WANG, ZHU

PAPERS = [page.name for page in (ARNOLD, ZHU, GRUNDMANN, WANG, GALKO)]


@pytest.mark.parametrize("key", PAPERS)
def test_machine_readable_table_lists_elements_with_places(key: str) -> None:
    rows = [row for row in element_rows() if row["paper"] == key]
    assert len(rows) == len(read_elements(key)) >= 10
    assert all(row["where"] for row in rows if row["here"] == "as in the paper")


@pytest.mark.parametrize("key", PAPERS)
def test_paper_page_shows_only_the_main_departures(key: str) -> None:
    table = departures_table(key)
    assert 5 <= len(table.rows) < len(read_elements(key))
    assert len(table.as_markdown().split()) <= 200
    assert f"Of {len(read_elements(key))} equations" in table.notes[0]


@pytest.mark.parametrize("key", PAPERS)
def test_departures_are_listed_and_no_element_twice(key: str) -> None:
    listed = read_elements(key)
    assert len({each.element for each in listed}) == len(listed)
    assert {each.state for each in listed} >= {"faithful", "departs"}


def test_classes_methods_fields_and_constants_are_found() -> None:
    here = "study/pages/elements.py"
    lines = (elements.ROOT / here).read_text().splitlines()
    for name in ("ELEMENTS", "Element", "Element.how", "Place.text", "find_place"):
        place = find_place(f"{here}::{name}")
        assert name.rpartition(".")[2] in lines[place.line - 1]
    assert find_place(here).text == here
    assert find_place(f"{here}::Element.how").text == f"{here}::Element.how"


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
        "- {element: a, is: faithful, where: x.py, short: b}",
        "- [",
    ],
)
def test_incomplete_list_is_an_error(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.yaml").write_text(text)
    monkeypatch.setattr(elements, "ELEMENTS", tmp_path)
    with pytest.raises(DataError, match=r"x\.yaml"):
        read_elements("x")
