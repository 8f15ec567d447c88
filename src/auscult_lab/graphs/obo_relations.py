"""The relations of an OBO file (1.2, 1.4): Disease Ontology, Mondo, HPO, Symptom Ontology and others.

`is_a: B` gives (A, is_a, B); `relationship: r B` gives (A, r, B); of a definition by intersection the genus
(`intersection_of: B`) gives (A, is_a, B) and a differentia (`intersection_of: r B`) gives (A, r, B), because both hold
of everything that the term covers. Obsolete terms are left out. A relation with an identifier ("RO:0002200") is called
by the name that its [Typedef] has. An entity that other files describe is named by the comment after "!".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from auscult.concepts.obo import Stanza, is_obsolete, read_stanzas, read_synonyms, unescape
from auscult.errors import DataError
from auscult_lab.graphs.graph import KnowledgeGraph, Triple, entity_id, label_relations, make_graph

# Tag -> how many words its value may have.
_TAGS = {"is_a": (1,), "relationship": (2,), "intersection_of": (1, 2)}
_Names = dict[str, tuple[str, ...]]


def read_obo_relations(path: Path | str) -> KnowledgeGraph:
    """Read the graph of an OBO file.

    Args:
        path: `.obo` or `.obo.gz`.

    Raises:
        DataError: A line breaks the format, with its number, or no term has a relation.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"an OBO file at {path}", "no such file", "check the path")
    names: _Names = {}
    labels: dict[str, str] = {}
    graph = make_graph(_triples(path, names, labels), names, sought=f"terms with relations in {path}")
    return label_relations(graph, labels)


def _triples(path: Path, names: _Names, labels: dict[str, str]) -> Iterator[Triple]:
    """The triples of a file; `names` and `labels` get the names of its entities and relations."""
    for kind, line_number, stanza in read_stanzas(path):
        if kind not in ("Term", "Typedef"):
            continue
        identifier = next((each.value for each in stanza.get("id", [])), "")
        if not identifier:
            raise DataError(f"an id in the stanza at {path}:{line_number}", "none", "correct or remove that stanza")
        preferred = [unescape(each.value) for each in stanza.get("name", [])]
        if kind == "Typedef":
            labels.update((identifier, "_".join(name.split())) for name in preferred)
        elif not is_obsolete(stanza):
            subject = entity_id(identifier)
            names[subject] = (*preferred, *read_synonyms(path, stanza))
            yield from _relations(path, subject, stanza, names)


def _relations(path: Path, subject: str, stanza: Stanza, names: _Names) -> Iterator[Triple]:
    for tag, widths in _TAGS.items():
        for number, value, comment in stanza.get(tag, []):
            words = value.split()
            if len(words) not in widths:
                raise DataError(f"'{tag}: [relation] id' at {path}:{number}", repr(value[:80]), "correct that line")
            target = entity_id(words[-1])
            if comment:
                names.setdefault(target, (comment,))
            yield subject, words[0] if len(words) == 2 else "is_a", target
