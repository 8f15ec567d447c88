"""Wrong answers, sorted into the classes of two papers."""
