"""The example of Bohanec and Bratko (1994): nine tests, A(B C D), B(E F), C(G H leaf), D(I leaf leaf), and 18 rows.

E and F have three leaves each; G, H and I have two. All nodes are in pre-order.
"""

from secateur import Counts, Tree

PARENT = [-1, 0, 1, 2, 2, 2, 1, 6, 6, 6, 0, 10, 11, 11, 10, 14, 14, 10, 0, 18, 19, 19, 18, 18]
CLASSES_OF_LEAVES = ["a", "a", "b", "b", "b", "a", "a", "b", "a", "b", "aaa", "b", "a", "bb", "b"]  # a letter per row
NODE_OF_NAME = dict(zip("ABEFCGHDI", [0, 1, 2, 6, 10, 11, 14, 18, 19], strict=True))
NAME_OF_NODE = {node: name for name, node in NODE_OF_NAME.items()}


def nine_tests(copies=1):
    """Return the tree and its counts; each row is repeated `copies` times."""
    tree = Tree.from_parents(PARENT)
    by_class = [[copies * rows.count("a"), copies * rows.count("b")] for rows in CLASSES_OF_LEAVES]
    return tree, Counts.from_leaves(tree, by_class)
