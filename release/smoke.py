"""Smoke test of an installed Auscult, run by the interpreter of its environment: `python smoke.py [EXTRA]`.

Uses nothing of the checkout. Each function tests the purpose of one extra, on the leaflets of the wheel, and raises if
something is wrong.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from importlib import import_module, resources
from pathlib import Path
from typing import Any

_QUESTION = "How is gout treated?"


def auscult(*arguments: object, status: int = 0) -> str:
    """Run a command and return its output.

    Raises:
        RuntimeError: It ended with another exit status.
    """
    process = subprocess.run(  # noqa: S603 - our own arguments
        [Path(sys.executable).with_name("auscult"), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if process.returncode != status:
        raise RuntimeError(
            f"auscult {arguments[0]} ended with {process.returncode}, not {status}: {process.stderr[-2000:]}"
        )
    return process.stdout if status == 0 else process.stderr


def expect(actual: object, expected: object) -> None:
    """Check that two values are equal.

    Raises:
        RuntimeError: They differ.
    """
    if actual != expected:
        raise RuntimeError(f"expected {expected!r}, found {actual!r}")


def first_title(index: Path, question: str = _QUESTION) -> str:
    """Return the title of the first hit."""
    title: str = json.loads(auscult("search", index, question, "--json").splitlines()[0])["title"]
    return title


def small_index(folder: Path, *options: object) -> Path:
    """Make an index of the wheel's leaflets."""
    leaflets = folder / "leaflets.jsonl"
    leaflets.write_bytes(resources.files("auscult_lab.demo").joinpath("leaflets.jsonl").read_bytes())
    auscult("index", leaflets, "--out", folder / "index", *options)
    return folder / "index"


def main_job(folder: Path) -> None:
    """Read, index, search, verify and change an index."""
    index = small_index(folder)
    expect(first_title(index), "Gout")
    auscult("verify", index)
    page = folder / "pages" / "tetanus.md"
    page.parent.mkdir()
    page.write_text("# Tetanus\n\n## Prevention\n\nA booster is given every ten years.\n", encoding="utf-8")
    letter = page.with_name("letter.rtf")
    letter.write_text(r"{\rtf1 Carpal tunnel syndrome is treated with a splint at night.}", encoding="utf-8")
    auscult("add", index, page.parent)
    expect(first_title(index, "How is tetanus prevented?"), "Tetanus")
    expect("splint" in auscult("search", index, "How is carpal tunnel syndrome treated?"), True)


def plot(folder: Path) -> None:
    """Draw the curves of a document."""
    auscult("explain", small_index(folder), "--entity", "gout", "--aspect", "treatment", "--out", folder / "gout.svg")
    expect("<svg" in (folder / "gout.svg").read_text(encoding="utf-8"), True)


def serve(folder: Path) -> None:
    """Serve an index, ask for its page, and end it."""
    from urllib.request import urlopen

    with _Served(small_index(folder)) as address, urlopen(f"{address}/?q=gout") as page:  # noqa: S310 - our own
        expect("Gout" in page.read().decode(), True)


def client(folder: Path) -> None:
    """Ask a served index through the client."""
    from auscult.client import Client

    with _Served(small_index(folder)) as address, Client(address) as asking:
        expect(asking.search(_QUESTION).hits[0].title, "Gout")


def mcp(folder: Path) -> None:
    """Query an index as a language model does."""
    from mcp import Client, StdioServerParameters, stdio_client

    async def asked(index: Path) -> Any:
        process = StdioServerParameters(
            command=str(Path(sys.executable).with_name("auscult")), args=["mcp", str(index)]
        )
        async with Client(stdio_client(process)) as model:
            return (await model.call_tool("search", {"question": _QUESTION})).structured_content

    expect(asyncio.run(asked(small_index(folder)))["passages"][0]["title"], "Gout")


def watch(folder: Path) -> None:
    """Find a file that is written into a watched folder."""
    index, pages = small_index(folder), folder / "pages"
    pages.mkdir()
    watching = subprocess.Popen(  # noqa: S603 - our own arguments
        [Path(sys.executable).with_name("auscult"), "add", str(index), str(pages), "--watch"]
    )
    try:
        (pages / "tetanus.md").write_text("# Tetanus\n\nA booster prevents it.\n", encoding="utf-8")
        _wait_until(lambda: first_title(index, "What prevents tetanus?") == "Tetanus")
    finally:
        watching.terminate()
        watching.wait()


