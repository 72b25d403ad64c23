"""The exact number of prunings within limits, as a Python integer of any length.

A table of `ExcessTables` becomes one integer, in which every entry has a block of `width` bits. The entry for size s
and excess j is block s + stride * j, and the convolution of two tables is the product of their integers.
"""

import math

import numpy as np

from ..errors import UnsupportedError
from ._excess import (
    LN_2,
    N_EXCESSES,
    N_SIZES,
    PRODUCT_EXCESSES,
    PRODUCT_SIZES,
    SUFFIX_EXCESSES,
    SUFFIX_SIZES,
    TABLE_START,
    ExcessTables,
)

MAX_TABLE_BITS = 2**26  # the product of two such integers takes seconds
MAX_STEPS = 10**10  # about a minute
BITS_OF_DIGIT = 30  # of Python's integers
KARATSUBA_EXPONENT = 0.585
MAX_BYTES = 2**30  # of all integers that are needed at the same time


def count_exactly(tables: ExcessTables) -> int:
    """Return the number of prunings; raise `UnsupportedError` if the integers would be too long."""
    return _ExactCount(tables).total()


class _ExactCount:
    """One pass over the nodes, from the last to the first, with one integer per table."""

    def __init__(self, tables: ExcessTables) -> None:
        self.tables = tables
        self.layout = tables.layout.tolist()
        self.n_bytes = self._bytes_of_entry()
        self.width = 8 * self.n_bytes
        max_sizes = int(tables.layout[:, N_SIZES].max())
        self.stride = 2 * max_sizes - 1  # sizes of a product do not run into the next excess
        self.masks: dict[tuple[int, int], int] = {}
        n_bits = int(tables.layout[0, N_EXCESSES]) * self.stride * self.width
        if n_bits > MAX_TABLE_BITS or self._estimate_work() > MAX_STEPS:
            self._refuse(n_bits // 8)

    def _bytes_of_entry(self) -> int:
        """Return the number of bytes that hold any entry, also of a product before it is cut off.

        Without a limit on the size, entries beyond the limit on the excess may be longer, because they only spill into
        one another. With a limit, they would spill into the next excess.
        """
        tables = self.tables
        exponents = tables.exponent[tables.mantissa > 0]
        n_bits = max(int(exponents.max(initial=0)), math.ceil(max(tables.total.log, 0.0) / LN_2 * (1 + 1e-9))) + 2
        if tables.charge.any():
            n_bits = 2 * n_bits + len(exponents).bit_length()
        return n_bits // 8 + 1

    def _estimate_work(self) -> float:
        """Return about how many steps the products of the integers take, by Karatsuba's method."""
        layout, tree = self.tables.layout, self.tables.tree
        first = np.flatnonzero((layout[:, N_EXCESSES] > 0) & (layout[:, TABLE_START] >= 0))
        later = layout[tree.end[first]]
        digits_per_excess = self.stride * self.width / BITS_OF_DIGIT
        own, other = (lengths * digits_per_excess for lengths in (layout[first, N_EXCESSES], later[:, SUFFIX_EXCESSES]))
        return float((np.maximum(own, other) * np.minimum(own, other) ** KARATSUBA_EXPONENT).sum())

    def _refuse(self, n_bytes: int) -> None:
        digits = f"{self.tables.total.log / math.log(10):,.0f}"
        raise UnsupportedError(
            f"the exact number has about {digits} digits, and counting it takes products of tables of "
            f"{n_bytes / 1e6:,.1f} MB, for more than a minute; log_count is its natural logarithm"
        )

    def total(self) -> int:
        """Return the sum of the entries of the table of the root."""
        tree, layout = self.tables.tree, self.layout
        parent, end = tree.parent.tolist(), tree.end.tolist()
        products: dict[int, int] = {}  # P(v) by node
        suffixes: dict[int, int] = {}  # by parent, S of the child that was visited last
        n_used = 0
        for v in range(tree.n_nodes - 1, 0, -1):
            if layout[v][N_EXCESSES] == 0:
                continue
            p = parent[v]
            product = products.pop(v, 0)
            suffix = self._with_leaf(v, product)
            n_used -= product.bit_length()
            if end[v] < end[p]:
                later = suffixes.pop(p)
                n_used -= later.bit_length()
                line = layout[p] if v == p + 1 else layout[v]
                columns = (PRODUCT_EXCESSES, PRODUCT_SIZES) if v == p + 1 else (SUFFIX_EXCESSES, SUFFIX_SIZES)
                suffix = suffix * later & self._mask(line[columns[0]], line[columns[1]])
            (products if v == p + 1 else suffixes)[p] = suffix
            n_used += suffix.bit_length()
            if n_used > 8 * MAX_BYTES:
                self._refuse(n_used // 8)
        root = self._with_leaf(0, products.pop(0, 0))
        raw = root.to_bytes(layout[0][N_EXCESSES] * self.stride * self.n_bytes + self.n_bytes, "little")
        return sum(int.from_bytes(raw[at : at + self.n_bytes], "little") for at in range(0, len(raw), self.n_bytes))

    def _with_leaf(self, v: int, product: int) -> int:
        """Return T(v), made of P(v) and of v as a leaf."""
        tables = self.tables
        leaf_excess, split_excess = tables.excess[v].tolist()
        n_excesses, n_sizes = self.layout[v][N_EXCESSES], self.layout[v][N_SIZES]
        shift = (split_excess * self.stride + int(tables.charge[v])) * self.width
        number = product << shift & self._mask(n_excesses, n_sizes) if product else 0
        return number + (1 << leaf_excess * self.stride * self.width) if leaf_excess < n_excesses else number

    def _mask(self, n_excesses: int, n_sizes: int) -> int:
        """Return the bits of the entries of a table with these lengths."""
        key = (n_excesses, n_sizes)
        if key not in self.masks:
            line = (1 << n_sizes * self.width) - 1
            if self.stride > 1:
                step = self.stride * self.width
                line *= ((1 << step * n_excesses) - 1) // ((1 << step) - 1)
            else:
                line = (1 << n_excesses * self.width) - 1
            self.masks[key] = line
        return self.masks[key]
