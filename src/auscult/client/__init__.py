"""A typed client for a served index (`auscult serve`). It depends only on the HTTP API and its records.

    from auscult.client import Client

    with Client("http://127.0.0.1:8470") as client:
        for hit in client.search("How is gout treated?").hits:
            print(hit.title, hit.heading, hit.probability)

The only file that imports the HTTP library.
"""

from __future__ import annotations

import time
import types
from collections.abc import Mapping, Sequence
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
"""By field a value, a list of values of which one must match, or a range {"from": ..., "to": ...}."""
Record = TypeVar("Record")


class ServiceError(Exception):
    """A service refused a request, or could not be reached.

    Attributes:
        status: HTTP status; 0 where there was no answer.
        code: A word by which programs recognise the error.
        message: What was expected, and what came.
        remedy: What to do about it.
        request_id: Id of the request in the log of the service; empty where there was no answer.
    """

    def __init__(self, status: int, code: str, message: str, remedy: str, request_id: str = "") -> None:
        super().__init__(f"{message}; {remedy}")
        self.status, self.code, self.message, self.remedy = status, code, message, remedy
        self.request_id = request_id


class Client:
    """A client for one service.

    Args:
        url: Address of the service, such as "http://127.0.0.1:8470".
        key: Key for the service; empty for a service without keys.
        timeout: Seconds that an answer may take.
        purpose: Purpose of the requests, for the audit log of the service.
        verify: Whether to check TLS certificates, or the path of a certificate to trust (PEM).

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
        rerank: int | None = None,
        assertions: Sequence[Assertion] = (),
        conversation: Sequence[str] = (),
    ) -> Answer:
        """Search for the passages that answer, best first.

        Args:
            question: The question in words.
            entity: The entity; replaces that of the question.
            aspects: The aspects; replace those of the question.
            index: One index or several; by default the first of the service.
            k: Number of hits.
            offset: Number of hits to skip.
            where: Only documents whose fields match.
            group_by: One hit for every "passage", "document", or value of a field.
            score: By all evidence ("fused"), or by the model's vectors only ("model").
            rerank: Number of first hits to read again together with the question; None for as many as the model does.
            assertions: Leave out hits that mention the entity with none of these assertions.
            conversation: Earlier questions, oldest first; what this one lacks is taken from them.

        Raises:
            ServiceError: The service refuses the request, or cannot be reached.
        """
        body = {
            "question": question,
            "entity": entity,
            "aspects": [*aspects],
            "indexes": [index] if isinstance(index, str) else [*index],
            "k": k,
            "offset": offset,
            "where": dict(where or {}),
            "group_by": group_by,
            "score": score,
            "rerank": rerank,
            "assertions": [*assertions],
            "conversation": [*conversation],
        }
        return to_record(Answer, self._ask("POST", "/search", json=body))

    def explain(
        self, question: str = "", *, entity: str = "", aspects: Sequence[str] = (), doc_id: str = "", index: str = ""
    ) -> Curves:
        """Return how well every sentence of a document answers; by default, of the document of the best hit."""
        body = {"question": question, "entity": entity, "aspects": [*aspects], "doc_id": doc_id}
        return to_record(Curves, self._ask("POST", "/explain", json=body | ({"index": index} if index else {})))

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
        """Return the sentences found for each patient, ordered by date; arguments as for `search`.

        Raises:
            ServiceError: The service refuses the request or cannot be reached, or no document names a patient.
        """
        body = {
            "question": question,
            "entity": entity,
            "aspects": [*aspects],
            "where": dict(where or {}),
            "assertions": [*assertions],
            **_non_empty(index=index),
        }
        return to_record(PatientList, self._ask("POST", "/patients", json=body))

    def document(self, doc_id: str, *, index: str = "") -> Document:
        """Return a document with its text."""
        return to_record(Document, self._ask("GET", _document_path(doc_id), params=_non_empty(index=index)))

    def original(self, doc_id: str, *, index: str = "") -> bytes:
        """Return the file that a document was read from."""
        return bytes(self._answer("GET", f"{_document_path(doc_id)}/original", params=_non_empty(index=index)).content)

    def documents(self, *, index: str = "", where: Sequence[str] = (), k: int = 50, offset: int = 0) -> DocumentList:
        """List documents, last added first; `where` as "source=NHS" or "date=2019..2021"."""
        params = {**_non_empty(index=index), "k": k, "offset": offset, "where": [*where]}
        return to_record(DocumentList, self._ask("GET", "/documents", params=params))

    def entities(self, prefix: str, *, index: str = "", limit: int = 10) -> list[Completion]:
        """Return names with a word that begins with the prefix."""
        params = {**_non_empty(index=index), "prefix": prefix, "limit": limit}
        return [to_record(Completion, each) for each in self._ask("GET", "/entities", params=params)["entities"]]

    def aspects(self, prefix: str = "", *, index: str = "") -> list[str]:
        """Return aspects with a word that begins with the prefix.

        With an index, aspects that it has headings for come first, and the prefix may begin with an entity.
        """
        params = {**_non_empty(index=index), "prefix": prefix}
        return [str(each["aspect"]) for each in self._ask("GET", "/aspects", params=params)["aspects"]]

    def fields(self, *, index: str = "") -> dict[str, dict[str, int]]:
        """Return the fields to filter by, with the number of documents for each value."""
        values = self._ask("GET", "/fields", params=_non_empty(index=index))["fields"]
        return {field["field"]: field["values"] for field in values}

    def indexes(self) -> list[Index]:
        """Return the indexes that may be searched."""
        return [to_record(Index, each) for each in self._ask("GET", "/indexes")]

    def upload(self, *paths: str | Path, index: str = "", access: str = "", wait: float = 600.0) -> Job:
        """Add files to an index, and wait until they can be searched.

        Args:
            paths: Files; of a folder, all files in it.
            index: Name of the index; by default the first of the service.
            access: Groups that see the documents, separated by commas; empty for the key's own group, or without one
                for everybody who may search the index.
            wait: Seconds to wait for the end; 0 to return at once.

        Raises:
            ServiceError: The service refuses the files, or the job takes longer.
            OSError: A file cannot be read.
        """
        chosen: list[Path] = []
        for path in map(Path, paths):
            chosen += sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        with ExitStack() as opened:
            files = [("files", (path.name, opened.enter_context(path.open("rb")))) for path in chosen]
            data = _non_empty(index=index, access=access)
            job = to_record(Job, self._ask("POST", "/documents", files=files, data=data))
        return self.wait(job, wait) if wait else job

    def job(self, job_id: str) -> Job:
        """Return the progress of an upload."""
        return to_record(Job, self._ask("GET", f"/jobs/{quote(job_id, safe='')}"))

    def wait(self, job: Job, seconds: float = 600.0) -> Job:
        """Wait until an upload has ended, and return its job.

        Raises:
            ServiceError: The upload takes longer.
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
        self._ask("DELETE", _document_path(doc_id), params=_non_empty(index=index))

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
        """Store a judgement of a hit: 0 for no answer, 1 to 3 for how well it answers. Return the question's id."""
        body = {
            "doc_id": doc_id,
            "passage_id": passage_id,
            "relevance": relevance,
            "question": question,
            "entity": entity,
            "aspects": [*aspects],
            "span": span,
            **_non_empty(index=index),
        }
        return str(self._ask("POST", "/feedback", json=body)["query_id"])

    def is_ready(self) -> bool:
        """Return whether the service has opened all its indexes."""
        try:
            self._ask("GET", "/ready")
        except ServiceError:
            return False
        return True

    def close(self) -> None:
        """Close the connections."""
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
            error_body = answer.json()["error"]
            raise ServiceError(
                answer.status_code,
                error_body["code"],
                error_body["message"],
                error_body["remedy"],
                error_body["request_id"],
            )
        except (ValueError, KeyError, TypeError) as error:
            message = f"expected an answer of Auscult, got status {answer.status_code} of something else"
            raise ServiceError(answer.status_code, "strange", message, "check the address") from error


def _document_path(doc_id: str) -> str:
    return f"/documents/{quote(doc_id, safe='/')}"


def _non_empty(**named: str) -> dict[str, str]:
    return {name: value for name, value in named.items() if value}


def to_record(kind: type[Record], content: Any) -> Record:
    """Convert the JSON of an answer to a record. Unknown fields, which a newer service may add, are ignored.

    Raises:
        KeyError: A field is missing.
        TypeError: A value has the wrong type.
    """
    record: Record = _convert(kind, content)
    return record


_hints = cache(get_type_hints)


def _convert(kind: Any, content: Any) -> Any:
    if is_dataclass(kind):
        hints = _hints(kind)  # type: ignore[arg-type]
        return kind(**{field.name: _convert(hints[field.name], content[field.name]) for field in fields(kind)})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        return [_convert(inner[0], item) for item in content]
    if origin is tuple:
        return tuple(_convert(one, item) for one, item in zip(inner, content, strict=True))
    if origin in (Union, types.UnionType):
        return None if content is None else _convert(inner[0], content)
    return content


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
