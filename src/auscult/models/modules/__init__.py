"""Bricks that models are composed of."""