def postgres(folder: Path) -> None:
    """Report that there is no server."""
    expect(
        "auscult[postgres]"
        in auscult("publish", small_index(folder), "postgresql://nobody@127.0.0.1:1/none", status=2),
        False,
    )


def milvus(folder: Path) -> None:
    """Report that there is no server."""
    asked = "postgresql://nobody@127.0.0.1:1/none", "--candidates", "milvus://127.0.0.1:1"
    expect("auscult[milvus]" in auscult("publish", small_index(folder), *asked, status=2), False)


def deidentify(folder: Path) -> None:
    """Leave names out of an index."""
    note = folder / "note.txt"
    note.write_text("Dr. Hagen saw Mrs. Weber on 3 May 2024. She was given allopurinol.\n", encoding="utf-8")
    auscult("index", note, "--out", folder / "index", "--read", "deidentify=presidio")
    expect("Weber" in auscult("search", folder / "index", "Who was given allopurinol?"), False)


def scans(folder: Path) -> None:
    """Read a picture of a page."""
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("RGB", (1240, 400), "white")
    ImageDraw.Draw(page).text((60, 120), "Gout is treated with colchicine.", "black", ImageFont.load_default(52))
    page.save(folder / "page.png")
    auscult("index", folder / "page.png", "--out", folder / "index")
    expect("colchicine" in auscult("search", folder / "index", _QUESTION), True)


def ner(_: Path) -> None:
    """Find names by a pipeline of spaCy."""
    import spacy

    from auscult_lab.recognition import SpacyRecognizer

    pipeline = spacy.blank("en")
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "DISEASE", "pattern": "gout"}])
    found = SpacyRecognizer(pipeline).recognise("She has gout.")
    expect([(each.start, each.end) for each in found], [(8, 12)])


def lab(folder: Path) -> None:
    """Index with a model that torch runs, and measure a ranker."""
    expect(first_title(small_index(folder, "--model", "cdv")), "Gout")
    corpus = folder / "corpus"
    (corpus / "qrels").mkdir(parents=True)
    passages = {"a": "Gout is treated with colchicine.", "b": "Asthma is treated with an inhaler."}
    lines = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in passages.items()]
    (corpus / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (corpus / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "gout colchicine"}) + "\n", encoding="utf-8")
    (corpus / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n", encoding="utf-8")
    expect("nDCG@10" in auscult("evaluate", corpus, "-m", "bm25"), True)


def onnx(_: Path) -> None:
    """Check the shipped encoder as the format's own library does."""
    from onnx import checker, load

    from auscult_lab.encoders import export

    expect(callable(export.export_onnx), True)
    shipped = resources.files("auscult.encoders").joinpath("pretrained/fast/model.onnx")
    with resources.as_file(shipped) as path:
        checker.check_model(load(str(path)))


def ray(folder: Path) -> None:
    """Read documents with two workers of a cluster that is started here."""
    expect(first_title(small_index(folder, "--executor", "ray", "--workers", 2)), "Gout")


def gliner(_: Path) -> None:
    """Import the models' library, whose weights are not in it."""
    from auscult_lab.recognition import GlinerRecognizer

    models = import_module("gliner")
    expect(callable(models.GLiNER.from_pretrained) and callable(GlinerRecognizer), True)


class _Served:
    """Serves an index while the context lasts; returns its address."""

    def __init__(self, index: Path) -> None:
        self._index = index

    def __enter__(self) -> str:
        self._process = subprocess.Popen(  # noqa: S603 - our own arguments
            [Path(sys.executable).with_name("auscult"), "serve", str(self._index), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self._process.stdout or ():
            if "http://" in line:
                return "http://" + line.partition("http://")[2].split()[0].rstrip("/.,;")
        raise RuntimeError(f"auscult serve ended with {self._process.wait()} and told no address")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()
        expect(self._process.returncode, 0)


def _wait_until(holds: Any, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise RuntimeError(f"nothing happened within {seconds:.0f} seconds")
        time.sleep(1)


TRIALS = {
    "": main_job, "plot": plot, "serve": serve, "client": client, "mcp": mcp, "watch": watch, "postgres": postgres,
    "milvus": milvus, "deidentify": deidentify, "scans": scans, "ner": ner, "lab": lab, "onnx": onnx, "ray": ray,
    "gliner": gliner,
}  # fmt: skip

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        TRIALS[sys.argv[1] if len(sys.argv) > 1 else ""](Path(made))
