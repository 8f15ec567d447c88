"""A typed client of a served index (`auscult serve`). It knows the HTTP API and its records alone.

    from auscult.client import Client

    with Client("http://127.0.0.1:8470") as client:
        for hit in client.search("How is gout treated?").hits:
            print(hit.title, hit.heading, hit.probability)

The only file that imports the HTTP library.
"""

from __future__ import annotations

import time
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Self, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote

from auscult.schema import Assertion, Curves, DocumentList, Hit, Index, PatientList, Sentence
from auscult.schema import DocumentWhole as Document
from auscult.schema import EntityCompletion as Completion
from auscult.schema import JobTold as Job
from auscult.schema import SearchAnswer as Answer

_API: Final = "/api/v1"
_ENDED: Final = frozenset({"done", "failed", "interrupted"})
Where = Mapping[str, str | Sequence[str] | Mapping[str, str]]
"""By field a value, several of which one has to be there, or a range {"from": ..., "to": ...}."""
Made = TypeVar("Made")


class ServiceError(Exception):
    """A service did not do what was asked, or could not be reached.

    Attributes:
        status: Of HTTP; 0 where no answer came.
        code: A word that programs tell it by.
        message: What was expected, and what came.
        remedy: What to do about it.
        request_id: By which the service's log knows the request; empty where no answer came.
    """

    def __init__(self, status: int, code: str, message: str, remedy: str, request_id: str = "") -> None:
        super().__init__(f"{message}; {remedy}")
        self.status, self.code, self.message, self.remedy = status, code, message, remedy
        self.request_id = request_id


