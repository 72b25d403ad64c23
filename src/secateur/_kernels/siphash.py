"""A keyed hash of each row, 64 bits out: SipHash-1-3 over its numbers, joined into one word, and its answer."""

import numpy as np
import numpy.typing as npt

from ._jit import njit

_START = (
    np.uint64(0x736F6D6570736575),
    np.uint64(0x646F72616E646F6D),
    np.uint64(0x6C7967656E657261),
    np.uint64(0x7465646279746573),
)
_R13, _R16, _R17, _R21, _R32 = np.uint64(13), np.uint64(16), np.uint64(17), np.uint64(21), np.uint64(32)
_L51, _L48, _L47, _L43 = np.uint64(51), np.uint64(48), np.uint64(47), np.uint64(43)
_END = np.uint64(0xFF)
_SIGN, _INFINITY, _NAN = np.uint32(0x80000000), np.uint32(0x7F800000), np.uint32(0x7FC00000)


@njit
def row_hashes(
    bits: npt.NDArray[np.uint32],
    answer: npt.NDArray[np.uint64],
    factor: npt.NDArray[np.uint64],
    key: npt.NDArray[np.uint64],
) -> npt.NDArray[np.uint64]:
    """Return the hash of each row of float32 bit patterns and its answer; -0.0 is 0.0 and every NaN the same.

    The patterns are first joined by one random factor each, a universal hash; SipHash takes in
    the sum and the answer.
    """
    n, d = bits.shape
    out = np.empty(n, np.uint64)
    for i in range(n):
        joined = np.uint64(0)
        for j in range(d):
            b = bits[i, j]
            if b == _SIGN:
                b = np.uint32(0)
            elif b & ~_SIGN > _INFINITY:
                b = _NAN
            joined += factor[j] * np.uint64(b)
        v0, v1, v2, v3 = key[0] ^ _START[0], key[1] ^ _START[1], key[0] ^ _START[2], key[1] ^ _START[3]
        for step in range(5):
            word = joined if step == 0 else (answer[i] if step == 1 else np.uint64(0))
            if step == 2:
                v2 ^= _END
            v3 ^= word
            v0 += v1
            v1 = ((v1 << _R13) | (v1 >> _L51)) ^ v0
            v0 = (v0 << _R32) | (v0 >> _R32)
            v2 += v3
            v3 = ((v3 << _R16) | (v3 >> _L48)) ^ v2
            v0 += v3
            v3 = ((v3 << _R21) | (v3 >> _L43)) ^ v0
            v2 += v1
            v1 = ((v1 << _R17) | (v1 >> _L47)) ^ v2
            v2 = (v2 << _R32) | (v2 >> _R32)
            v0 ^= word
        out[i] = v0 ^ v1 ^ v2 ^ v3
    return out
