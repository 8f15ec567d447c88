"""A de-identifier as a user may write one."""

from __future__ import annotations

import re
from collections.abc import Iterator


class Numbers:
    """Finds numbers."""

    name = "numbers"

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        for match in re.finditer(r"\d+", text):
            yield *match.span(), "<NUMBER>"