class Client:
    """A service that `auscult serve` runs.

    Args:
        url: Its address: "http://127.0.0.1:8470".
        key: That it was given; empty where it asks for none.
        timeout: Seconds that an answer may take.
        purpose: What for, where the service's audit log asks.
        verify: Whether certificates are checked, or the path of one that is trusted (PEM).

    Raises:
        ModuleNotFoundError: The extra `client` is not installed.
    """

    def __init__(
        self, url: str, key: str = "", *, timeout: float = 30.0, purpose: str = "", verify: bool | str = True
    ) -> None:
        try:
            import httpx
        except ModuleNotFoundError as error:
            message = "the client needs httpx; run: pip install 'auscult[client]'"
            raise ModuleNotFoundError(message, name="httpx") from error
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if purpose:
            headers["X-Purpose"] = purpose
        self._failures = httpx.HTTPError, httpx.InvalidURL
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, verify=verify)

    def search(
        self,
        question: str = "",
        *,
        entity: str = "",
        aspects: Sequence[str] = (),
        index: str | Sequence[str] = (),
        k: int = 10,
        offset: int = 0,
        where: Where | None = None,
        group_by: str = "passage",
        score: str = "fused",
        rerank: int = 0,
        assertions: Sequence[Assertion] = (),
        conversation: Sequence[str] = (),
    ) -> Answer:
        """Search for the passages that answer, best first.

        Args:
            question: In words.
            entity: In place of the question's.
            aspects: In place of the question's.
            index: One index or several; the service's first where none is named.
            k: Hits of a page.
            offset: How many hits stand before it.
            where: Only documents whose fields agree.
            group_by: A hit for every "passage", "document", or value of a field.
            score: By all evidence ("fused"), or by the model's vectors alone ("model").
            rerank: First hits that are read once more, together with the question.
            assertions: Leave out hits that mention the entity and say none of these of it.
            conversation: Earlier questions, the first one first; what this one lacks is taken from them.

        Raises:
            ServiceError: The service refuses, or cannot be reached.
        """
        asked = {
            "question": question,
            "entity": entity,
            "aspects": [*aspects],
            "indexes": [index] if isinstance(index, str) else [*index],
            "k": k,
            "offset": offset,
            "where": _conditions(where),
            "group_by": group_by,
            "score": score,
            "rerank": rerank,
            "assertions": [*assertions],
            "conversation": [*conversation],
        }
        return made(Answer, self._ask("POST", "/search", json=asked))

    def explain(
        self, question: str = "", *, entity: str = "", aspects: Sequence[str] = (), doc_id: str = "", index: str = ""
    ) -> Curves:
        """Return how every sentence of a document answers; of the best hit's where none is named."""
        asked = {"question": question, "entity": entity, "aspects": [*aspects], "doc_id": doc_id}
        return made(Curves, self._ask("POST", "/explain", json=asked | ({"index": index} if index else {})))

    def patients(
        self,
        question: str = "",
        *,
        entity: str = "",
        aspects: Sequence[str] = (),
        index: str = "",
        where: Where | None = None,
        assertions: Sequence[Assertion] = (),
    ) -> PatientList:
        """Return what is found of each patient, in the order of time; arguments as for `search`.

        Raises:
            ServiceError: The service refuses, no document names a patient, or it cannot be reached.
        """
        asked = {
            "question": question,
            "entity": entity,
            "aspects": [*aspects],
            "where": _conditions(where),
            "assertions": [*assertions],
            **_given(index=index),
        }
        return made(PatientList, self._ask("POST", "/patients", json=asked))

    def document(self, doc_id: str, *, index: str = "") -> Document:
        """Return a document with its text."""
        return made(Document, self._ask("GET", _of(doc_id), params=_given(index=index)))

    def original(self, doc_id: str, *, index: str = "") -> bytes:
        """Return the file that a document was read from."""
        return bytes(self._answer("GET", f"{_of(doc_id)}/original", params=_given(index=index)).content)

    def documents(self, *, index: str = "", where: Sequence[str] = (), k: int = 50, offset: int = 0) -> DocumentList:
        """List a page of documents, the last that were added first; `where` as "source=NHS" or "date=2019..2021"."""
        params = {**_given(index=index), "k": k, "offset": offset, "where": [*where]}
        return made(DocumentList, self._ask("GET", "/documents", params=params))

    def entities(self, prefix: str, *, index: str = "", limit: int = 10) -> list[Completion]:
        """Return names one of whose words begins so."""
        params = {**_given(index=index), "prefix": prefix, "limit": limit}
        return [made(Completion, each) for each in self._ask("GET", "/entities", params=params)["entities"]]

    def aspects(self, prefix: str = "", *, index: str = "") -> list[str]:
        """Return aspects one of whose words begins so; with an index its own first, behind an entity, too."""
        params = {**_given(index=index), "prefix": prefix}
        return [str(each["aspect"]) for each in self._ask("GET", "/aspects", params=params)["aspects"]]

    def fields(self, *, index: str = "") -> dict[str, dict[str, int]]:
        """Return the fields to filter by, with how many documents have which value."""
        told = self._ask("GET", "/fields", params=_given(index=index))["fields"]
        return {each["field"]: each["values"] for each in told}

    def indexes(self) -> list[Index]:
        """Return the indexes that may be asked."""
        return [made(Index, each) for each in self._ask("GET", "/indexes")]

    def upload(self, *paths: str | Path, index: str = "", access: str = "", wait: float = 600.0) -> Job:
        """Add files to an index, and wait until they are found.

        Args:
            paths: Of files; of a folder all files in it.
            index: The service's first where none is named.
            access: Groups that see them, between commas; empty for the key's own group, or for everybody who may ask
                the index.
            wait: Seconds to wait for the end; 0 not to wait.

        Raises:
            ServiceError: The service refuses, or it takes longer.
            OSError: A file cannot be read.
        """
        with ExitStack() as opened:
            files = [("files", (path.name, opened.enter_context(path.open("rb")))) for path in _files(paths)]
            data = _given(index=index, access=access)
            job = made(Job, self._ask("POST", "/documents", files=files, data=data))
        return self.wait(job, wait) if wait else job

    def job(self, job_id: str) -> Job:
        """Return how far an upload is."""
        return made(Job, self._ask("GET", f"/jobs/{quote(job_id, safe='')}"))

    def wait(self, job: Job, seconds: float = 600.0) -> Job:
        """Wait until an upload has ended, and return it.

        Raises:
            ServiceError: It takes longer.
        """
        until, pause = time.monotonic() + seconds, 0.05
        while job.standing not in _ENDED:
            if time.monotonic() > until:
                message = f"expected the upload to end within {seconds:g} s, got one that goes on"
                raise ServiceError(0, "slow", message, f"ask again: client.job('{job.job_id}')")
            time.sleep(pause)
            pause = min(1.0, 1.5 * pause)
            job = self.job(job.job_id)
        return job

    def remove(self, doc_id: str, *, index: str = "") -> None:
        """Remove a document."""
        self._ask("DELETE", _of(doc_id), params=_given(index=index))

    def feedback(
        self,
        doc_id: str,
        passage_id: str,
        relevance: int,
        *,
        question: str = "",
        entity: str = "",
        aspects: Sequence[str] = (),
        span: tuple[int, int] | None = None,
        index: str = "",
    ) -> str:
        """Say whether a hit answers: 0 no, 1 to 3 yes, and how well; the question's id."""
        said = {
            "doc_id": doc_id,
            "passage_id": passage_id,
            "relevance": relevance,
            "question": question,
            "entity": entity,
            "aspects": [*aspects],
            "span": span,
            **_given(index=index),
        }
        return str(self._ask("POST", "/feedback", json=said)["query_id"])

    def is_ready(self) -> bool:
        """Whether the service has all its indexes open."""
        try:
            self._ask("GET", "/ready")
        except ServiceError:
            return False
        return True

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        return self._answer(method, path, **options).json()

    def _answer(self, method: str, path: str, **options: Any) -> Any:
        try:
            answer = self._http.request(method, _API + path, **options)
        except self._failures as error:
            message = f"expected an answer from {self._http.base_url}, got none ({type(error).__name__})"
            raise ServiceError(0, "unreachable", message, "check the address, and whether the service runs") from error
        if answer.is_success:
            return answer
        try:
            told = answer.json()["error"]
            raise ServiceError(answer.status_code, told["code"], told["message"], told["remedy"], told["request_id"])
        except (ValueError, KeyError, TypeError) as error:
            message = f"expected an answer of Auscult, got status {answer.status_code} of something else"
            raise ServiceError(answer.status_code, "strange", message, "check the address") from error


