"""Templates to pages: everything that is put into one is escaped, and nothing in it is script or style of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from auscult.errors import naming_extra


@cache
def _environment() -> Any:
    with naming_extra("serve", "jinja2"):
        from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("auscult.service.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["grouped"] = lambda number: f"{number:,}"
    made.filters["percent"] = lambda share: f"{100 * share:.0f}\u202f%"
    made.filters["spoken"] = lambda name: str(name).replace("_", " ")
    return made


def rendered(template: str, values: Mapping[str, Any]) -> str:
    """A template filled in.

    Args:
        template: Its file's name.
        values: What it names; one that it names and is not given is an error of ours.
    """
    text: str = _environment().get_template(template).render(values)
    return text
