"""Hash every row of a sample with a key: 64 bits by SipHash-1-3, over the numbers of the row and its target.

The numbers of a row are first joined into one word, by one random factor per column (a universal hash). SipHash then
takes in two words: the joined numbers and the target. Costs O(rows x columns).
"""

import cython
import numpy as np

Words = cython.typedef(cython.const[cython.ulonglong][::1])


def row_hashes(bits: cython.const[cython.uint][:, ::1], target: Words, factor: Words, start: Words):
    """Return the hash of each row.

    Parameters
    ----------
    bits : array of rows x columns
        Bit patterns of float32 numbers. -0.0 counts as 0.0, and every NaN as the same number.
    target : array
        One word per row.
    factor : array
        One random word per column.
    start : array
        The four words of state with which SipHash begins; they contain the key.
    """
    hashes: cython.ulonglong[::1] = np.empty(bits.shape[0], np.uint64)
    step: cython.int
    pattern: cython.uint
    with cython.nogil:
        for i in range(bits.shape[0]):
            joined = 0
            for j in range(bits.shape[1]):
                pattern = bits[i, j]
                if (pattern & 0x7FFFFFFF) == 0:
                    pattern = 0
                elif (pattern & 0x7FFFFFFF) > 0x7F800000:
                    pattern = 0x7FC00000
                joined += factor[j] * cython.cast(cython.ulonglong, pattern)
            v0, v1, v2, v3 = start[0], start[1], start[2], start[3]
            for step in range(5):
                word = 0
                if step == 0:
                    word = joined
                elif step == 1:
                    word = target[i]
                elif step == 2:  # three final rounds, which take in nothing
                    v2 ^= 0xFF
                v3 ^= word
                v0 += v1
                v1 = ((v1 << 13) | (v1 >> 51)) ^ v0
                v0 = (v0 << 32) | (v0 >> 32)
                v2 += v3
                v3 = ((v3 << 16) | (v3 >> 48)) ^ v2
                v0 += v3
                v3 = ((v3 << 21) | (v3 >> 43)) ^ v0
                v2 += v1
                v1 = ((v1 << 17) | (v1 >> 47)) ^ v2
                v2 = (v2 << 32) | (v2 >> 32)
                v0 ^= word
            hashes[i] = v0 ^ v1 ^ v2 ^ v3
    return hashes.base