def _of(doc_id: str) -> str:
    return f"/documents/{quote(doc_id, safe='/')}"


def _given(**named: str) -> dict[str, str]:
    return {name: value for name, value in named.items() if value}


def _files(paths: Sequence[str | Path]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _conditions(where: Where | None) -> dict[str, Any]:
    return {
        field: [*one] if isinstance(one, Sequence) and not isinstance(one, str) else one
        for field, one in (where or {}).items()
    }


def made(kind: type[Made], told: Any) -> Made:
    """Return a record of what was answered; fields that a newer service adds are passed over.

    Raises:
        KeyError: A field is missing.
        TypeError: What was answered is of another shape.
    """
    record: Made = _value(kind, told)
    return record


_hints = cache(get_type_hints)


def _value(kind: Any, told: Any) -> Any:
    if is_dataclass(kind):
        hints = _hints(kind)  # type: ignore[arg-type]
        return kind(**{each.name: _value(hints[each.name], told[each.name]) for each in fields(kind)})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        return [_value(inner[0], each) for each in told]
    if origin is tuple:
        return tuple(_value(one, each) for one, each in zip(inner, told, strict=True))
    if origin in (Union, types.UnionType):
        return None if told is None else _value(inner[0], told)
    return told


__all__ = [
    "Answer",
    "Client",
    "Completion",
    "Curves",
    "Document",
    "DocumentList",
    "Hit",
    "Index",
    "Job",
    "PatientList",
    "Sentence",
    "ServiceError",
]
