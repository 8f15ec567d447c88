"""Middleware that protects a service and its answers: limits, security headers, checks of the origin."""
