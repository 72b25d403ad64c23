"""Compiled loops: arrays and scalars in, new arrays out.

Nothing here knows a Tree, checks an argument or recurses; callers check once.
"""
