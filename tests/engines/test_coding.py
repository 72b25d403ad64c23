"""Codes of rows that are kept in a file come back as they were."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from secateur.engines._coding import CodedRows, CodeStore


def coded_rows(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 300, (seed % 5, 3)).astype(np.uint16)
    by_columns = np.asfortranarray(codes) if seed % 2 else codes
    return CodedRows(by_columns, rng.integers(0, 2, len(codes)).astype(np.int32), np.arange(len(codes), dtype=np.int32))


def test_rows_in_a_file_are_read_by_many_threads_as_they_were_written():
    store = CodeStore(is_on_disk=True)
    stored = [coded_rows(seed) for seed in range(40)]
    for rows in stored:
        store.append(rows)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(store.get, [*range(40)] * 5))
    store.close()

    for rows, back in zip(stored * 5, found, strict=True):
        for array, read in zip(rows, back, strict=True):
            assert np.array_equal(array, read)
            assert (array.dtype, array.flags.c_contiguous) == (read.dtype, read.flags.c_contiguous)
