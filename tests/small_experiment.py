"""A small ontology, corpus and experiment that a training finishes in a second."""

from __future__ import annotations

import json
from pathlib import Path

ONTOLOGY = """format-version: 1.2

[Term]
id: DOID:2841
name: asthma
def: "A bronchial disease with narrowing of the airways." []
synonym: "bronchial asthma" EXACT []

[Term]
id: DOID:1
name: heart attack
synonym: "myocardial infarction" EXACT []

[Term]
id: DOID:2
name: gout
"""
ENTITIES = ["asthma", "gout", "heart attack", "measles", "mumps", "rubella", "scurvy", "rickets"]
SYMPTOMS = "People with {} often feel pain and fever. The signs of {} come slowly."
CAUSES = "A gene or a germ causes {}. Family history makes {} likelier."
TREATMENT = "Doctors treat {} with tablets. Surgery for {} is rare."


def leaflets() -> str:
    """Return documents about the entities, as JSON lines."""
    records = [
        {
            "id": name.replace(" ", "-"),
            "title": name.capitalize(),
            "sections": [
                {"heading": heading, "text": text.format(name, name)}
                for heading, text in (("Symptoms", SYMPTOMS), ("Causes", CAUSES), ("Treatment", TREATMENT))
            ],
        }
        for name in ENTITIES
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def settings(corpus: Path, ontology: Path, **changes: object) -> dict[str, object]:
    return {
        "name": "small", "track": "adapted", "corpora": [{"name": str(corpus)}], "knowledge": str(ontology),
        "validation": {"corpora": [str(corpus)], "documents": 2},
        "word_vectors": {"dim": 8, "epochs": 2, "buckets": 300, "min_count": 1},
        "network": {"lstm_dim": 8, "discourse_dim": 8},
        "targets": {"bloom": {"epochs": 1, "batch_size": 16}},
        "training": {"epochs": 3, "batch_documents": 3, "accelerator": "cpu", "patience": None}, **changes,
    }  # fmt: skip
