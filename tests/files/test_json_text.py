"""JSON and YAML that are nested without end are malformed, wherever somebody hands them in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.encoders.folder import read_settings
from auscult.errors import AuscultError
from auscult.files.json_text import MOST_LEVELS, nested_more_than, parse_json
from auscult.index.manifest import Manifest
from auscult_lab.evaluation.records import read_records
from auscult_lab.training.experiment_files import read_model_name, with_fields
from auscult_lab.training.folder import _read_json
from auscult_service.access.keys import read as read_keys
from auscult_service.access.tokens import Tokens
from auscult_service.jobs import Jobs
from auscult_service.settings import Settings
from auscult_service.state import State
from places import SOURCES

DEPTHS = (MOST_LEVELS + 1, 500, 990, 100_000)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_more_levels_are_malformed(depth: int, begin: str, end: str) -> None:
    for text in (begin * depth + "1" + end * depth, begin * depth):
        with pytest.raises(json.JSONDecodeError):
            parse_json(text)
        with pytest.raises(json.JSONDecodeError):
            parse_json(text.encode())


def test_levels_up_to_the_limit_are_read() -> None:
    assert nested_more_than(MOST_LEVELS - 1, parse_json("[" * MOST_LEVELS + "]" * MOST_LEVELS))
    assert parse_json(b'{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}
    assert not nested_more_than(0, "text")


def test_values_shared_in_many_places_are_checked_once() -> None:
    value: list[object] = ["lol"]
    for _ in range(90):
        value = [value] * 10
    assert nested_more_than(90, value)
    assert not nested_more_than(91, value)


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "model": ("model.json", lambda file: read_settings(file.parent)),
    "experiment": ("experiment.yaml", read_model_name),
    "keys": ("keys.json", read_keys),
    "issuer's keys": (
        "jwks.json",
        lambda file: Tokens("issuer", "audience", str(file), role_claim="role", groups_claim="groups"),
    ),
    "record of a training": ("training.json", _read_json),
    "records of an evaluation": ("records.json", read_records),
    "manifest": ("manifest.json", lambda file: Manifest.parse(file.read_text(), str(file))),
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", READERS)
def test_deeply_nested_input_is_refused_with_a_remedy(kind: str, depth: int, tmp_path: Path) -> None:
    name, read = READERS[kind]
    for begin, end in (("[", "]"), ('{"a": ', "}")):
        (tmp_path / name).write_text(begin * depth + "1" + end * depth)
        (tmp_path / name).chmod(0o600)
        with pytest.raises(AuscultError) as caught:
            read(tmp_path / name)
        assert caught.value.remedy


@pytest.mark.parametrize("text", ["- " * 2000 + "a", "a: &a [x]\nb: " + "[" * 300 + "*a" + "]" * 300])
def test_yaml_of_many_levels_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "deep.yaml").write_text(text)
    with pytest.raises(AuscultError, match=f"nested more than {MOST_LEVELS} levels deep"):
        read_model_name(tmp_path / "deep.yaml")
    with pytest.raises(AuscultError, match="put it in quotes"):
        with_fields({}, [("a", "[" * 5000 + "]" * 5000)])


# What reads JSON by itself: two that say what is wrong with a line, in their own words; protocols between two processes
# of ours; files of the package; and what stands behind checksums.
_BY_ITSELF = {
    "auscult/concepts/storage.py",
    "auscult/documents/original.py",
    "auscult/errors.py",
    "auscult/files/json_text.py",
    "auscult/files/records.py",
    "auscult/index/blocks.py",
    "auscult/index/knowledge.py",
    "auscult/index/store.py",
    "auscult/readers/process/serving.py",
    "auscult/readers/process/wire.py",
    "auscult/readers/process/worker.py",
    "auscult/readers/rows.py",
    "auscult/search/fusion.py",
    "auscult_service/page/troubles.py",
    "auscult_service/workers/frames.py",
    "auscult_lab/corpora/wikisection.py",
    "auscult_lab/evaluation/published_figures.py",
    "auscult_lab/graphs/wikidata.py",
    "auscult_lab/workbench/files.py",
    "auscult_engines/milvus.py",
    "auscult_readers/pdf/page_images.py",
    "auscult_readers/records/fhir.py",
}


def test_nothing_else_reads_json_by_itself() -> None:
    call = re.compile(r"\b(json\.loads?|yaml\.(safe_)?load)\b(?!`)")
    found = {
        str(file.relative_to(source))
        for source in SOURCES
        for file in source.rglob("*.py")
        if call.search(file.read_text(encoding="utf-8"))
    }
    assert found == _BY_ITSELF


def test_damaged_job_records_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "a.json").write_text("[" * 100_000)
    jobs = Jobs(tmp_path, State(Settings(indexes={"main": tmp_path})))
    jobs.start()
    jobs.stop(10)
    assert jobs._jobs == {}
