"""The report as one HTML page that needs nothing else: no server, no network, no library.

Style, script and data stand in the page. It comes with a content security policy that forbids every request and every
script but its own, by hash; the user's texts are escaped in the HTML and become text nodes, never markup, in the
script. So a passage that holds `<script>` is shown as it is written.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from auscult.errors import ConfigError
from auscult.files.writing import whole_or_nothing
from auscult_lab.workbench.conclusion import conclude
from auscult_lab.workbench.content import ReportContent
from auscult_lab.workbench.page_data import page_data

_SCRIPTS = ("state.js", "results.js", "charts.js", "questions.js", "published.js", "start.js")
"""In the order in which they need each other; together one script."""


def write_page(content: ReportContent, path: Path) -> None:
    """Write a report, whole or not at all.

    Args:
        content: What it shows.
        path: Of the HTML file; its folder is made where there is none.

    Raises:
        ConfigError: There is no record: nothing was compared.
        DataError: The place cannot be written to.
    """
    if not content.records:
        raise ConfigError("at least one evaluated model", "none", "evaluate a model first")
    page = _page(content)
    with whole_or_nothing(path) as partial:
        # A lone surrogate, which JSON input may hold, has no UTF-8.
        partial.write_text(page, encoding="utf-8", errors="replace")


def _page(content: ReportContent) -> str:
    script = "\n".join(['"use strict";', *map(_read, _SCRIPTS)])
    style = _read("page.css")
    headline, *sentences = conclude(content.records)
    return Template(_read("page.html")).substitute(
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        data=_embedded(page_data(content)),
        title=escape(content.title),
        version=escape(content.version),
        date=escape(content.date),
        day=escape(content.date[:10]),
        counts="".join(
            f"<div><dt>{escape(name)}</dt><dd>{number:,}</dd></div>" for name, number in content.counts.items()
        ),
        warnings=_warnings(content.warnings),
        headline=escape(headline),
        conclusion=escape(" ".join(sentences)),
        hardware=_listed("Measured on", (record.hardware for record in content.records))
        + _listed(" Trained on", (str(record.training.get("hardware") or "") for record in content.records)),
    )


def _embedded(data: dict[str, object]) -> str:
    """JSON inside a script element: without "<" nothing in it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _warnings(warnings: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    title = "<h2>What to know about the data</h2>"
    return f'<aside class="warnings" aria-label="Warnings">{title}<ul>{items}</ul></aside>' if items else ""


def _listed(what: str, values: Iterable[str]) -> str:
    found = sorted({value for value in values if value})
    return f"{what} {escape('; '.join(found))}." if found else ""


def _hash(text: str) -> str:
    """A source of a content security policy: this very text and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return resources.files("auscult_lab.workbench").joinpath("layout", name).read_text(encoding="utf-8")
