"""Every caller, every way to write, every kind of target: nothing beyond what a key has is changed, given or told.

Each caller writes into an index of their own, and into a control that holds what they see of it and nothing else. What
they are answered has to be the same for both, but for what is by chance. In the index, what they do not see has to stay
as it was, and what is new may name groups of theirs only.
"""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from auscult.documents import Document, Passage, Section, build_document
from auscult.encoders.contract import DocumentEncoder
from auscult.index.fields import ACCESS, groups_in, is_open_to
from auscult.index.reader import open_current
from auscult.ingest.building import build_index

CALLERS: Final[Mapping[str, frozenset[str] | None]] = {
    "none": frozenset(),
    "wrong": frozenset(),
    "revoked": frozenset(),
    "expired": frozenset(),
    "elsewhere": frozenset(),
    "read": None,
    "write": None,
    "admin": None,
    "ann": frozenset({"ward-a"}),
    "ben": frozenset({"ward-b"}),
    "plain": frozenset(),
    "both": frozenset({"ward-a", "ward-b"}),
}
"""Of each key of `guarded_service.make_keys` the groups whose documents it shows; None for all."""
WRITERS: Final = ("write", "admin", "ann", "ben", "plain", "both")
FOR: Final = {"ann": "ward-a", "ben": "ward-b", "both": "ward-a"}
"""The group that a caller's uploads are for; empty for everybody."""
LEVELS: Final = {"open": "", "a": "ward-a", "b": "ward-b", "ab": "ward-a, ward-b", "4": "ward-4"}
FORMS: Final = ("md", "csv", "jsonl", "json", "zip")
BY_CHANCE: Final = re.compile(
    r"~[0-9a-f]{12}|\b[0-9a-f]{32}\b|\b\d{4}-\d\d-\d\dT[\d:.+Z]+|\b(?:index|control)-\w+|\"request_id\":\s?\"[^\"]*\""
)
_PATIENCE: Final = 120.0
Ask = Callable[..., Any]
"""Sends a request: a caller, a method, a path, and what httpx takes besides."""


@dataclass
class Outcome:
    """What a run of the matrix counted.

    Attributes:
        attempts: Targets that were tried, by way.
        statuses: That were answered.
        changed: Documents that uploads replaced.
        wrong: Where a caller got beyond what their key has, in words.
    """

    attempts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    changed: int = 0
    wrong: list[str] = field(default_factory=list)


def names() -> list[str]:
    """Names of all indexes."""
    return [f"{kind}-{caller}" for caller in CALLERS for kind in ("index", "control")]


def build(folder: Path, encoder: DocumentEncoder, model_path: str = "") -> dict[str, Path]:
    """Build two indexes for each caller, the second of what the caller sees alone."""
    for caller, groups in CALLERS.items():
        held = documents(caller)
        build_index(held, encoder, folder / f"index-{caller}", model_path=model_path)
        seen = [each for each in held if sees(groups, each.metadata.get(ACCESS, ""))]
        build_index(seen, encoder, folder / f"control-{caller}", model_path=model_path)
    return {name: folder / name for name in names()}


def sees(groups: frozenset[str] | None, access: str) -> bool:
    """Check whether a caller sees a document."""
    return groups is None or is_open_to(access, groups)


def documents(caller: str) -> list[Document]:
    """A document of each form and level as the command line adds it, and hidden ones where uploads might go."""
    made = [
        _document(f"{_base(form, f'note-{level}')}", _file(form, f"note-{level}"), access)
        for form in FORMS
        for level, access in LEVELS.items()
    ]
    group = FOR.get(caller, "")
    for form in FORMS:
        base = _base(form, "squat")
        ids = {base, f"{group}:{base}" if group else base}
        made += [_document(doc_id, _file(form, "squat"), "ward-4") for doc_id in ids]
        if CALLERS[caller] is not None:
            # Its passage has the id that the second one of a longer document of the caller's would have.
            own = _base(form, f"note-{_level(caller)}")
            made.append(_document(f"hidden-{form}", "hidden", "ward-4", passage_id=f"{own}#2"))
    return made


def _level(caller: str) -> str:
    return {"ward-a": "a", "ward-b": "b"}.get(FOR.get(caller, ""), "open")


def _document(doc_id: str, file: str, access: str, passage_id: str = "") -> Document:
    told = {"file": file, **({ACCESS: access} if access else {})}
    sections = [Section("Treatment", f"What was written first of {file}.", passage_id or f"{doc_id}#1")]
    return build_document(doc_id=doc_id, title=f"Of {file}", sections=sections, metadata=told)


