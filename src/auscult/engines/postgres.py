"""PostgreSQL with pgvector as an engine.

A collection is a table `auscult_COLLECTION`, and a line in `auscult_collections` that says what it holds. Vectors are
compared exactly, or by HNSW, which goes on until filters have let enough pass (iterative scan). Words are a tsvector.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from auscult.engines.contract import WITHOUT, EngineRow, Filters, Place, Published, printable_value
from auscult.engines.postgres_server import MILLISECONDS, PostgresServer
from auscult.index import Between
from auscult.interfaces import FloatArray

_T = TypeVar("_T")
_MOST_LOOKED_AT = 1000


class PostgresEngine:
    """A table of passages.

    Args:
        place: Of the table.
        server: With another table of such columns, of a whole index; only what finds passages is asked of it then.

    Raises:
        MissingExtraError: `psycopg` is not installed.
        EngineError: The server cannot be reached, or has no pgvector.
    """

    def __init__(self, place: Place, server: PostgresServer | None = None) -> None:
        if server is None:
            table = f"auscult_{place.collection}"
            names = {"table": table, **{each: f"{table}_{each}" for each in ("documents", "terms", "graph")}}
            server = PostgresServer(place.server, names, WITHOUT)
            server.deed(lambda run: None)
        self.server = server
        self.name = server.name
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
                "CREATE TABLE IF NOT EXISTS {table} (key bigint PRIMARY KEY, document bigint NOT NULL,"
                " doc_id text NOT NULL, vector vector(" + str(told.dim) + ") NOT NULL, terms tsvector NOT NULL,"
                " fields jsonb NOT NULL)",
            )
            self._sql(run, "CREATE INDEX IF NOT EXISTS {documents} ON {table} (document)")
            self._sql(run, "CREATE INDEX IF NOT EXISTS {terms} ON {table} USING gin (terms)")
            self._tell(run, told)

        self._deed(make)

    def finish(self, told: Published) -> None:
        """Note that all was written."""

        def make(run: Any) -> None:
            if told.approximate:
                # With all rows there, a graph is made many times as fast as row by row.
                self._sql(run, "CREATE INDEX IF NOT EXISTS {graph} ON {table} USING hnsw (vector vector_ip_ops)")
            self._tell(run, told)

        self._deed(make, limit=0)

    def documents(self) -> set[int]:
        """Return the keys of all documents."""
        return self._deed(lambda run: {row[0] for row in self._sql(run, "SELECT DISTINCT document FROM {table}")})

    def put(self, rows: Sequence[EngineRow]) -> None:
        """Write passages; may be done twice."""
        told = [
            (
                row.key,
                row.document,
                printable_value(row.doc_id),
                literal(row.vector),
                list(row.terms),
                json.dumps({name: printable_value(value) for name, value in row.fields.items()}),
            )
            for row in rows
        ]

        def write(run: Any) -> None:
            query = self.server.composed(
                "INSERT INTO {table} VALUES (%s, %s, %s, %s, array_to_tsvector(%s::text[]), %s) ON CONFLICT (key) DO"
                " UPDATE SET (document, doc_id, vector, terms, fields) = (excluded.document, excluded.doc_id,"
                " excluded.vector, excluded.terms, excluded.fields)"
            )
            run.cursor().executemany(query, told)

        self._deed(write)

    def drop(self, documents: Collection[int]) -> None:
        """Remove documents."""
        self._deed(lambda run: self._sql(run, "DELETE FROM {table} WHERE document = ANY(%s)", [[*documents]]))

    def nearest(self, vector: FloatArray, k: int, filters: Filters, *, exact: bool = False) -> list[int]:
        """Return the keys of the nearest passages (`Engine`)."""
        where, values = _where(filters)
        if not exact:
            found = self._nearest(vector, k, where, values, exact=False)
            if len(found) >= k:
                return found
        # A graph may end before all have been seen that may be proposed.
        return self._nearest(vector, k, where, values, exact=True)

    def _nearest(self, vector: FloatArray, k: int, where: str, values: list[object], *, exact: bool) -> list[int]:
        def look(run: Any) -> list[int]:
            if exact:
                run.execute("SET LOCAL enable_indexscan = off")
            else:
                run.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                run.execute(f"SET LOCAL hnsw.ef_search = {max(100, min(_MOST_LOOKED_AT, 4 * k))}")
            # Conditions are made of constants here; all values are parameters.
            query = "SELECT key FROM {table}" + where + " ORDER BY vector <#> %s::vector LIMIT %s"  # noqa: S608
            return [row[0] for row in self._sql(run, query, [*values, literal(vector), k])]

        return self._deed(look)

    def holding(self, weights: Mapping[str, float], k: int, filters: Filters) -> list[int]:
        """Return the keys of the passages with most of some words (`Engine`)."""
        if not weights:
            return []
        where, values = _where(filters)
        # A term is letters and digits.
        any_of = " | ".join(f"'{term}'" for term in weights)
        held = " + ".join("CASE WHEN terms @@ %s::tsquery THEN %s::float8 ELSE 0 END" for _ in weights)
        asked = [each for term, weight in weights.items() for each in (f"'{term}'", weight)]
        query = (
            "SELECT key FROM {table}"  # noqa: S608
            + (where + " AND " if where else " WHERE ")
            + f"terms @@ %s::tsquery ORDER BY {held} DESC, key LIMIT %s"
        )
        return self._deed(lambda run: [row[0] for row in self._sql(run, query, [*values, any_of, *asked, k])])

    def destroy(self) -> None:
        """Remove the collection."""

        def remove(run: Any) -> None:
            self._sql(run, "DROP TABLE IF EXISTS {table}")
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
    return (" WHERE " + " AND ".join(said) if said else ""), values
