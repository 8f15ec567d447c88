"""Processes that compute the answers of one service, so that it uses all cores."""
