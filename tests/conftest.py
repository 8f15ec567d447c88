"""Fixtures shared by the tests of several rooms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from small_experiment import CAUSES, ENTITIES, ONTOLOGY, SYMPTOMS, TREATMENT


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    path = tmp_path / "small.obo"
    path.write_text(ONTOLOGY, encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "leaflets.jsonl"
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
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
