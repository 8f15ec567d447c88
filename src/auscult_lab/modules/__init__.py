"""Modules that models are composed of, and what their weights are kept in."""

from typing import Literal

Task = Literal["entity", "aspect"]
"""What a model of entities and aspects learns."""

__all__ = ["Task"]
