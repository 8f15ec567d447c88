"""PostgreSQL with pgvector as an engine.

A collection is a table `auscult_COLLECTION`, and a line in `auscult_collections` that says what it holds. Vectors are
compared exactly, or by HNSW, which goes on until filters have let enough pass (iterative scan).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final, TypeVar

from auscult.engines.contract import WITHOUT, EngineRow, Filters, Place, Published, printable_value
from auscult.engines.postgres_server import MILLISECONDS, PostgresServer
from auscult.index import Between
from auscult.interfaces import FloatArray

_T = TypeVar("_T")
_LOOKED_AT: Final = 100
"""Vectors that a search in a graph keeps in view (`hnsw.ef_search`). It goes on from there until it has enough."""


class PostgresEngine:
    """A table of passages.

    Args:
        place: Of the table.

    Raises:
        MissingExtraError: `psycopg` is not installed.
        EngineError: The server cannot be reached, or has no pgvector.
    """

    def __init__(self, place: Place) -> None:
        table = f"auscult_{place.collection}"
        names = {"passages": table, **{each: f"{table}_{each}" for each in ("documents", "graph")}}
        self.server = PostgresServer(place.server, names, WITHOUT)
        self.server.deed(lambda run: None)
        self.name = self.server.name
        self._key = place.collection

    def published(self) -> Published | None:
        """Return what the collection holds."""

        def look(run: Any) -> Published | None:
            if run.execute("SELECT to_regclass('auscult_collections')").fetchone()[0] is None:
                return None
            found = run.execute("SELECT told FROM auscult_collections WHERE name = %s", [self._key]).fetchone()
            return None if found is None else Published(**found[0])

        return self._deed(look)

    def create(self, told: Published) -> None:
        """Make the collection."""

        def make(run: Any) -> None:
            run.execute("CREATE EXTENSION IF NOT EXISTS vector")
            run.execute("CREATE TABLE IF NOT EXISTS auscult_collections (name text PRIMARY KEY, told jsonb NOT NULL)")
            self._sql(
                run,
                "CREATE TABLE IF NOT EXISTS {passages} (key bigint PRIMARY KEY, document bigint NOT NULL,"
                " doc_id text NOT NULL, vector vector(" + str(told.dim) + ") NOT NULL, fields jsonb NOT NULL)",
            )
            self._sql(run, "CREATE INDEX IF NOT EXISTS {documents} ON {passages} (document)")
            self._tell(run, told)

        self._deed(make)

    def finish(self, told: Published) -> None:
        """Note that all was written."""

        def make(run: Any) -> None:
            if told.approximate:
                # With all rows there, a graph is made many times as fast as row by row.
                self._sql(run, "CREATE INDEX IF NOT EXISTS {graph} ON {passages} USING hnsw (vector vector_ip_ops)")
            self._tell(run, told)

        self._deed(make, limit=0)

    def documents(self) -> set[int]:
        """Return the keys of all documents."""
        return self._deed(lambda run: {row[0] for row in self._sql(run, "SELECT DISTINCT document FROM {passages}")})

    def put(self, rows: Sequence[EngineRow]) -> None:
        """Write passages; may be done twice."""
        told = [
            (
                row.key,
                row.document,
                printable_value(row.doc_id),
                literal(row.vector),
                json.dumps({name: printable_value(value) for name, value in row.fields.items()}),
            )
            for row in rows
        ]

        def write(run: Any) -> None:
            query = self.server.composed(
                "INSERT INTO {passages} VALUES (%s, %s, %s, %s, %s) ON CONFLICT (key) DO UPDATE SET"
                " (document, doc_id, vector, fields) = (excluded.document, excluded.doc_id, excluded.vector,"
                " excluded.fields)"
            )
            run.cursor().executemany(query, told)

        self._deed(write)

    def drop(self, documents: Collection[int]) -> None:
        """Remove documents."""
        self._deed(lambda run: self._sql(run, "DELETE FROM {passages} WHERE document = ANY(%s)", [[*documents]]))

    def nearest(self, vector: FloatArray, k: int, filters: Filters, *, exact: bool = False) -> list[int]:
        """Return the keys of the nearest passages (`Engine`)."""
        return [key for _, key in nearest_on(self.server, vector, k, filters, exact=exact)]

    def destroy(self) -> None:
        """Remove the collection."""

        def remove(run: Any) -> None:
            self._sql(run, "DROP TABLE IF EXISTS {passages}")
            if run.execute("SELECT to_regclass('auscult_collections')").fetchone()[0] is not None:
                run.execute("DELETE FROM auscult_collections WHERE name = %s", [self._key])

        self._deed(remove)

    def close(self) -> None:
        """End the connections."""
        self.server.close()

    def _tell(self, run: Any, told: Published) -> None:
        run.execute(
            "INSERT INTO auscult_collections VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET told = excluded.told",
            [self._key, json.dumps(asdict(told))],
        )

    def _sql(self, run: Any, query: str, values: Sequence[object] = ()) -> Any:
        return run.execute(self.server.composed(query), values or None)

    def _deed(self, deed: Callable[[Any], _T], limit: int = MILLISECONDS) -> _T:
        return self.server.deed(deed, limit)


def nearest_on(
    server: PostgresServer,
    vector: FloatArray,
    k: int,
    filters: Filters,
    *,
    exact: bool = False,
    seen_by: str | None = None,
) -> list[tuple[float, int]]:
    """Return the nearest passages of a server's table (`Engine.nearest`): how far each is, and its key; nearest first.

    Args:
        server: Its name "passages" is that of the table.
        vector: As `Engine.nearest` takes it.
        k: The same.
        filters: The same. `groups` needs the column `access`.
        exact: The same.
        seen_by: As `PostgresServer.deed` takes it.

    Raises:
        EngineError: The server cannot be reached, refuses, or takes too long.
    """
    where, values = _where(filters)
    # Conditions are made of constants here; all values are parameters.
    query = f"SELECT vector <#> %s::vector AS far, key FROM {{passages}}{where} ORDER BY far LIMIT %s"  # noqa: S608
    told = [literal(vector), *values, k]

    def look(run: Any, settings: str) -> list[tuple[float, int]]:
        # Two statements at once cannot be prepared.
        run.execute(settings, prepare=False)
        rows: list[tuple[float, int]] = run.execute(server.composed(query), told).fetchall()
        return rows

    if not exact:
        graph = f"SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = {_LOOKED_AT}"
        found = server.deed(partial(look, settings=graph), seen_by=seen_by)
        if len(found) >= k:
            return found
    # A graph may end before all have been seen that may be proposed.
    return server.deed(partial(look, settings="SET LOCAL enable_indexscan = off"), seen_by=seen_by)


def literal(vector: FloatArray) -> str:
    """Return a vector as pgvector reads it."""
    return "[" + ",".join(map(repr, map(float, vector))) + "]"


def _where(filters: Filters) -> tuple[str, list[object]]:
    """Return filters as a condition, empty for none, and its values."""
    said: list[str] = []
    values: list[object] = []
    for name, wanted in filters.where.items():
        # By code points, as everywhere here.
        value = '(fields ->> %s) COLLATE "C"'
        if isinstance(wanted, Between):
            said.append(f"{value} >= %s")
            values += [name, printable_value(wanted.first)]
            if wanted.last:
                said.append('left(fields ->> %s, %s) COLLATE "C" <= %s')
                values += [name, len(wanted.last), printable_value(wanted.last)]
        else:
            said.append(f"{value} = ANY(%s)")
            values += [name, [*map(printable_value, wanted)]]
    if filters.documents:
        said.append("doc_id = ANY(%s)")
        values.append([*map(printable_value, filters.documents)])
    if filters.groups is not None:
        said.append("(access IS NULL OR access && %s::text[])")
        values.append([*map(printable_value, filters.groups)])
    return (" WHERE " + " AND ".join(said) if said else ""), values
