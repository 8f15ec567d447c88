"""Training of the general encoder: a student learns from teachers, and towers learn from titles and headings."""
