"""Search for the nearest passages in a table of PostgreSQL with pgvector.

A graph (HNSW) is searched until enough passages pass the filters (iterative scan). It holds vectors of half precision:
a page has more of them, and a search reads fewer pages.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from auscult.encoders.contract import FloatArray
from auscult.engines.contract import Filters
from auscult.index import Between
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.waiting import printable_value

_LOOKED_AT: Final = 100
"""Size of the candidate list of a graph search (`hnsw.ef_search`)."""


def graph_of(dim: int) -> str:
    """Return the statement that makes the graph of a table's passages, whose vectors have `dim` components."""
    return f"CREATE INDEX IF NOT EXISTS passages_graph ON {{passages}} USING hnsw (({_half(dim)}) halfvec_ip_ops)"


def _half(dim: int) -> str:
    return f"vector::halfvec({dim})"


def nearest_on(
    server: PostgresServer,
    vector: FloatArray,
    k: int,
    filters: Filters,
    seen_by: str,
) -> list[tuple[float, int]]:
    """Return distance and key of the nearest passages in a server's table (`Proposer.nearest`).

    Args:
        server: Server whose name "passages" is that of the table.
        vector: As `Proposer.nearest` takes it.
        k: The same.
        filters: The same.
        seen_by: As `PostgresServer.transact` takes it.

    Raises:
        EngineError: The server cannot be reached, refuses, or takes too long.
    """
    where, values = _where(filters)
    # Conditions are made of constants here; all values are parameters.
    far = f"{_half(len(vector))} <#> %s::halfvec({len(vector)}) AS far"
    query = f"SELECT {far}, key FROM {{passages}}{where} ORDER BY far LIMIT %s"  # noqa: S608
    parameters = [literal(vector), *values, k]

    def look(run: Any, settings: str) -> list[tuple[float, int]]:
        # Two statements in one query cannot be prepared.
        run.execute(settings, prepare=False)
        rows: list[tuple[float, int]] = run.execute(server.composed(query), parameters).fetchall()
        return rows

    graph = f"SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = {_LOOKED_AT}"
    if not (filters.where or filters.documents):
        # The planner does not know that vectors lie outside the table's rows, and prefers to read them all.
        graph += "; SET LOCAL enable_seqscan = off"
    nearest = server.transact(partial(look, settings=graph), seen_by=seen_by)
    if len(nearest) >= k:
        return nearest
    # A graph search may end before it has seen all passages that pass the filters.
    return server.transact(partial(look, settings="SET LOCAL enable_indexscan = off"), seen_by=seen_by)


def literal(vector: FloatArray) -> str:
    """Return a vector as pgvector reads it."""
    return "[" + ",".join(map(repr, map(float, vector))) + "]"


def _where(filters: Filters) -> tuple[str, list[object]]:
    """Return filters as a WHERE clause, empty for none, and its parameters."""
    conditions: list[str] = []
    values: list[object] = []
    for name, allowed in filters.where.items():
        # Compare by code points, as all other code does.
        value = '(fields ->> %s) COLLATE "C"'
        if isinstance(allowed, Between):
            conditions.append(f"{value} >= %s")
            values += [name, printable_value(allowed.first)]
            if allowed.last:
                conditions.append('left(fields ->> %s, %s) COLLATE "C" <= %s')
                values += [name, len(allowed.last), printable_value(allowed.last)]
        else:
            conditions.append(f"{value} = ANY(%s)")
            values += [name, [*map(printable_value, allowed)]]
    if filters.documents:
        conditions.append("doc_id = ANY(%s)")
        values.append([*map(printable_value, filters.documents)])
    if filters.groups is not None:
        conditions.append("(access IS NULL OR access && %s::text[])")
        values.append([*map(printable_value, filters.groups)])
    return (" WHERE " + " AND ".join(conditions) if conditions else ""), values
