"""Write what this version keeps on a disk, for the tests of all later ones: once a release.

    python tests/written_by.py        writes tests/data/written_by/VERSION/

`index` is of the leaflets in `examples/`, `run` a small training of CDV by `small.yaml` with its model, and
`answers.json` what they answered. The folder of a version that was released is never written again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml

import auscult
from auscult.encoders import load_model
from auscult.understanding import Query
from places import ROOT
from small_experiment import ONTOLOGY, leaflets, settings

WRITTEN = ROOT / "tests" / "data" / "written_by"
LEAFLETS = ROOT / "examples" / "leaflets"
QUESTIONS = ("How is gout treated?", "signs of a heart attack", "can coeliac disease be inherited?", "who found it?")


def answers_of(index: Path) -> dict[str, list[list[str]]]:
    """Return the passages that an index finds for each question, with their marked sentences."""
    opened = auscult.open_index(index)
    return {
        question: [
            [hit.passage_id, *(sentence.text for sentence in hit.sentences if sentence.marked)]
            for hit in opened.search(question, 3)
        ]
        for question in QUESTIONS
    }


def scores_of(model: Path) -> list[float]:
    """Return how well each sentence of a leaflet answers, by a model."""
    encoder = load_model(str(model))
    (query,) = encoder.encode_queries([Query("", "gout", ("symptoms",))])
    (sentences,) = encoder.encode_documents([*auscult.read_files(LEAFLETS / "gout.md")])
    scores: list[float] = np.round(sentences @ query, 5).tolist()
    return scores


def command(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "auscult.cli.main", *arguments], cwd=folder, check=True)


def main() -> None:
    """Write the folder of this version."""
    folder = WRITTEN / auscult.__version__
    if folder.exists():
        sys.exit(f"{folder} is there: expected a new version in pyproject.toml, or remove what was not yet released")
    with TemporaryDirectory() as place:
        work = Path(place)
        shutil.copytree(LEAFLETS, work / "leaflets")
        (work / "leaflets.jsonl").write_text(leaflets(), encoding="utf-8")
        (work / "small.obo").write_text(ONTOLOGY, encoding="utf-8")
        experiment = settings(Path("leaflets.jsonl"), Path("small.obo"))
        (work / "small.yaml").write_text(yaml.safe_dump(experiment), encoding="utf-8")
        command(work, "index", "leaflets", "--out", "index", "--no-knowledge")
        command(work, "train", "small.yaml", "--out", "run")
        answers = {"index": answers_of(work / "index"), "model": scores_of(work / "run" / "model")}
        shutil.copytree(work, folder, ignore=shutil.ignore_patterns("leaflets", "*-shm", "*-wal"))
    (folder / "answers.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