def _file(form: str, name: str) -> str:
    return f"{name}.zip/{name}.md" if form == "zip" else f"{name}.{form}"


def _base(form: str, name: str) -> str:
    key = {"csv": "#1", "jsonl": "#1", "json": "#Composition/1"}.get(form, "")
    return f"{_file(form, name)}{key}"


def content(form: str, name: str, access: str | None) -> tuple[str, bytes]:
    """A file of two sections: its name and bytes. It names groups where `access` is not None."""
    # Files that say the same would be one document.
    text = f"Rest is good for {name}, {form} says.\n\n## Prognosis\n\nMost with {name} are well after a week.\n"
    if form == "csv":
        return f"{name}.csv", f'id,text,access\n1,"{text}","{access or ""}"\n'.encode()
    if form == "jsonl":
        # A list, as programs write it; within the metadata, as the public schema has it.
        access_fields = {} if access is None else {"metadata": {"Access": access}, "access": access.split(", ")}
        return f"{name}.jsonl", json.dumps({"id": "1", "text": text, **access_fields}).encode()
    if form == "json":
        section = [{"title": "Plan", "text": {"div": f"<div>{text}</div>"}}]
        access_fields = {} if access is None else {"access": access, "meta": {"security": [{"code": access}]}}
        resource = {"resourceType": "Composition", "id": "1", "status": "final", "section": section, **access_fields}
        return f"{name}.json", json.dumps(resource).encode()
    fields = "" if access is None else f"---\naccess: {access}\n---\n"
    note = f"{fields}# {name}\n\n## Treatment\n\n{text}".encode()
    if form == "md":
        return f"{name}.md", note
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"{name}.md", note)
    return f"{name}.zip", packed.getvalue()


def run(ask: Ask, folder: Path, *, together: bool = False) -> Outcome:
    """Try everything.

    Args:
        ask: Sends a request.
        folder: Of the indexes that are served.
        together: All forms of files in one upload, which takes a fifth of the time.
    """
    outcome = Outcome()
    for caller, groups in CALLERS.items():
        before = state(folder / f"index-{caller}")
        for way, targets, send in _ways(caller, together):
            answers = [[*send(ask, name)] for name in (f"index-{caller}", f"control-{caller}")]
            outcome.attempts[way] += targets
            outcome.statuses.update(status for status, _ in answers[0])
            outcome.changed += sum(_changed(body) for _, body in answers[0])
            _compare(outcome, caller, way, answers)
            now = state(folder / f"index-{caller}")
            outcome.wrong += _beyond(caller, groups, way, before, now)
            before = now
    return outcome


def state(folder: Path) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Of each document of an index its text, its groups, and its passages' ids."""
    with closing(open_current(folder)) as reader:
        held = [reader.document(row) for row in reader.documents.tolist()]
        return {
            each.doc_id: (each.text, each.metadata.get(ACCESS, ""), tuple(map(_passage_id, each.passages)))
            for each in held
        }


def _passage_id(passage: Passage) -> str:
    return passage.passage_id


State = Mapping[str, tuple[str, str, tuple[str, ...]]]


def _beyond(caller: str, groups: frozenset[str] | None, way: str, before: State, now: State) -> Iterator[str]:
    """What a caller has done that their key does not allow."""
    writes = caller in WRITERS
    for doc_id, (text, access, passages) in before.items():
        if now.get(doc_id) != (text, access, passages) and not (writes and sees(groups, access)):
            yield f"{caller} by {way} touched {doc_id}, which is for '{access}'"
    for doc_id, (_, access, _) in now.items():
        if before.get(doc_id) == now[doc_id]:
            continue
        own = groups is None or (groups_in(access) <= groups if access else not groups)
        if not (writes and own):
            yield f"{caller} by {way} gave {doc_id} to '{access or 'everybody'}'"
        # A file that names groups is seen by others never; of FHIR no field names groups.
        if "new-4" in doc_id and "json#" not in doc_id and access != "ward-4":
            yield f"{caller} by {way} showed {doc_id}, which names ward-4, to '{access or 'everybody'}'"


def _compare(outcome: Outcome, caller: str, way: str, answers: Sequence[Sequence[tuple[int, str]]]) -> None:
    for (status, body), (wanted, control) in zip(*answers, strict=True):
        ours, theirs = BY_CHANCE.sub("*", body), BY_CHANCE.sub("*", control)
        if (status, ours) != (wanted, theirs):
            outcome.wrong.append(
                f"{caller} by {way} was told {status} {ours}, without what is hidden {wanted} {theirs}"
            )


