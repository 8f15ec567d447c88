"""Find states that reverse the meaning of a FHIR resource: "do not perform", "not given", "refuted", "stopped".

A resource that is read without these says the opposite of what it means. They are modifiers in the sense of FHIR.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Words = Callable[[Any], str]
"""Returns the words of a value of any type."""

NEGATIONS: Final = {
    "doNotPerform": "do not perform", "notDone": "not done", "notPerformed": "not done", "notGiven": "not given",
    "wasNotGiven": "not given", "wasNotTaken": "not taken", "prohibited": "prohibited", "negated": "negated",
    "excluded": "excluded",
}  # fmt: skip
"""Words of fields that negate if they are true."""
_STATES: Final = ("status", "lifecycleStatus", "verificationStatus", "clinicalStatus", "docStatus")
# States in which something is no longer, not yet, or never was so.
_NOT_SO: Final = frozenset(
    {
        "abandoned", "aborted", "canceled", "cancelled", "declined", "draft", "ended", "entered-in-error", "failed",
        "inactive", "not-done", "not-given", "not-taken", "nullified", "on-hold", "proposed", "refuted", "rejected",
        "remission", "resolved", "revoked", "stopped", "superseded", "suspended", "terminated", "unattainable",
        "withdrawn",
    }
)  # fmt: skip
_NOT_TAKEN: Final = "n"
_DEEPEST: Final = 5


def state_of(fields: Mapping[str, Any], words: Words) -> str:
    """Return what turns the meaning of a resource around, with a capital letter; "" if nothing does.

    Args:
        fields: Fields of the resource.
        words: Returns the words of a value.
    """
    states = [meaning for name, meaning in NEGATIONS.items() if fields.get(name) is True]
    states += ["not taken"] if fields.get("taken") == _NOT_TAKEN else []
    states += [code.replace("-", " ") for name in _STATES for code in _codes(fields.get(name)) if code in _NOT_SO]
    states += filter(None, [words_of_modifiers(fields, words)])
    line = ", ".join(dict.fromkeys(states))
    return line[:1].upper() + line[1:]


def words_of_modifiers(fields: Mapping[str, Any], words: Words) -> str:
    """Return the extensions that change the meaning of an element: "negated", "certainty: low".

    Args:
        fields: Fields of the element.
        words: Returns the words of a value.
    """
    if "modifierExtension" not in fields:
        return ""
    return ", ".join(_modifiers(fields["modifierExtension"], words, 0))


def _modifiers(extensions: Any, words: Words, depth: int) -> Iterator[str]:
    for extension in extensions if isinstance(extensions, list) else [extensions]:
        if not isinstance(extension, dict) or depth > _DEEPEST:
            continue
        address = str(extension.get("url", "")).rstrip("/")
        name = re.sub(r"[-_.]+|(?<=[a-z])(?=[A-Z])", " ", re.split(r"[/:#]", address)[-1]).lower().strip()
        for key, value in extension.items():
            if key.startswith("value"):
                yield name if value is True else f"{name}: {words(value)}"
        yield from (f"{name}: {inner}" for inner in _modifiers(extension.get("extension"), words, depth + 1))


def _codes(value: Any) -> Iterator[str]:
    """Yield the codes and texts of a state, which is a code or a coded concept."""
    if isinstance(value, str):
        yield "-".join(value.lower().split())
    elif isinstance(value, dict):
        yield from _codes(value.get("text"))
        codings = value.get("coding")
        for coding in codings if isinstance(codings, list) else [codings]:
            if isinstance(coding, dict):
                yield from (code for name in ("code", "display") for code in _codes(coding.get(name)))
