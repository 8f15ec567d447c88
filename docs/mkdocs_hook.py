"""What MkDocs does with each page beside what it always does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Name files of the checkout that are not part of the site, where a page links to them."""
    folder = DOCS / Path(page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        text, target = link.groups()
        path = (folder / target.partition("#")[0]).resolve()
        if "://" in target or target.startswith("#") or path.is_relative_to(DOCS):
            return link[0]
        return f"{text} (`{path.relative_to(DOCS.parent)}`)"

    return _LINK.sub(named, markdown)
