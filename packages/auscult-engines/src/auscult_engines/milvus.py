"""Milvus as a server of candidates, a cluster or Milvus Lite (one file). The only file that imports `pymilvus`.

The properties of a collection describe its contents (`Published`). Vectors are searched in a graph (HNSW), which a
cluster divides among its machines. Words are not stored: searchers have exact evidence by words from their postings.
The token comes from AUSCULT_MILVUS_TOKEN.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import partial
from operator import methodcaller
from typing import Any, TypeVar

from auscult.encoders.contract import FloatArray
from auscult.engines.contract import EngineRow, Filters, Place, Published
from auscult.errors import EngineError
from auscult.index import Between
from auscult.telemetry import naming_extra
from auscult_engines.waiting import first_line, patiently, printable_value

_T = TypeVar("_T")
#: Time limit of a request.
_SECONDS = 10
#: Time limit for putting what was written into the graph.
_FLUSHING = 600
#: Seconds before a search is tried again. Short, as a person waits.
_SOON = (0.2,)
_PROPERTY = "auscult"
_LONGEST_ID = 65_535
# As many as Milvus allows.
_MOST_GROUPS = 4096
_AT_ONCE = 1000
# Least size of the candidate list of a graph search (`ef`), and its size where filters leave too few passages.
_LOOKED_AT, _MOST_LOOKED_AT = 64, 32_768
# Code of the general error that the library raises without a connection.
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
        # After a timeout the library raises errors of its transport.
        self._unanswered = decorators.grpc.RpcError
        server = place.server.removeprefix("milvus:")
        self._server = f"http:{server}" if server.startswith("//") else server
        self.name = f"the Milvus {'file' if self._server.endswith('.db') else 'server'} {server.removeprefix('//')}"
        self._collection = place.collection
        self._client: Any = None
        self._attempt(lambda client: client.list_collections())

    def published(self) -> Published | None:
        """Return the description of the collection's contents; None where there is none."""

        def look(client: Any) -> Published | None:
            if not client.has_collection(self._collection):
                return None
            saved = client.describe_collection(self._collection).get("properties", {}).get(_PROPERTY)
            return None if saved is None else Published(**json.loads(saved))

        return self._attempt(look)

    def create(self, published: Published) -> None:
        """Create the collection if it is missing."""
        kinds = self._library.DataType

        def make(client: Any) -> None:
            if client.has_collection(self._collection):
                return
            schema = client.create_schema(auto_id=False)
            schema.add_field("key", kinds.INT64, is_primary=True)
            schema.add_field("document", kinds.INT64)
            schema.add_field("doc_id", kinds.VARCHAR, max_length=_LONGEST_ID)
            schema.add_field("vector", kinds.FLOAT_VECTOR, dim=published.dim)
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
                properties={_PROPERTY: json.dumps(asdict(published))},
                # The next search sees what was written.
                consistency_level="Strong",
            )

        self._attempt(make)

    def finish(self, published: Published) -> None:
        """Store the description of the contents, after all was written."""
        properties = {_PROPERTY: json.dumps(asdict(published))}

        def end(client: Any) -> None:
            # Rows that were just written are in no graph: a search compares them one by one, until they are flushed.
            client.flush(self._collection, timeout=_FLUSHING)
            client.alter_collection_properties(self._collection, properties=properties)

        self._attempt(end)

    def documents(self) -> set[int]:
        """Return the keys of all documents."""

        def look(client: Any) -> set[int]:
            keys: set[int] = set()
            rows = client.query_iterator(self._collection, batch_size=_AT_ONCE, output_fields=["document"])
            try:
                while batch := rows.next():
                    keys.update(row["document"] for row in batch)
            finally:
                rows.close()
            return keys

        return self._attempt(look)

    def put(self, rows: Sequence[EngineRow]) -> None:
        """Write passages; writing them again changes nothing."""
        entities = [
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
        self._attempt(lambda client: client.upsert(self._collection, entities))

    def drop(self, documents: Collection[int]) -> None:
        """Remove documents."""
        names = [*documents]
        for first in range(0, len(names), _AT_ONCE):
            chosen = f"document in {names[first : first + _AT_ONCE]}"
            self._attempt(methodcaller("delete", self._collection, filter=chosen))

    def nearest(self, vector: FloatArray, k: int, filters: Filters) -> list[int]:
        """Return the keys of the nearest passages (`Proposer`)."""
        look = partial(self._nearest, vector=vector, k=k, filters=filters)
        keys = self._attempt(partial(look, looked_at=max(_LOOKED_AT, 2 * k)), _SOON)
        if len(keys) >= k:
            return keys
        # A graph search may end before it has seen all passages that pass the filters.
        return self._attempt(partial(look, looked_at=_MOST_LOOKED_AT), _SOON)

    def _nearest(self, client: Any, *, vector: FloatArray, k: int, filters: Filters, looked_at: int) -> list[int]:
        (hits,) = client.search(
            self._collection,
            data=[vector.tolist()],
            anns_field="vector",
            limit=k,
            filter=_filter(filters),
            output_fields=["key"],
            search_params={"metric_type": "IP", "params": {"ef": looked_at}},
            timeout=_SECONDS,
        )
        return [hit["key"] for hit in hits]

    def destroy(self) -> None:
        """Remove the collection."""
        self._attempt(lambda client: client.drop_collection(self._collection))

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _attempt(self, action: Callable[[Any], _T], waits: Sequence[float] | None = None) -> _T:
        error_of = self._library.exceptions

        def run_connected() -> _T:
            if self._client is None:
                token = os.environ.get("AUSCULT_MILVUS_TOKEN", "")
                self._client = self._library.MilvusClient(self._server, token=token, timeout=_SECONDS)
            return action(self._client)

        lost = (
            error_of.ConnectError,
            error_of.ConnectionNotExistException,
            error_of.MilvusUnavailableException,
            ConnectionError,
        )
        try:
            return patiently(
                run_connected,
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
    """Return filters as an expression of Milvus. Its strings are written as in JSON."""
    conditions = []
    for name, allowed in filters.where.items():
        value = f"fields[{json.dumps(printable_value(name), ensure_ascii=False)}]"
        if isinstance(allowed, Between):
            conditions.append(f"{value} >= {_quoted(allowed.first)}")
            if allowed.last:
                # There is no function for prefixes. All strings that begin with the bound are at most this.
                conditions.append(f"{value} <= {_quoted(allowed.last + _LAST)}")
        else:
            # Milvus Lite has no "in" for values of JSON.
            conditions.append(f"({' or '.join(f'{value} == {_quoted(choice)}' for choice in sorted(allowed))})")
    if filters.documents:
        conditions.append(f"doc_id in [{_listed(filters.documents)}]")
    if filters.groups is not None:
        some = f" or array_contains_any(access, [{_listed(filters.groups)}])" if filters.groups else ""
        conditions.append(f"(open == true{some})")
    return " and ".join(conditions)


def _listed(values: Collection[str]) -> str:
    return ", ".join(map(_quoted, sorted(values)))


def _quoted(value: str) -> str:
    return json.dumps(printable_value(value), ensure_ascii=False)
