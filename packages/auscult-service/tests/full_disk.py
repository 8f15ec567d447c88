"""A service whose disk is full: run on a small disk (`Needs.small_disk`), prints what it answers as JSON.

    PYTHONPATH=tests python packages/auscult-service/tests/full_disk.py DISK INDEX

INDEX is on another disk: searches go on.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from auscult_service.settings import Settings
from served_index import ended, served

NOTE = b"# Scabies\n\n## Treatment\n\nPermethrin cream cures scabies.\n"


def main(disk: Path, index: Path) -> dict[str, Any]:
    """Fill the disk, ask for everything that writes, make room, and ask again."""
    (disk / "tmp").mkdir()
    shutil.copytree(index, disk / "index")
    tempfile.tempdir = str(disk / "tmp")
    folders = {"leaflets": index, "full": disk / "index"}
    report: dict[str, Any] = {}
    with served(Settings(indexes=folders, data=disk / "data", page=False)) as client:
        hit = client.post("search", json={"question": "How is gout treated?"}).json()["hits"][0]
        judged = {"question": "gout?", "doc_id": hit["doc_id"], "passage_id": hit["passage_id"], "relevance": 1}
        _fill(disk / "filler")
        for name, content in (("small", NOTE), ("large", NOTE * 50_000)):
            answer = client.post("documents", files=[("files", ("note.md", content, "text/markdown"))])
            report[name] = [answer.status_code, answer.json()["error"]["code"]]
        answer = client.post("feedback", json=judged)
        report["judgement"] = [answer.status_code, answer.json()["error"]["code"]]
        answer = client.delete(f"documents/{hit['doc_id']}", params={"index": "full"})
        report["removal"] = [answer.status_code, answer.json()["error"]["code"]]
        report["found"] = len(client.post("search", json={"question": "How is gout treated?"}).json()["hits"])
        report["jobs"] = client.get("jobs").json()["jobs"]
        report["left"] = [str(each) for each in (disk / "data").rglob("*.md")]
        (disk / "filler").unlink()
        job = ended(client, client.post("documents", files=[("files", ("note.md", NOTE, "text/markdown"))]).json())
        report["after"] = [job["standing"], job["new"]]
    return report


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4_096))


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
