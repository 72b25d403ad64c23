"""Hash every row of a sample with a key: 64 bits by SipHash-1-3, over the numbers of the row and its target.

The numbers of a row are first joined into one word, by one random factor per column (a universal hash). SipHash then
takes in two words: the joined numbers and the target. Costs O(rows x columns).

The same pass hashes the rows with rounded numbers, three times. Bits are rounded away at the end of a float32 number:

    sign 1 | exponent 8 | mantissa 23 = 16, 10 or 4 kept + 7, 13 or 19 rounded away

16 bits are about five significant digits; 10 bits are those of float16, about three; 4 bits are about one. A short
mixer with the same secret factors replaces SipHash there, because more rounds of SipHash would take longer than all
other work on a row.
"""

import cython
import numpy as np

Words = cython.typedef(cython.const[cython.ulonglong][::1])


def row_hashes(
    bits: cython.const[cython.uint][:, ::1],
    target: Words,
    factor: Words,
    start: Words,
    has_numeric_target: cython.bint,
):
    """Return four hashes of each row: of its numbers, and of its numbers rounded to 16, to 10 and to 4 bits.

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
    has_numeric_target : bool
        Whether the target is the bit pattern of a float32 number, which is rounded too.
    """
    hashes: cython.ulonglong[:, ::1] = np.empty((4, bits.shape[0]), np.uint64)
    step: cython.int
    pattern: cython.uint
    word16: cython.ulonglong
    word10: cython.ulonglong
    word4: cython.ulonglong
    with cython.nogil:
        for i in range(bits.shape[0]):
            joined = 0
            joined16 = start[0]
            joined10 = start[2]
            joined4 = start[0] ^ start[2]
            for j in range(bits.shape[1]):
                pattern = bits[i, j]
                if (pattern & 0x7FFFFFFF) == 0:
                    pattern = 0
                elif (pattern & 0x7FFFFFFF) > 0x7F800000:
                    pattern = 0x7FC00000
                joined += factor[j] * cython.cast(cython.ulonglong, pattern)
                joined16 += factor[j] * cython.cast(cython.ulonglong, _rounded(pattern, 7))
                joined10 += factor[j] * cython.cast(cython.ulonglong, _rounded(pattern, 13))
                joined4 += factor[j] * cython.cast(cython.ulonglong, _rounded(pattern, 19))
            word16 = word10 = word4 = target[i]
            if has_numeric_target:
                word16 = _rounded(cython.cast(cython.uint, target[i]), 7)
                word10 = _rounded(cython.cast(cython.uint, target[i]), 13)
                word4 = _rounded(cython.cast(cython.uint, target[i]), 19)
            hashes[1, i] = _mix(_mix(joined16) + (word16 ^ start[1]))
            hashes[2, i] = _mix(_mix(joined10) + (word10 ^ start[3]))
            hashes[3, i] = _mix(_mix(joined4) + (word4 ^ start[1] ^ start[3]))
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
            hashes[0, i] = v0 ^ v1 ^ v2 ^ v3
    return hashes.base


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _rounded(pattern: cython.uint, n_dropped: cython.int) -> cython.uint:
    """Return the bit pattern of a float32 number without its last bits; a carry may raise the exponent.

    NaN stays the same. The sign of numbers that are rounded to zero stays: such numbers are smaller than 1e-38.
    """
    return ((pattern + (cython.cast(cython.uint, 1) << (n_dropped - 1))) >> n_dropped) << n_dropped


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _mix(word: cython.ulonglong) -> cython.ulonglong:
    """Return the word with all bits mixed: the last step of MurmurHash3."""
    word = (word ^ (word >> 33)) * cython.cast(cython.ulonglong, 0xFF51AFD7ED558CCD)
    word = (word ^ (word >> 33)) * cython.cast(cython.ulonglong, 0xC4CEB9FE1A85EC53)
    return word ^ (word >> 33)
