"""The nearest passages in a table of PostgreSQL with pgvector, and vectors as it reads them.

A graph (HNSW) is searched on until filters have let enough pass (iterative scan).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from auscult.engines.contract import Filters, printable_value
from auscult.engines.postgres_server import PostgresServer
from auscult.index import Between
from auscult.interfaces import FloatArray

_LOOKED_AT: Final = 100
"""Vectors that a search in a graph keeps in view (`hnsw.ef_search`). It goes on from there until it has enough."""


def nearest_on(
    server: PostgresServer,
    vector: FloatArray,
    k: int,
    filters: Filters,
    seen_by: str,
) -> list[tuple[float, int]]:
    """Return the nearest passages of a server's table (`Proposer.nearest`): how far each is, and its key.

    Args:
        server: Its name "passages" is that of the table.
        vector: As `Proposer.nearest` takes it.
        k: The same.
        filters: The same.
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
