"""Masked language modelling: an encoder reads documents before it learns to search."""
