"""Articles of a Wikipedia dump, for training as the papers did."""
