"""PDF and image files: text in reading order with a box for each word, and pictures of pages."""
