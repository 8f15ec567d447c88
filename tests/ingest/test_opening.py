"""A folder of one's own files is read as such, and no module of an extension looks at it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from auscult.ingest.opening import open_corpus, open_registered
from good_files import good_files


def test_indexing_files_imports_no_lab_module(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for name, content in good_files().items():
        (own / name).write_bytes(content)
    (own / "blood-test.txt").write_text("The blood test was normal.")
    (own / "patient.json").write_text(json.dumps({"resourceType": "Patient", "id": "1"}))
    program = (
        "import sys\n"
        "from auscult.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code\n"
        "print('LAB', [name for name in sys.modules if name.startswith('auscult_lab')])"
    )
    arguments = ["index", str(own), "--out", str(tmp_path / "index"), "--no-knowledge"]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert "LAB []" in done.stdout


def test_study_collections_are_recognised_by_their_files(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "1", "title": "Gout", "text": "Gout hurts."}\n')
    found = open_registered(str(tmp_path))
    assert found is not None
    assert [document.title for document in found.documents()] == ["Gout"]
    assert type(open_corpus(str(tmp_path))) is type(found)
