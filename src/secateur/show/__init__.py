"""A tree for people: what is shown, in which words, where nodes stand, as text."""
