"""Statistics, neighbourhoods and pictures of graphs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from auscult.errors import ConfigError, DataError, QueryError
from auscult_lab.graphs.graph import KnowledgeGraph, Neighbours, graph_statistics, make_graph
from auscult_lab.graphs.neighbourhood import find_entity, neighbourhood
from auscult_lab.graphs.picture import save_picture

TRIPLES = [
    ("DOID:2", "is_a", "DOID:1"),
    ("DOID:3", "is_a", "DOID:2"),
    ("DOID:4", "is_a", "DOID:2"),
    ("DOID:5", "is_a", "DOID:2"),
    ("DOID:2", "has_symptom", "SYMP:1"),
    ("DOID:6", "has_symptom", "SYMP:1"),
    ("DOID:5", "has_symptom", "SYMP:1"),
    ("X:1", "r", "X:2"),
    ("X:3", "r", "X:3"),
]
NAMES = {
    "DOID:1": ["viral disease"], "DOID:2": ["influenza", "flu"], "DOID:3": ["avian influenza"],
    "DOID:4": ["influenza B"], "DOID:5": ["swine influenza"], "SYMP:1": ["fever"], "DOID:6": ["measles", "fever"],
}  # fmt: skip


@pytest.fixture
def graph() -> KnowledgeGraph:
    return make_graph(TRIPLES, NAMES)


def test_statistics_by_hand(graph: KnowledgeGraph) -> None:
    counted = graph_statistics(graph)
    assert (counted.entities, counted.relations, counted.triples) == (10, 3, 9)
    assert counted.triples_per_relation == (("is_a", 4), ("has_symptom", 3), ("r", 2))
    # Degrees: DOID:2 5; SYMP:1 3; DOID:5 2; seven of one.
    assert counted.degree_mean == pytest.approx(17 / 10)
    assert (counted.degree_median, counted.degree_max) == (1, 5)
    assert counted.hubs[:3] == (("DOID:2", 5), ("SYMP:1", 3), ("DOID:5", 2))
    assert (counted.leaf_share, counted.isolated_share) == (0.7, 0.1)
    assert (counted.components, counted.largest_component) == (3, 7)


def test_statistics_agree_with_networkx_on_random_graphs() -> None:
    import networkx

    chance = np.random.default_rng(3)
    for size in (5, 40, 200):
        ends = chance.integers(0, size, (size, 2))
        graph = make_graph(((f"e{a}", "r", f"e{b}") for a, b in ends), {})
        other = networkx.Graph([(a, b) for a, _, b in graph.triples.tolist()])
        counted = graph_statistics(graph)
        assert counted.components == networkx.number_connected_components(other)
        assert counted.largest_component == max(map(len, networkx.connected_components(other)))


def test_neighbours_are_the_triples(graph: KnowledgeGraph) -> None:
    near = Neighbours(graph)
    for number in range(len(graph.entities)):
        expected = sorted(
            [(r, True, o) for s, r, o in graph.triples.tolist() if s == number]
            + [(r, False, s) for s, r, o in graph.triples.tolist() if o == number]
        )
        assert sorted(near.of(number)) == expected


@pytest.mark.parametrize("entity", ["DOID:2", "doid:2", "Influenza", "FLU"])
def test_entities_are_found_by_id_and_name(graph: KnowledgeGraph, entity: str) -> None:
    assert graph.entities[find_entity(graph, entity)] == "DOID:2"


def test_a_name_belongs_to_the_entity_preferring_it(graph: KnowledgeGraph) -> None:
    assert graph.entities[find_entity(graph, "fever")] == "SYMP:1"


def test_a_misspelt_name_is_answered_with_those_alike(graph: KnowledgeGraph) -> None:
    with pytest.raises(QueryError, match="did you mean influenza"):
        find_entity(graph, "influensa")


def test_every_relation_has_its_turn(graph: KnowledgeGraph) -> None:
    around = neighbourhood(graph, "influenza", steps=1, limit=3)
    # Of is_a's three subjects the one in most triples, and the only ones of the other relations.
    assert around.graph.entities == ("DOID:2", "SYMP:1", "DOID:5", "DOID:1")
    assert (around.within, around.distances) == (5, (0, 1, 1, 1))


def test_a_neighbourhood_has_all_triples_between_its_entities(graph: KnowledgeGraph) -> None:
    around = neighbourhood(graph, "DOID:2", steps=2, limit=50)
    part = around.graph
    rows = {(part.entities[s], part.relations[r], part.entities[o]) for s, r, o in part.triples.tolist()}
    assert rows == {triple for triple in TRIPLES if not triple[0].startswith("X")}
    assert dict(zip(part.entities, around.distances, strict=True))["DOID:6"] == 2
    for child, link in enumerate(around.links, 1):
        assert around.distances[link.parent] == around.distances[child] - 1
        ends = (part.entities[link.parent], part.entities[child])
        subject, object_ = ends if link.outward else ends[::-1]
        assert (subject, part.relations[link.relation], object_) in rows


def test_no_steps_are_refused(graph: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError):
        neighbourhood(graph, "DOID:2", steps=0)


def test_the_picture_names_every_entity_and_relation(graph: KnowledgeGraph, tmp_path: Path) -> None:
    around = neighbourhood(graph, "DOID:2", steps=2)
    save_picture(around, tmp_path / "a.svg")
    save_picture(around, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    drawn = {"".join(each.itertext()).strip() for each in ET.parse(tmp_path / "a.svg").iter()}  # noqa: S314
    assert {"viral disease", "influenza", "swine influenza", "fever", "measles"} <= drawn
    assert {"is a (4)", "has symptom (3)"} <= drawn
    save_picture(neighbourhood(graph, "X:3"), tmp_path / "alone.png")
    assert (tmp_path / "alone.png").read_bytes().startswith(b"\x89PNG")


def test_entities_of_one_name_are_told_apart(tmp_path: Path) -> None:
    graph = make_graph([("A:1", "r", "A:2"), ("A:1", "r", "A:3")], {"A:2": ["twin"], "A:3": ["twin"]})
    save_picture(neighbourhood(graph, "A:1"), tmp_path / "twins.svg")
    assert "twin (A:3)" in (tmp_path / "twins.svg").read_text(encoding="utf-8")


def test_a_file_that_is_no_picture_is_refused(graph: KnowledgeGraph, tmp_path: Path) -> None:
    around = neighbourhood(graph, "DOID:2")
    for path in (tmp_path / "a.gif", tmp_path / "absent" / "a.svg"):
        with pytest.raises(ConfigError):
            save_picture(around, path)


def test_an_unwritable_file_is_named(graph: KnowledgeGraph, tmp_path: Path) -> None:
    around = neighbourhood(graph, "DOID:2")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(DataError, match=r"folder\.svg: Is a directory"):
        save_picture(around, tmp_path / "folder.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"], "the draft is gone"
    with pytest.raises(DataError, match="File name too long"):
        save_picture(around, tmp_path / ("x" * 400) / "a.svg")
