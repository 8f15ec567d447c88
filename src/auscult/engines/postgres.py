"""PostgreSQL with pgvector as an engine. The only file that imports `psycopg`.

A collection is a table `auscult_COLLECTION`, and a line in `auscult_collections` that says what it holds. Vectors are
compared exactly, or by HNSW, which goes on until filters have let enough pass (iterative scan). Words are a tsvector.
The password comes from PGPASSWORD or a password file, as libpq reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar
from urllib.parse import urlsplit

from auscult.engines.contract import EngineRow, Filters, Place, Published, first_line, patiently, printable_value
from auscult.errors import EngineError, naming_extra
from auscult.index import Between
from auscult.interfaces import FloatArray

_T = TypeVar("_T")
_SECONDS, _MILLISECONDS = 5, 60_000
_MOST_LOOKED_AT = 1000


class PostgresEngine:
    """A table of passages.

    Raises:
        MissingExtraError: `psycopg` is not installed.
        EngineError: The server cannot be reached, or has no pgvector.
    """

    def __init__(self, place: Place) -> None:
        with naming_extra("postgres", "psycopg"):
            import psycopg
            from psycopg import sql
        self._library = psycopg
        self._server = place.server
        parts = urlsplit(place.server)
        self.name = f"the PostgreSQL server {parts.hostname or 'here'}{parts.path}"
        self._key = place.collection
        self._names = {"table": sql.Identifier(f"auscult_{place.collection}")}
        for index in ("documents", "terms", "graph"):
            self._names[index] = sql.Identifier(f"auscult_{place.collection}_{index}")
        self._connection: Any = None
        self._patiently(lambda: None)

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
                _literal(row.vector),
                list(row.terms),
                json.dumps({name: printable_value(value) for name, value in row.fields.items()}),
            )
            for row in rows
        ]

        def write(run: Any) -> None:
            query = self._composed(
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
            return [row[0] for row in self._sql(run, query, [*values, _literal(vector), k])]

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
        """End the connection."""
        if self._connection is not None:
            self._connection.close()

    def _tell(self, run: Any, told: Published) -> None:
        run.execute(
            "INSERT INTO auscult_collections VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET told = excluded.told",
            [self._key, json.dumps(asdict(told))],
        )

    def _composed(self, query: str) -> Any:
        return self._library.sql.SQL(query).format(**self._names)

    def _sql(self, run: Any, query: str, values: Sequence[object] = ()) -> Any:
        return run.execute(self._composed(query), values or None)

    def _deed(self, deed: Callable[[Any], _T], limit: int = _MILLISECONDS) -> _T:
        """Run one transaction."""

        def done() -> _T:
            with self._connection.transaction():
                self._connection.execute(f"SET LOCAL statement_timeout = {limit}")
                return deed(self._connection)

        try:
            return self._patiently(done)
        except self._library.errors.QueryCanceled as error:
            remedy = "ask again when it has less to do, or give it more processors"
            raise EngineError(f"{self.name} to answer in {limit // 1000} s", "no answer", remedy) from error
        except self._library.Error as error:
            raise EngineError(f"{self.name} to do it", first_line(error), "see the server's log") from error

    def _patiently(self, deed: Callable[[], _T]) -> _T:
        def connected() -> _T:
            if self._connection is None or self._connection.closed:
                self._connection = self._library.connect(
                    self._server, connect_timeout=_SECONDS, autocommit=True, application_name="auscult"
                )
            return deed()

        def again() -> None:
            self.close()
            self._connection = None

        def is_lost(error: Exception) -> bool:
            errors = self._library.errors
            # What no server has said is of the connection.
            unsaid = isinstance(error, self._library.OperationalError) and error.sqlstate is None
            ended = errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.ConnectionException
            return unsaid or isinstance(error, (*ended, self._library.InterfaceError))

        return patiently(connected, is_lost, again, self.name)


def _literal(vector: FloatArray) -> str:
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
