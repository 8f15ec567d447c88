"""FHIR as XML, converted to the objects of its JSON: an element is a field, and its attribute `value` the value.

XML does not show which fields are lists, numbers or booleans. The code that reads the objects does not need to know.
"""

from __future__ import annotations

from html import escape
from typing import Any, Final

from auscult.readers.contract import UnreadableError
from auscult.readers.tree import Element

_FHIR: Final = "http://hl7.org/fhir"
_DEEPEST: Final = 200


def is_fhir_xml(root: Element) -> bool:
    """Whether the root element of an XML file is a FHIR resource."""
    return _FHIR in root.attributes.values()


def object_of(resource: Element, depth: int = 0) -> dict[str, Any]:
    """Return the fields of a resource or of an element in it.

    Args:
        resource: The element.
        depth: Nesting depth of the element.

    Raises:
        UnreadableError: The nesting is deeper than 200.
    """
    if depth > _DEEPEST:
        raise UnreadableError("deep nesting", f"XML nested at most {_DEEPEST} deep", "deeper nesting", "leave it out")
    fields: dict[str, Any] = {}
    if _is_resource(resource):
        fields["resourceType"] = resource.tag
    fields |= {name: resource.get(name) for name in ("id", "url") if resource.get(name)}
    for child in resource.elements:
        value: Any
        if child.tag == "div":
            value = _written(child)
        elif len(child.elements) == 1 and _is_resource(child.elements[0]):
            value = object_of(child.elements[0], depth + 1)
        elif child.elements or "value" not in child.attributes:
            value = object_of(child, depth + 1)
        else:
            value = {"true": True, "false": False}.get(child.get("value"), child.get("value"))
        before = fields.get(child.tag)
        if before is None:
            fields[child.tag] = value
        else:
            fields[child.tag] = [*before, value] if isinstance(before, list) else [before, value]
    return fields


def _is_resource(element: Element) -> bool:
    return element.tag[:1].isupper()


def _written(top: Element) -> str:
    """Return an element and its content as XHTML, without a limit of depth."""
    parts: list[str] = []
    stack: list[Any] = [top]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        elif isinstance(node, Element):
            attributes = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes.items())
            parts.append(f"<{node.tag}{attributes}>" if node.children else f"<{node.tag}{attributes}/>")
            stack += [f"</{node.tag}>", *reversed(node.children)] if node.children else []
        else:
            parts.append(escape(node.text, quote=False))
    return "".join(parts)
