"""Milvus as a server of candidates, a cluster or Milvus Lite (one file). The only file that imports `pymilvus`.

What a collection holds is said in its properties. Vectors are looked for in a graph (HNSW), which a cluster divides
among its machines. There are no words: searchers know what words say of all passages exactly, from their postings. The
token comes from AUSCULT_MILVUS_TOKEN.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from auscult.engines.contract import EngineRow, Filters, Place, Published, first_line, patiently, printable_value
from auscult.errors import EngineError, naming_extra
from auscult.index import Between
from auscult.interfaces import FloatArray

_T = TypeVar("_T")
#: For an answer.
_SECONDS = 10
#: Before a search is tried again: whoever asks does not wait for long.
_SOON = (0.2,)
_TOLD = "auscult"
_LONGEST_ID = 65_535
# As many as Milvus allows.
_MOST_GROUPS = 4096
_AT_ONCE = 1000
# Vectors that a search in a graph keeps in view, at least.
_LOOKED_AT = 64
# The library says so by a plain error.
_NO_CONNECTION = 2
_LAST = "\U0010ffff"


class MilvusEngine:
    """A collection of passages.

    Raises:
        MissingExtraError: `pymilvus` is not installed.
        EngineError: The server cannot be reached.
    """

    def __init__(self, place: Place) -> None:
        with naming_extra("milvus", "pymilvus"):
            import pymilvus
            from pymilvus import decorators
        self._library = pymilvus
        # The library lets errors of its transport through where time is up.
        self._unanswered = decorators.grpc.RpcError
        server = place.server.removeprefix("milvus:")
        self._server = f"http:{server}" if server.startswith("//") else server
        self.name = f"the Milvus {'file' if self._server.endswith('.db') else 'server'} {server.removeprefix('//')}"
        self._collection = place.collection
        self._client: Any = None
        self._deed(lambda client: client.list_collections())

    def published(self) -> Published | None:
        """Return what the collection holds."""

        def look(client: Any) -> Published | None:
            if not client.has_collection(self._collection):
                return None
            told = client.describe_collection(self._collection).get("properties", {}).get(_TOLD)
            return None if told is None else Published(**json.loads(told))

        return self._deed(look)

    def create(self, told: Published) -> None:
        """Make the collection."""
        kinds = self._library.DataType

        def make(client: Any) -> None:
            if client.has_collection(self._collection):
                return
            schema = client.create_schema(auto_id=False)
            schema.add_field("key", kinds.INT64, is_primary=True)
            schema.add_field("document", kinds.INT64)
            schema.add_field("doc_id", kinds.VARCHAR, max_length=_LONGEST_ID)
            schema.add_field("vector", kinds.FLOAT_VECTOR, dim=told.dim)
            schema.add_field("fields", kinds.JSON)
            schema.add_field("open", kinds.BOOL)
            groups = {"element_type": kinds.VARCHAR, "max_capacity": _MOST_GROUPS, "max_length": _LONGEST_ID}
            schema.add_field("access", kinds.ARRAY, **groups)
            indexes = client.prepare_index_params()
            shape = {"M": 16, "efConstruction": 200}
            indexes.add_index("vector", metric_type="IP", index_type="HNSW", params=shape)
            client.create_collection(
                self._collection,
                schema=schema,
                index_params=indexes,
                properties={_TOLD: json.dumps(asdict(told))},
                # What was written is found by the next question.
                consistency_level="Strong",
            )

        self._deed(make)

    def finish(self, told: Published) -> None:
        """Note that all was written."""
        properties = {_TOLD: json.dumps(asdict(told))}
        self._deed(lambda client: client.alter_collection_properties(self._collection, properties=properties))

    def documents(self) -> set[int]:
        """Return the keys of all documents."""

        def look(client: Any) -> set[int]:
            found: set[int] = set()
            rows = client.query_iterator(self._collection, batch_size=_AT_ONCE, output_fields=["document"])
            try:
                while some := rows.next():
                    found.update(row["document"] for row in some)
            finally:
                rows.close()
            return found

        return self._deed(look)

    def put(self, rows: Sequence[EngineRow]) -> None:
        """Write passages; may be done twice."""
        told = [
            {
                "key": row.key,
                "document": row.document,
                "doc_id": printable_value(row.doc_id),
                "vector": row.vector.tolist(),
                "fields": {name: printable_value(value) for name, value in row.fields.items()},
                "open": row.access is None,
                "access": [*(row.access or ())],
            }
            for row in rows
        ]
        self._deed(lambda client: client.upsert(self._collection, told))

    def drop(self, documents: Collection[int]) -> None:
        """Remove documents."""
        names = [*documents]
        for first in range(0, len(names), _AT_ONCE):
            some = names[first : first + _AT_ONCE]
            self._deed(partial(self._delete, some))

    def _delete(self, documents: list[int], client: Any) -> None:
        client.delete(self._collection, filter=f"document in {documents}")

    def nearest(self, vector: FloatArray, k: int, filters: Filters) -> list[int]:
        """Return the keys of the nearest passages (`Proposer`)."""

        def look(client: Any) -> list[int]:
            (found,) = client.search(
                self._collection,
                data=[vector.tolist()],
                anns_field="vector",
                limit=k,
                filter=_filter(filters),
                output_fields=["key"],
                search_params={"metric_type": "IP", "params": {"ef": max(_LOOKED_AT, 2 * k)}},
                timeout=_SECONDS,
            )
            return [hit["key"] for hit in found]

        return self._deed(look, _SOON)

    def destroy(self) -> None:
        """Remove the collection."""
        self._deed(lambda client: client.drop_collection(self._collection))

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _deed(self, deed: Callable[[Any], _T], waits: Sequence[float] | None = None) -> _T:
        error_of = self._library.exceptions

        def done() -> _T:
            if self._client is None:
                token = os.environ.get("AUSCULT_MILVUS_TOKEN", "")
                self._client = self._library.MilvusClient(self._server, token=token, timeout=_SECONDS)
            return deed(self._client)

        lost = (
            error_of.ConnectError,
            error_of.ConnectionNotExistException,
            error_of.MilvusUnavailableException,
            ConnectionError,
        )
        try:
            return patiently(
                done,
                lambda error: isinstance(error, lost) or getattr(error, "code", None) == _NO_CONNECTION,
                self.close,
                self.name,
                waits,
            )
        except self._unanswered as error:
            remedy = "ask again when it has less to do, or give it more processors"
            raise EngineError(f"{self.name} to answer in {_SECONDS} s", "no answer", remedy) from error
        except error_of.MilvusException as error:
            raise EngineError(f"{self.name} to do it", first_line(error), "see the server's log") from error


def _filter(filters: Filters) -> str:
    """Return filters as an expression; JSON's strings are Milvus', too."""
    said = []
    for name, wanted in filters.where.items():
        value = f"fields[{json.dumps(printable_value(name), ensure_ascii=False)}]"
        if isinstance(wanted, Between):
            said.append(f"{value} >= {_quoted(wanted.first)}")
            if wanted.last:
                # It knows no beginning of a string: whatever begins with the bound is at most this.
                said.append(f"{value} <= {_quoted(wanted.last + _LAST)}")
        else:
            # The small server knows no "in" for what stands in JSON.
            said.append(f"({' or '.join(f'{value} == {_quoted(each)}' for each in sorted(wanted))})")
    if filters.documents:
        said.append(f"doc_id in [{_listed(filters.documents)}]")
    if filters.groups is not None:
        some = f" or array_contains_any(access, [{_listed(filters.groups)}])" if filters.groups else ""
        said.append(f"(open == true{some})")
    return " and ".join(said)


def _listed(values: Collection[str]) -> str:
    return ", ".join(map(_quoted, sorted(values)))


def _quoted(value: str) -> str:
    return json.dumps(printable_value(value), ensure_ascii=False)
