"""Modules that models are composed of, and files of their weights."""

from typing import Literal

Task = Literal["entity", "aspect"]
"""What a model of entities and aspects learns."""

__all__ = ["Task"]
