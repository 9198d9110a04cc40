"""Words, names and texts, and the networks that lectures 4 to 7 train on them."""
