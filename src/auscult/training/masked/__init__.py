"""Masked language modelling: an encoder reads the texts of a house before it learns to search them."""
