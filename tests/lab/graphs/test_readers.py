"""Readers of knowledge graphs, on small files in the true formats and on the real data."""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.concepts.obo import read_obo
from auscult.documents import Section, build_document
from auscult.errors import ConfigError, DataError
from auscult.files.reading import read_lines
from auscult_lab.graphs.graph import KnowledgeGraph
from auscult_lab.graphs.opening import (
    MENTIONS,
    Part,
    graph_of_documents,
    open_graph,
    read_graph,
    read_obo_relations,
    read_umls,
)
from auscult_lab.graphs.wikidata import read_wikidata
from needs import Needs

ENTITIES = """id\tname\tsource\tsynonyms\tdefinition\txrefs
DOID:1\tdisease\tDO\t\t\t
DOID:2\tinfluenza\tDO\tflu|grippe\t\t
DOID:4\tfever\tDO\t\t\t
SYMP:3\tfever\tSYMP\tpyrexia\t\t
"""
TRIPLES = """subject_id\tsubject_name\trelation\tobject_id\tobject_name\tsource
DOID:2\tinfluenza\tis_a\tDOID:1\tdisease\tDO
DOID:2\tinfluenza\thas_symptom\t\tFever\tDO
DOID:2\tinfluenza\thas_symptom\tSYMP:3\tfever\tDO
DOID:2\tinfluenza\tlocated_in\t\tthe  Airways\tDO-definition
DOID:2\tinfluenza\tlocated_in\t\tairways\tDO-definition
DOID:9\tswine flu\tis_a\tdoid:2\tinfluenza\tDO
"""
OBO = """format-version: 1.4
ontology: mondo

[Term]
id: MONDO:0000001
name: disease

[Term]
id: MONDO:0000002
name: cystic fibrosis
synonym: "mucoviscidosis" EXACT []
synonym: "lung disease" BROAD []
is_a: MONDO:0000001 {source="DOID:1485"} ! disease
relationship: RO:0004003 http://identifiers.org/hgnc/1884 {source="OMIM:219700"} ! CFTR
intersection_of: MONDO:0000001 ! disease
intersection_of: disease_has_location UBERON:0002048 ! lung

[Term]
id: MONDO:0000003
name: obsolete thing
is_a: MONDO:0000001 ! disease
is_obsolete: true

[Typedef]
id: RO:0004003
name: has material basis in
"""
MRCONSO = [
    "C0000001|ENG|S|L1|PF|S1|Y|A1||M1|D1|MSH|PM|D1|IgAN|0|N||",
    "C0000001|ENG|P|L2|PF|S2|Y|A2||M1|D1|MSH|MH|D1|IgA nephropathy|0|N|256|",
    "C0000001|SPA|P|L3|PF|S3|Y|A3||M1|D1|MSHSPA|MH|D1|Nefropatía por IgA|3|N||",
    "C0000001|ENG|S|L4|PF|S4|Y|A4||M1|D1|MSH|PM|D1|Withdrawn name|0|O||",
    "C0000002|ENG|P|L5|PF|S5|Y|A5||M2|D2|MSH|MH|D2|Kidney|0|N|256|",
    "C0000003|ENG|P|L6|PF|S6|Y|A6||M3|D3|MSH|MH|D3|Kidney diseases|0|N|256|",
]
# "C0000001 has finding_site_of C0000002" is said as: C0000002 (CUI1) RO C0000001 (CUI2).
MRREL = [
    "C0000002|A5|AUI|RO|C0000001|A2|AUI|has_finding_site|R1||SNOMEDCT_US|SNOMEDCT_US|||N||",
    "C0000003|A6|AUI|CHD|C0000001|A2|AUI||R2||MSH|MSH|||N||",
    "C0000003|A6|AUI|CHD|C0000002|A2|AUI|isa|R3||MSH|MSH|||O||",
    "C0000001|A1|AUI|SY|C0000001|A2|AUI|entry_version_of|R4||MSH|MSH|||N||",
]


