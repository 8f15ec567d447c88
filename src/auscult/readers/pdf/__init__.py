"""PDF: the text layer in the order of reading, with a box for each word; pages as pictures."""
