"""`auscult interactions`: what a CK-HQA model finds alike in a query and a text: in the terminal, as JSON, drawn."""

from __future__ import annotations

import errno
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from auscult.errors import ConfigError, DataError, ModelError, naming_extra
from auscult.evaluation.interaction_figure import check_interaction_figure, draw_interactions
from auscult.models import is_scorer, load_scorer
from auscult.search.explain import printable

if TYPE_CHECKING:
    from auscult.models.ckhqa.interactions import Interactions
    from auscult.models.ckhqa.ranker import CkRanker

_BEST = 3
# What the system says of a text that is no file's name, or the name of none.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)


def interactions(
    model: Annotated[Path, typer.Argument(help="The folder of a trained CK-HQA model.")],
    query: Annotated[str, typer.Option("--query", "-q", help="What is asked.")],
    text: Annotated[str, typer.Option("--text", "-t", help="A text file to read, or the text itself.")],
    figure: Annotated[
        Path | None, typer.Option("--figure", "-f", help="Also draw a picture: a .png or .svg file.")
    ] = None,
    view: Annotated[
        Literal["last", "mean"], typer.Option("--view", help="The last layer, or the mean over all layers.")
    ] = "last",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with the matrices of all layers.")] = False,
) -> None:
    """Show how alike a model finds the tokens of a query and of a text, and which entities it knows them to name."""
    if not query.strip():
        raise ConfigError("a --query with words", repr(query), "ask something")
    passage = _read(text)
    if figure is not None:
        check_interaction_figure(figure)
    if not is_scorer(str(model)):
        raise ModelError("a CK-HQA model's folder", f"{model}, which is an encoder's", "ask its index: auscult explain")
    with naming_extra("neural", "torch", "safetensors"):
        from auscult.models.ckhqa.interactions import find_interactions
        from auscult.models.ckhqa.ranker import CkRanker
    scorer = load_scorer(str(model))
    found = find_interactions(scorer, query, passage)
    read = _characters_read(scorer.ranker, found, passage) if isinstance(scorer.ranker, CkRanker) else len(passage)
    cut = f"the first {read:,} of {len(passage):,} characters of the text" if read < len(passage) else ""
    if figure is not None:
        of_query = [(printable(token), printable(name)) for token, name in _named(found.query, found.query_entities)]
        of_text = [(printable(token), printable(name)) for token, name in _named(found.passage, found.passage_entities)]
        title = f"{scorer.name}: {query.strip()}{f' ({cut})' if cut else ''}"
        draw_interactions(figure, of_query, of_text, found.view(view), title=title)
    if as_json:
        told = asdict(found) | {"matrices": found.matrices.round(4).tolist()}
        characters = {"passage_characters": len(passage), "passage_characters_read": read}
        typer.echo(json.dumps({"model": scorer.name, **characters, **told}))
    else:
        _print(found, scorer.name, view)
        if cut:
            typer.echo(f"Only {cut} were read.")
    if figure is not None:
        typer.echo(f"drawn to {figure}", err=True)


def _read(text: str) -> str:
    """The content of a file, or the text itself; one word that is no file is taken for a misspelt name."""
    try:
        return Path(text).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError("a text file in UTF-8", f"{text} ({error})", "give another file") from error
    except ValueError:
        # Characters that no name has.
        return text
    except OSError as error:
        # The path of no text at all is the current folder's.
        if text and error.errno not in _NO_FILE:
            raise DataError("a text file that can be read", f"{text}: {error.strerror}", "give another file") from error
        if len(text.split()) < 2 and error.errno != errno.ENAMETOOLONG:
            raise DataError("a text file, or a text of several words", repr(text), "correct the path") from error
        return text


def _characters_read(ranker: CkRanker, found: Interactions, passage: str) -> int:
    """How much of a passage became tokens."""
    count = len(found.passage)
    _, places = ranker.pairs.pieces(passage, count + 1)
    return places[count - 1][1] if len(places) > count else len(passage)


def _named(tokens: tuple[str, ...], entities: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(zip(tokens, entities, strict=True))


def _print(found: Interactions, name: str, view: Literal["last", "mean"]) -> None:
    """For every token of the query, what of the text is most like it."""
    console = Console(highlight=False)
    console.print(Text(f"{printable(name)}  {found.score:.3f}", style="bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("query token", "entity", "most similar in the text"):
        table.add_column(title)
    for (token, entity), row in zip(_named(found.query, found.query_entities), found.view(view), strict=True):
        best = (-row).argsort(kind="stable")[:_BEST].tolist()
        alike = ", ".join(f"{printable(found.passage[column])} {row[column]:.2f}" for column in best)
        table.add_row(Text(printable(token)), Text(printable(entity), style="red"), Text(alike))
    console.print(table)
