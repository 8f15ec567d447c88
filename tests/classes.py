"""Classes of both packages that keep a contract, found by what they can do."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import auscult
import auscult_lab


def classes_with(*methods: str) -> set[type]:
    """Every class of both packages that can be made and has these methods, whatever it says of itself.

    A class whose name begins with "_" is what several share.
    """
    return {
        candidate
        for package in (auscult, auscult_lab)
        for module in walk_packages(package.__path__, f"{package.__name__}.")
        for candidate in vars(import_module(module.name)).values()
        if inspect.isclass(candidate) and candidate.__module__ == module.name and _stands_alone(candidate)
        if all(callable(getattr(candidate, method, None)) for method in methods)
    }


def _stands_alone(each: Any) -> bool:
    return not (inspect.isabstract(each) or getattr(each, "_is_protocol", False) or each.__name__.startswith("_"))
