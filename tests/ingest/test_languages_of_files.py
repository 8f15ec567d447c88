"""Files in French, Spanish and German are divided at their headings by the process that reads files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import auscult

FRENCH = """Motif de l'hospitalisation : dyspnée fébrile depuis trois jours, avec une toux.

Antécédents : hypertension artérielle et diabète de type 2. Pas d'allergie connue.

Conclusion : pneumopathie du lobe inférieur droit, d'évolution favorable sous traitement.
"""
GERMAN = """# Arztbrief

Anamnese: Der Patient klagt seit drei Tagen über Luftnot und Husten. Er hat kein Fieber.

Diagnose: Akute Bronchitis. Die Lunge ist auf beiden Seiten frei.

Therapie: Paracetamol 500 mg bei Bedarf, und die Wiedervorstellung in einer Woche.
"""
SPANISH = """<h1>Informe de alta</h1><p>Motivo de consulta: fiebre y tos desde hace una semana, sin dolor.</p>
<p>Antecedentes: hipertensión y diabetes. No tiene alergias conocidas.</p>
<p>Tratamiento: amoxicilina durante siete días, y paracetamol si la fiebre vuelve.</p>"""


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        ("a.txt", FRENCH, ["Motif de l'hospitalisation", "Antécédents", "Conclusion"]),
        ("a.md", GERMAN, ["Anamnese", "Diagnose", "Therapie"]),
        ("a.html", SPANISH, ["Motivo de consulta", "Antecedentes", "Tratamiento"]),
        (
            "a.jsonl",
            json.dumps({"id": "1", "text": FRENCH}),
            ["Motif de l'hospitalisation", "Antécédents", "Conclusion"],
        ),
    ],
)
def test_headings_divide_files(name: str, text: str, headings: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (document,) = auscult.read_files(tmp_path)
    found = [passage.heading for passage in document.passages]
    assert [heading for heading in found if heading in headings] == headings