def rows(graph: KnowledgeGraph) -> set[tuple[str, str, str]]:
    return {(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in graph.triples.tolist()}


def names(graph: KnowledgeGraph) -> dict[str, tuple[str, ...]]:
    return dict(zip(graph.entities, graph.names, strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with gzip.open(tmp_path / "triples.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(TRIPLES)
    (tmp_path / "entities.tsv").write_text(ENTITIES, encoding="utf-8")
    return tmp_path


def test_objects_without_id_match_names_or_become_entities(folder: Path) -> None:
    graph = read_graph(folder)
    assert rows(graph) == {
        ("DOID:2", "is_a", "DOID:1"),
        ("DOID:2", "has_symptom", "SYMP:3"),
        ("DOID:2", "located_in", "name:airways"),
        ("DOID:9", "is_a", "DOID:2"),
    }
    assert names(graph)["DOID:2"] == ("influenza", "flu", "grippe")
    assert names(graph)["name:airways"] == ("Airways",)
    assert names(graph)["DOID:9"] == ("swine flu",)


def test_cross_referenced_records_merge_into_one_entity(tmp_path: Path) -> None:
    entities = [
        "id\tname\tsource\tsynonyms\tdefinition\txrefs",
        "MONDO:2\tflu\tMONDO\tgrippe\t\tDOID:2|UMLS:C1",
        "MONDO:3\tdisease, mixed\tMONDO\t\t\tDOID:1|DOID:2",
        "DOID:1\tdisease\tDO\t\t\t",
        "DOID:2\tinfluenza\tDO\t\t\t",
    ]
    triples = ["MONDO:2\tis_a\tMONDO:3", "DOID:2\tis_a\tMONDO:2", "MONDO:3\tis_a\tDOID:1", "x\tcauses\tMONDO:2"]
    (tmp_path / "entities.tsv").write_text("\n".join(entities) + "\n", encoding="utf-8")
    (tmp_path / "triples.tsv").write_text("head\trelation\ttail\n" + "\n".join(triples) + "\n", encoding="utf-8")
    graph = read_graph(tmp_path)
    assert rows(graph) == {("DOID:2", "is_a", "MONDO:3"), ("MONDO:3", "is_a", "DOID:1"), ("x", "causes", "DOID:2")}
    assert names(graph)["DOID:2"] == ("influenza", "flu", "grippe")


def test_reordered_name_of_another_entity_is_no_synonym(tmp_path: Path) -> None:
    entities = [
        "id\tname\tsource\tsynonyms\tdefinition\txrefs",
        "DOID:1\tMODY\tDO\tdiabetes mellitus type 2|mild diabetes\t\t",
        "DOID:2\ttype 2 diabetes mellitus\tDO\t\t\t",
        "MONDO:2\ttype 2 diabetes mellitus\tMONDO\t\t\tDOID:2",
    ]
    (tmp_path / "entities.tsv").write_text("\n".join(entities) + "\n", encoding="utf-8")
    (tmp_path / "triples.tsv").write_text("head\trelation\ttail\nDOID:1\tis_a\tDOID:2\n", encoding="utf-8")
    assert names(read_graph(tmp_path)) == {
        "DOID:1": ("MODY", "mild diabetes"),
        "DOID:2": ("type 2 diabetes mellitus", "diabetes mellitus type 2"),
    }


def test_without_entities_the_table_names_its_own(folder: Path) -> None:
    graph = read_graph(folder / "triples.tsv.gz")
    assert ("DOID:2", "has_symptom", "name:fever") in rows(graph)
    assert names(graph)["DOID:1"] == ("disease",)


@pytest.mark.parametrize(
    "text",
    [
        "anna\tknows\tben\nben\tknows\tcarl\n",
        "head\trelation\ttail\nanna\tknows\tben\nben\tknows\tcarl\n",
        "Source\trelation\ttarget\r\nanna\tknows\tben\r\nben\tknows\tcarl\r\n",
        "\ufeffanna\tknows\tben\nben\tknows\tcarl\n\n",
        "\ufeffhead\trelation\ttail\nanna\tknows\tben\nben\tknows\tcarl",
    ],
)
def test_plain_tables_with_and_without_column_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "friends.txt"
    path.write_text(text, encoding="utf-8")
    assert rows(read_graph(path)) == {("anna", "knows", "ben"), ("ben", "knows", "carl")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty file"),
        ("a\tb\n", "columns subject_id relation object_id"),
        ("a\tr\tb\nc\tr\n", ":2"),
        ("a\tr\tb\nc\t\td\n", ":2"),
        ("a\tr\tb\n\t\t\n", ":2"),
        ("subject_id\trelation\tobject_id\n", r"triples in \S+bad\.tsv, got none"),
    ],
)
def test_bad_tables_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_graph(path)


def test_obo_relations(tmp_path: Path) -> None:
    path = tmp_path / "small.obo"
    path.write_text(OBO, encoding="utf-8")
    graph = read_graph(path)
    assert rows(graph) == {
        ("MONDO:0000002", "is_a", "MONDO:0000001"),
        ("MONDO:0000002", "has_material_basis_in", "http://identifiers.org/hgnc/1884"),
        ("MONDO:0000002", "disease_has_location", "UBERON:0002048"),
    }
    assert names(graph)["MONDO:0000002"] == ("cystic fibrosis", "mucoviscidosis")
    assert names(graph)["UBERON:0002048"] == ("lung",)


def test_a_bad_relation_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.obo"
    path.write_text("[Term]\nid: X:1\nname: x\nrelationship: part_of\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.obo:4"):
        read_obo_relations(path)


def test_obo_values_omit_comments_modifiers_and_line_continuations(tmp_path: Path) -> None:
    path = tmp_path / "odd.obo"
    lines = [
        "\ufeffformat-version: 1.4 ! a comment",
        "! a comment that ends in a backslash \\",
        "",
        "[Term] ! a stanza",
        "id: X:1 ! root",
        r'name: a\! root\: {all} of "a ! b" {source="PMID:1 } ! 2", by="\"x"} ! trailing',
        "alt_id: X:9 ! older",
        'synonym: "the ! one {a=b}" EXACT [] {source="x"} ! said',
        'def: "A ! B" [X:a] {a="b"}',
        "[Term]",
        "id: X:2",
        'name: 5" wide \\',
        "   leaf ! wide",
        "is_a: X:1 ! the \\",
        "root",
        'relationship: RO:1 X:3 {all_only="true"} ! third',
        "[Term]",
        "id: X:4",
        "name: gone",
        'is_obsolete: true {by="x"} ! really',
        "is_a: X:1",
        "[Typedef]",
        "id: RO:1 ! a relation",
        "name: lies in ! somewhere",
    ]
    path.write_text("\r\n".join(lines), encoding="utf-8")
    graph = read_graph(path)
    assert rows(graph) == {("X:2", "is_a", "X:1"), ("X:2", "lies_in", "X:3")}
    assert names(graph) == {
        "X:1": ('a! root: {all} of "a ! b"', "the ! one {a=b}"),
        "X:2": ('5" wide leaf',),
        "X:3": ("third",),
    }
    root, leaf = read_obo(path)
    assert (root.concept_id, root.definition, root.xrefs) == ("X:1", "A ! B", ("X:9",))
    assert leaf.parents == ("X:1",)


def test_errors_name_the_physical_line_number(tmp_path: Path) -> None:
    path = tmp_path / "bad.obo"
    path.write_text("[Term]\nid: X:1\nname: a \\\n b\nrelationship: \\\npart_of\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.obo:5"):
        read_graph(path)


PLAIN = "".join(f"a{number}\tr\tb{number * number}\n" for number in range(5000)).encode()
# The moment is no part of it: parameters are to be the same in every process that collects them.
PACKED = gzip.compress(PLAIN, mtime=0)


def damaged(packed: bytes) -> bytes:
    """Packed data with bytes in it that no packer writes."""
    return packed[:20] + bytes(255 - byte for byte in packed[20:60]) + packed[60:]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv", PLAIN + b"caf\xe9\tr\tb\n", r"UTF-8 text at \S+a\.tsv:5001, got the byte 0xe9; save"),
        ("a.tsv.gz", PACKED[:-4000], r"a whole compressed file at \S+a\.tsv\.gz, .*; copy it again"),
        ("a.tsv.gz", damaged(PACKED), r"a whole compressed file at \S+a\.tsv\.gz, .*; copy it again"),
        ("a.tsv.gz", PLAIN, r"a whole compressed file at \S+a\.tsv\.gz, .*; copy it again"),
        ("a.obo.gz", damaged(PACKED), r"a whole compressed file at \S+a\.obo\.gz"),
        ("a.json.gz", damaged(PACKED), r"a whole compressed file at \S+a\.json\.gz"),
        ("a.json.bz2", PLAIN, r"a whole compressed file at \S+a\.json\.bz2"),
        ("a.json.bz2", bz2.compress(PLAIN)[:100], r"a whole compressed file at \S+a\.json\.bz2"),
        ("a.obo", b"", r"terms with relations in \S+a\.obo"),
        ("a.json", b"", r"claims whose value is an item in \S+a\.json"),
    ],
    ids=["no UTF-8", "cut", "damaged", "not packed", "OBO", "Wikidata", "no bz2", "cut bz2", "no OBO", "no Wikidata"],
)
def test_errors_of_a_file_are_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_graph(tmp_path / name)


def test_unknown_graph_name_lists_the_known_ones() -> None:
    with pytest.raises(DataError, match=r"nothing at knowledge_base; .* knowledge-base, medquad, enwiki"):
        open_graph("knowledge_base")
    with pytest.raises(DataError, match=r"nothing at doid\.obo; check the path$"):
        open_graph("doid.obo")


@pytest.fixture
def umls(tmp_path: Path) -> Path:
    (tmp_path / "MRCONSO.RRF").write_text("\n".join(MRCONSO) + "\n", encoding="utf-8")
    with gzip.open(tmp_path / "MRREL.RRF.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(MRREL) + "\n")
    return tmp_path


def test_umls_relations_keep_their_direction(umls: Path) -> None:
    graph = read_graph(umls)
    assert rows(graph) == {
        ("UMLS:C0000001", "has_finding_site", "UMLS:C0000002"),
        ("UMLS:C0000001", "CHD", "UMLS:C0000003"),
    }
    assert names(graph)["UMLS:C0000001"] == ("IgA nephropathy", "IgAN")


def test_unreadable_files_are_named(tmp_path: Path, umls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="Is a directory; name a file in it"):
        list(read_lines(tmp_path))
    with pytest.raises(DataError, match="name too long"):
        read_graph("x" * 5000)
    (tmp_path / "a.tsv").write_text("a\tr\tb\n", encoding="utf-8")

    def refuse(self: Path, *_: object, **__: object) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    # No mode keeps a file from root, who may run this.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=r"a\.tsv, got Permission denied; correct its permissions"):
        read_graph(tmp_path / "a.tsv")
    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(DataError, match=r"MRCONSO\.RRF, got Permission denied"):
        read_graph(umls)


def test_umls_of_one_source_and_damaged_umls(umls: Path) -> None:
    assert rows(read_umls(umls, ["MSH"])) == {("UMLS:C0000001", "CHD", "UMLS:C0000003")}
    with pytest.raises(DataError, match=r"--source NOPE, MHS states in \S+MRREL\.RRF\.gz, got none; name other"):
        read_umls(umls, ["NOPE", "MHS"])
    (umls / "MRCONSO.RRF").write_text(MRCONSO[0] + "\nC1|ENG|\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"MRCONSO\.RRF:2"):
        read_umls(umls)
    (umls / "MRREL.RRF.gz").unlink()
    with pytest.raises(DataError, match=r"MRREL\.RRF"):
        read_umls(umls)


def item(identifier: str, label: str, aliases: tuple[str, ...] = (), **claims: list[str]) -> dict[str, object]:
    def claim(relation: str, value: str) -> dict[str, object]:
        rank = "deprecated" if value.startswith("-") else "normal"
        target = {"entity-type": "item", "id": value.lstrip("-"), "numeric-id": int(value.lstrip("-Q"))}
        datavalue = {"value": target, "type": "wikibase-entityid"}
        snak = {"snaktype": "value", "property": relation, "datavalue": datavalue, "datatype": "wikibase-item"}
        return {"mainsnak": snak, "type": "statement", "rank": rank}

    return {
        "type": "item",
        "id": identifier,
        "labels": {"en": {"language": "en", "value": label}, "de": {"language": "de", "value": "anders"}},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]},
        "claims": {relation: [claim(relation, value) for value in values] for relation, values in claims.items()} or [],
    }


def dump() -> bytes:
    property_ = {"type": "property", "id": "P780", "labels": {"en": {"language": "en", "value": "has symptom"}}}
    influenza = item("Q2840", "influenza", ("flu",), P279=["Q18123741"], P780=["Q38933", "-Q35805"])
    text = {"value": "487", "type": "string"}
    snaks: list[dict[str, object]] = [
        {"snaktype": "value", "property": "P493", "datavalue": text},
        {"snaktype": "somevalue", "property": "P493"},
    ]
    influenza["claims"]["P493"] = [{"mainsnak": snak, "rank": "normal"} for snak in snaks]  # type: ignore[index]
    entities = [
        influenza,
        item("Q18123741", "infectious disease", P279=["Q12136"]),
        item("Q12136", "disease"),
        item("Q38933", "fever", ("pyrexia",), P279=["Q169872"]),
        property_,
    ]
    return ("[\n" + ",\n".join(map(json.dumps, entities)) + "\n]\n").encode()


@pytest.mark.parametrize("suffix", ["json", "json.gz", "json.bz2"])
def test_wikidata(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"latest-all.{suffix}"
    path.write_bytes({"json": bytes, "json.gz": gzip.compress, "json.bz2": bz2.compress}[suffix](dump()))
    graph = read_graph(path)
    assert rows(graph) == {
        ("Q2840", "P279", "Q18123741"),
        ("Q2840", "has symptom", "Q38933"),
        ("Q18123741", "P279", "Q12136"),
        ("Q38933", "P279", "Q169872"),
    }
    assert names(graph)["Q2840"] == ("influenza", "flu")
    assert names(graph)["Q169872"] == ("Q169872",)


def test_a_part_of_wikidata(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(dump())
    assert rows(read_wikidata(path, properties=["p780"])) == {("Q2840", "has symptom", "Q38933")}
    for properties, roots, said in (
        (["P9"], [], "--property P9"),
        ([], ["q9", "Q8"], "--root Q8, Q9"),
        (["P780"], ["Q9"], "--property P780 and --root Q9"),
    ):
        with pytest.raises(DataError, match=rf"{said} whose value is an item in \S+dump\.json, got none; name others"):
            read_wikidata(path, properties=properties, roots=roots)
    assert rows(read_wikidata(path, roots=["q12136"])) == {
        ("Q2840", "P279", "Q18123741"),
        ("Q2840", "has symptom", "Q38933"),
        ("Q18123741", "P279", "Q12136"),
    }


def test_class_chains_reach_a_root_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    items = [
        item("Q5", "case", P31=["Q4"], P780=["Q9"]),
        item("Q4", "kind of flu", P31=["Q3"]),
        item("Q3", "flu", P279=["Q2"]),
        item("Q2", "infection", P279=["Q1"]),
        item("Q6", "city", P31=["Q7"], P780=["Q9"]),
    ]
    path.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    graph = read_wikidata(path, properties=["P780"], roots=["Q1"])
    assert rows(graph) == {("Q5", "P780", "Q9")}
    assert names(graph) == {"Q5": ("case",), "Q9": ("Q9",)}


def most_memory(read: Callable[[], KnowledgeGraph]) -> int:
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("part", [{"properties": ["P780"]}, {"roots": ["Q1"]}])
def test_skipped_wikidata_items_take_no_memory(tmp_path: Path, part: dict[str, list[str]]) -> None:
    path = tmp_path / "dump.json"
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(item("Q2", "influenza", P780=["Q3"], P279=["Q1"])) + "\n")
        for number in range(10, 2010):
            file.write(json.dumps(item(f"Q{number}", "x" * 10_000, P31=["Q4"])) + "\n")
    assert most_memory(lambda: read_wikidata(path, **part)) < 2e6


def test_concepts_without_relations_take_no_memory(umls: Path) -> None:
    with (umls / "MRCONSO.RRF").open("a", encoding="utf-8") as file:
        for number in range(2000):
            file.write(MRCONSO[0].replace("C0000001", f"C1{number:06}").replace("IgA", "x" * 10_000) + "\n")
    assert most_memory(lambda: read_umls(umls)) < 2e6


def test_parts_are_for_formats_that_have_them(folder: Path, umls: Path, tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(dump())
    assert rows(read_graph(path, Part(properties=("P780",)))) == {("Q2840", "has symptom", "Q38933")}
    assert len(read_graph(path, Part(roots=("Q12136",))).triples) == 3
    assert rows(read_graph(umls, Part(sources=("MSH",)))) == {("UMLS:C0000001", "CHD", "UMLS:C0000003")}
    for place, part, said in (
        (path, Part(sources=("MSH",)), "sources of a graph of UMLS"),
        (umls, Part(roots=("Q1",)), "roots of a graph of Wikidata"),
        (folder, Part(properties=("P1",)), "properties of a graph of Wikidata"),
        (folder / "triples.tsv.gz", Part(sources=("MSH",)), "sources of a graph of UMLS"),
    ):
        with pytest.raises(ConfigError, match=said):
            read_graph(place, part)


def test_the_commands_take_parts(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(dump())
    for options, triples in (([], 4), (["--property", "P780"], 1), (["--root", "Q12136"], 3)):
        done = CliRunner().invoke(app, ["concepts", "graph", "stats", str(path), "--json", *options])
        assert json.loads(done.stdout)["triples"] == triples
    for command in (
        ["link", "fever"],
        ["picture", "fever", "--out", str(tmp_path / "fever.svg")],
        ["embed", "--out", str(tmp_path / "vectors")],
    ):
        done = CliRunner().invoke(app, ["concepts", "graph", command[0], str(path), *command[1:], "--source", "MSH"])
        assert isinstance(done.exception, ConfigError)


def test_multilingual_names_replace_missing_english_ones(tmp_path: Path) -> None:
    def called(identifier: str, **texts: str) -> dict[str, object]:
        labels = {language.replace("_", "-"): {"value": text} for language, text in texts.items()}
        aliases = {language: [{"value": f"also {text['value']}"}] for language, text in labels.items()}
        return item(identifier, "", P31=["Q9"]) | {"labels": labels, "aliases": aliases}

    path = tmp_path / "dump.json"
    entities = [
        called("Q1", mul="multiple", en="English"),
        called("Q2", en_gb="haemophilia", de="Bluterkrankheit"),
        called("Q3", en_gb="British", mul="multiple"),
        called("Q4", de="deutsch"),
        {"entity": "Q5", "redirect": "Q4"},
        called("L6", en="a lexeme"),
    ]
    path.write_text("\n".join(map(json.dumps, entities)), encoding="utf-8")
    graph = read_graph(path)
    assert {subject for subject, _, _ in rows(graph)} == {"Q1", "Q2", "Q3", "Q4"}
    assert names(graph) == {
        "Q1": ("English", "also English"),
        "Q2": ("haemophilia", "also haemophilia"),
        "Q3": ("multiple", "also multiple"),
        "Q4": ("Q4",),
        "Q9": ("Q9",),
    }


ONE_CLAIM = '"claims": {"P31": [{"mainsnak": {"datavalue": {"value": {"entity-type": "item", "id": "Q1"}}}}]}'


@pytest.mark.parametrize(
    "fields",
    [
        '"claims": 5',
        '"claims": {"P31": [{"foo": 1}]}',
        '"claims": {"P31": [{"mainsnak": {"datavalue": {"value": {"entity-type": "item"}}}}]}',
        '"claims": {"P31": [{"mainsnak": {"datavalue": null}}]}',
        f'"labels": "x", {ONE_CLAIM}',
        f'"labels": {{"en": "plain"}}, {ONE_CLAIM}',
        f'"aliases": {{"en": [{{"text": "x"}}]}}, {ONE_CLAIM}',
    ],
)
@pytest.mark.parametrize("roots", [(), ("Q1",)])
def test_malformed_entity_is_named_with_its_line(tmp_path: Path, fields: str, roots: tuple[str, ...]) -> None:
    path = tmp_path / "dump.json"
    path.write_text(f'[\n{{"id": "Q1", {fields}}}\n]\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"labels, aliases and claims as Wikidata has them at \S+dump\.json:2"):
        read_wikidata(path, roots=roots)


@pytest.mark.parametrize("content", [b"[\n{\n]\n", b'[\n{"type": "item"}\n]\n'])
def test_a_damaged_dump_is_named_with_its_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"dump\.json:2"):
        read_graph(path)


def test_a_file_without_graph_is_named(tmp_path: Path) -> None:
    (tmp_path / "graph.ttl").write_text("")
    for path in (tmp_path, tmp_path / "graph.ttl", tmp_path / "absent"):
        with pytest.raises(DataError, match="Wikidata dump"):
            read_graph(path)


def test_a_graph_out_of_documents() -> None:
    pages = {
        "Influenza": [("Signs and symptoms", "It brings fever."), ("Zoonosis", "Influenza of a cough (symptom).")],
        "Fever": [("Causes", "A cold, influenza or a fever.")],
        "Cough (symptom)": [("Causes", "Influenza.")],
    }
    documents = [
        build_document(doc_id=title, title=title, sections=[Section(heading, text) for heading, text in sections])
        for title, sections in pages.items()
    ]
    graph = graph_of_documents(lambda: iter(documents), shared_by=1)
    assert rows(graph) == {
        ("name:influenza", "signs", "name:fever"),
        ("name:influenza", "symptoms", "name:fever"),
        ("name:influenza", "zoonosis", "name:cough (symptom)"),
        ("name:fever", "causes", "name:influenza"),
        ("name:cough (symptom)", "causes", "name:influenza"),
    }
    assert set(graph_of_documents(lambda: iter(documents), shared_by=2).relations) == {MENTIONS, "causes"}


def test_unqualified_artwork_title_is_no_entity_name() -> None:
    titles = ["Rash (medicine)", "Syndrome (album)"]
    documents = [
        build_document(doc_id=title, title=title, sections=[Section("Causes", "A rash of the syndrome.")])
        for title in titles
    ]
    graph = graph_of_documents(lambda: iter(documents))
    assert names(graph) == {
        "name:syndrome (album)": ("Syndrome (album)",),
        "name:rash (medicine)": ("Rash (medicine)", "Rash"),
    }
    assert rows(graph) == {("name:syndrome (album)", "mentions", "name:rash (medicine)")}


@pytest.mark.slow
def test_the_prepared_graph(needs: Needs) -> None:
    kg = needs.data("kg/triples.tsv.gz") / "kg"
    graph = read_graph(kg)
    assert (len(graph.entities), len(graph.relations), len(graph.triples)) == (26_909, 20, 50_288)
    assert ("DOID:8622", "has_symptom", "SYMP:0000613") in rows(graph)
    assert len(read_graph(kg / "symp.obo.gz").triples) == 898
    assert len(read_graph(kg / "HumanDO_2016-06-17.obo.gz").triples) == 7_135
