"""The elements of a paper: what the code implements, what departs, what could not be measured, and where in the code.

The table `elements.csv` has all of them; a paper's page shows the main departures.

`study/elements/<citation key>.yaml` lists a paper's equations, figures, tables and settings:

    - element: "Eq. 3-8: cross attention"
      is: faithful                    # or departs, or unmeasured
      how: one sentence               # what differs, or why it cannot be measured; only a faithful element has none
      short: a few words              # what the paper's page shows, for the departures that weigh most
      where: src/auscult_lab/modules/attention.py::CrossAttention     # or a list, or a file alone

A place is a file of the repository and, behind "::", the dotted name of a class, function, method, field or constant
in it. Lines move and names stay, so names are kept; one that is no longer there is an error.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from auscult.errors import DataError
from auscult_lab.evaluation.tables import TextTable

ROOT = Path(__file__).resolve().parents[2]
ELEMENTS = ROOT / "study" / "elements"
_WORDS = {"faithful": "as in the paper", "departs": "departs", "unmeasured": "not measurable here"}


def _several(given: object) -> object:
    return [given] if isinstance(given, str) else given


class Element(BaseModel):
    """Something that a paper says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    element: Annotated[str, Field(min_length=1)]
    state: Annotated[Literal["faithful", "departs", "unmeasured"], Field(alias="is")]
    how: str = ""
    short: str = ""
    where: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()

    @model_validator(mode="after")
    def _is_told(self) -> Element:
        if self.state == "faithful" and not self.where:
            raise ValueError(f"'{self.element}': 'where' is missing")
        if self.state != "faithful" and not self.how:
            raise ValueError(f"'{self.element}': 'how' is missing")
        if self.state == "faithful" and self.short:
            raise ValueError(f"'{self.element}': 'short' is for what departs")
        return self


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a file: where it is defined."""

    path: Path
    name: str
    line: int

    @property
    def text(self) -> str:
        """FILE, or FILE::NAME."""
        return f"{self.path}::{self.name}" if self.name else str(self.path)


def read_elements(key: str) -> tuple[Element, ...]:
    """Read a paper's elements, in their order; empty where no file lists them.

    Raises:
        DataError: The file is not valid.
    """
    path = ELEMENTS / f"{key}.yaml"
    if not path.is_file():
        return ()
    try:
        return tuple(TypeAdapter(list[Element]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8"))))
    except (yaml.YAMLError, ValidationError) as error:
        raise DataError(f"elements with 'is', 'how' and 'where' in {path}", str(error), "correct the file") from error


def find_place(where: str) -> Place:
    """Find the place in the code that an element names.

    Args:
        where: FILE, or FILE::NAME.

    Raises:
        DataError: The file, or the name in it, is not there.
    """
    file, _, name = where.partition("::")
    path = ROOT / file
    if not path.is_file():
        raise DataError(f"the file {file}, named in {ELEMENTS.name}/", "no such file", "name where it is now")
    line = dict(_names(path)).get(name) if name else 1
    if line is None:
        raise DataError(f"'{name}' in {file}, named in {ELEMENTS.name}/", "no such name", "name where it is now")
    return Place(Path(file), name, line)


def departures_table(key: str) -> TextTable:
    """Build the table of the main departures, with counts of all elements below it; no rows without departures.

    Raises:
        DataError: The paper's file is not as it should be.
    """
    elements = read_elements(key)
    rows = tuple((element.element.partition(":")[0], element.short) for element in elements if element.short)
    counts = Counter(element.state for element in elements)
    note = (
        f"Of {len(elements)} equations, tables and settings, {counts['faithful']} are as printed, {counts['departs']} "
        f"depart, {counts['unmeasured']} cannot be measured: [all](../../benchmarks/results/tables/elements.csv)."
    )
    return TextTable("What departs from the paper", ("In the paper", "Here"), rows, (note,))


def element_rows() -> list[dict[str, str]]:
    """Return every element of every paper, for `elements.csv`.

    Raises:
        DataError: A place is no longer there.
    """
    return [
        {
            "paper": path.stem,
            "element": element.element,
            "here": _WORDS[element.state],
            "how, or why": element.how,
            "where": "; ".join(find_place(where).text for where in element.where),
        }
        for path in sorted(ELEMENTS.glob("*.yaml"))
        for element in read_elements(path.stem)
    ]


@lru_cache(maxsize=256)
def _names(path: Path) -> tuple[tuple[str, int], ...]:
    if path.suffix != ".py":
        return ()
    return tuple(_defined(ast.parse(path.read_text(encoding="utf-8")), ""))


def _defined(body: ast.Module | ast.ClassDef, above: str) -> Iterator[tuple[str, int]]:
    """Yield the dotted names that a module or class defines, with their lines."""
    for node in body.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield above + node.name, node.lineno
            if isinstance(node, ast.ClassDef):
                yield from _defined(node, f"{above}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield above + target.id, node.lineno