def _changed(body: str) -> int:
    try:
        told = json.loads(body)
    except ValueError:
        return 0
    return int(told.get("changed", 0)) if isinstance(told, dict) else 0


Sending = Callable[[Ask, str], Iterator[tuple[int, str]]]


def _ways(caller: str, together: bool) -> Iterator[tuple[str, int, Sending]]:
    """Each way to write: its name, how many targets it tries, and what does it."""
    group = FOR.get(caller, "")
    form = {ACCESS: group} if caller == "both" else {}
    kinds = [FORMS] if together else [(each,) for each in FORMS]
    for kind in kinds:
        files = _files(caller, kind)
        yield f"files ({', '.join(kind)})", len(files), _uploading("/api/v1/documents", caller, files, form)
    page = [content("md", f"{name}-page", None) for name in ("own", "note-open")]
    yield "the page's form", len(page), _uploading("/add", caller, page, form)
    for path in ("/api/v1/documents", "/add"):
        for access in ("ward-4", f"{group or 'ward-a'}, ward-4", ","):
            if CALLERS[caller] is not None:
                planted = [content("md", "new-4-form", None)]
                yield f"field access of {path}", 1, _uploading(path, caller, planted, {ACCESS: access})
    targets = [
        _base("md", f"note-{_level(caller)}"),
        _base("md", "note-a" if group == "ward-b" else "note-b"),
        _base("md", "note-4"),
        f"{group}:squat.md",
        "note-of-nobody.md",
    ]
    yield "feedback", len(targets), _judging(caller, targets)
    yield "feedback of the page", len(targets), _judging_on_the_page(caller, targets)
    yield "removal", len(targets), _removing(caller, targets)


def _files(caller: str, kinds: Sequence[str]) -> list[tuple[str, bytes]]:
    """A file of every name that is in the index, and of new ones which name groups."""
    own = FOR.get(caller, "")
    files = [content(kind, f"note-{level}", None) for kind in kinds for level in LEVELS]
    files += [content(kind, name, None) for kind in kinds for name in ("squat", "new")]
    files += [content(kind, "new-4", "ward-4") for kind in kinds]
    files += [content(kind, "part-of-new-4", f"{own}, ward-4".removeprefix(", ")) for kind in kinds]
    return files + [content(kind, "new-own", own or None) for kind in kinds]


def _uploading(path: str, caller: str, files: Sequence[tuple[str, bytes]], form: Mapping[str, str]) -> Sending:
    def send(ask: Ask, index: str) -> Iterator[tuple[int, str]]:
        sent = [("files", (name, held, "application/octet-stream")) for name, held in files]
        answer = ask(caller, "POST", path, files=sent, data={"index": index, **form})
        yield answer.status_code, "" if answer.status_code in (202, 303) else answer.text
        if answer.status_code not in (202, 303) or "/jobs/" not in answer.headers["location"]:
            return
        job = f"/api/v1/jobs/{answer.headers['location'].rpartition('/')[2]}"
        ends = time.monotonic() + _PATIENCE
        while (told := ask(caller, "GET", job)).json()["standing"] in ("waiting", "reading"):
            assert time.monotonic() < ends, "an upload does not end"
            time.sleep(0.05)
        yield told.status_code, told.text

    return send


def _judging(caller: str, doc_ids: Sequence[str]) -> Sending:
    def send(ask: Ask, index: str) -> Iterator[tuple[int, str]]:
        for doc_id in doc_ids:
            said = {"question": "rest?", "doc_id": doc_id, "passage_id": f"{doc_id}#1", "relevance": 1, "index": index}
            answer = ask(caller, "POST", "/api/v1/feedback", json=said)
            yield answer.status_code, answer.text

    return send


def _judging_on_the_page(caller: str, doc_ids: Sequence[str]) -> Sending:
    def send(ask: Ask, index: str) -> Iterator[tuple[int, str]]:
        for doc_id in doc_ids:
            said = {"answers": "yes", "document": doc_id, "passage": f"{doc_id}#1", "q": "rest?", "index": index}
            answer = ask(caller, "POST", "/feedback", data=said)
            yield answer.status_code, answer.text

    return send


def _removing(caller: str, doc_ids: Sequence[str]) -> Sending:
    def send(ask: Ask, index: str) -> Iterator[tuple[int, str]]:
        for doc_id in doc_ids:
            answer = ask(caller, "DELETE", f"/api/v1/documents/{doc_id}", params={"index": index})
            yield answer.status_code, answer.text

    return send
