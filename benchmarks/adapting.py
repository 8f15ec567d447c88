"""Time of `auscult train --notes` from raw notes to a model, with its defaults, in its own process.

    AUSCULT_DATA=... python benchmarks/adapting.py --backbone ENCODER --out MODEL [--notes clinical-notes]

An interrupted run resumes when the command is repeated; the record has the time of all parts, without work that was
lost. For the quality of such a model, see `auscult compare`, and capr-notes-bi of
experiments/grundmann2021-clinical-notes.yaml.

Writes benchmarks/results/adapting.json. Needs: pip install 'auscult[lab,ner]'
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from auscult.files.writing import write_json

RESULT = Path(__file__).resolve().parent / "results" / "adapting.json"
KEPT = (
    "model", "track", "seed", "passages", "held_out_passages", "skipped_without_aspect", "skipped_without_entity",
    "held_out_queries", "parameters", "best_epoch", "version", "revision", "hardware", "date",
)  # fmt: skip


def main() -> None:
    """Adapt, and write the record."""
    parser = argparse.ArgumentParser(description="Time of an adaptation with its defaults.")
    parser.add_argument("--backbone", required=True, help="a pre-trained encoder: a folder or a name of the hub")
    parser.add_argument("--notes", default="clinical-notes", help="as `auscult train --notes` takes them")
    parser.add_argument("--out", type=Path, required=True, help="where the model goes")
    parser.add_argument("--record", type=Path, default=RESULT)
    arguments = parser.parse_args()
    command = [
        sys.executable,
        "-m",
        "auscult.cli.main",
        "train",
        "--notes",
        arguments.notes,
        "--out",
        str(arguments.out),
    ]
    subprocess.run([*command, "--backbone", arguments.backbone], check=True)
    trained = arguments.out.with_name(f"{arguments.out.name}.training") / "training.json"
    training = json.loads(trained.read_text(encoding="utf-8"))
    record = {
        "kind": "adapting",
        "title": "From raw notes to a model",
        "notes": arguments.notes,
        "minutes": round((training["preparation_seconds"] + training["seconds"]) / 60, 1),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "precision": training["experiment"]["training"]["precision"],
        "pairs": training["epochs"] * training["experiment"]["training"]["pairs"],
        **{name: training[name] for name in KEPT},
        "encoder": {name: training["encoder"][name] for name in ("name", "sha256")},
        "validation_R@1": training["validation"]["validation_R@1"],
        "validation_RR": training["validation"]["validation_RR"],
    }
    write_json(arguments.record, record)
    print(f"{record['minutes']:.0f} minutes; {arguments.record}")


if __name__ == "__main__":
    main()
