"""Counting a Parquet folder larger than memory, beside DuckDB's own scan-and-sum of the same columns.

python benchmarks/scale.py FOLDER [--rows 100000000] [--engine duckdb]

Writes the rows to FOLDER in pieces (once: a folder that holds them is used again), counts them
in a tree of 500 leaves, each measurement in a fresh process. CPU seconds are printed beside wall seconds: on
a busy machine only they compare.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _timing import table

N_COLUMNS = 20
N_LEAVES = 500
ROWS_IN_FILE = 1_000_000
NAMES = [f"x{j}" for j in range(N_COLUMNS)]


def rows(seed, n):
    """Twenty columns, one value in fifty missing, and a noisy class that depends on most of them."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, N_COLUMNS))
    slope = np.random.default_rng(1).normal(size=N_COLUMNS)
    score = matrix @ slope + 3 * np.sin(3 * matrix[:, 0]) + 2 * rng.normal(size=n)
    matrix[rng.random(matrix.shape) < 0.02] = np.nan
    return matrix, (score > 0).astype(np.int64)


def write(folder, n_rows):
    """Make sure that FOLDER holds the rows, and return its files."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{k:05d}.parquet" for k in range(-(-n_rows // ROWS_IN_FILE))]
    for k, file in enumerate(files):
        n = min(ROWS_IN_FILE, n_rows - k * ROWS_IN_FILE)
        if file.exists() and parquet.ParquetFile(file).metadata.num_rows == n:
            continue
        matrix, target = rows(k + 2, n)
        columns = {name: matrix[:, j] for j, name in enumerate(NAMES)}
        parquet.write_table(pa.table({**columns, "y": target}), file, row_group_size=125_000)
    return [str(file) for file in files]


def grown_tree():
    """A tree of 500 leaves, grown on rows that are in no file."""
    import pyarrow as pa

    import secateur

    matrix, target = rows(0, 100_000)
    frame = pa.table({name: matrix[:, j] for j, name in enumerate(NAMES)})
    return secateur.grow(frame, target, growth="best-first", max_splits=N_LEAVES - 1)[0]


def scan_and_sum(files):
    """DuckDB adds up the same columns."""
    import duckdb

    sums = ", ".join(f"sum({name})" for name in [*NAMES, "y"])
    query = f"SELECT {sums} FROM read_parquet($files, can_have_nan=true)"
    began = time.perf_counter(), time.process_time()
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    connection.execute(query, {"files": files}).fetchall()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def count(files, engine):
    """We count, after a first call on one file that loads or compiles the kernels."""
    from secateur import engines

    tree = grown_tree()
    engines.count(tree, files[:1], "y", engine=engine)
    base = memory("VmRSS")
    began = time.perf_counter(), time.process_time()
    found = engines.count(tree, files, "y", engine=engine)
    seconds = time.perf_counter() - began[0], time.process_time() - began[1]
    assert found.has_integer_weights
    return *seconds, int(found.total[0]), base


def memory(field="VmHWM"):
    """Resident memory of this process in MB: now (VmRSS) or at most (VmHWM)."""
    with Path("/proc/self/status").open(encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024


def alone(what, *arguments):
    """Run one measurement in a fresh process; return its answer and its peak memory in MB."""
    code = (
        f"import json, scale\nfound = scale.{what}(*json.loads({json.dumps(json.dumps(arguments))}))\n"
        "print(json.dumps([found, scale.memory()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--rows", type=int, default=100_000_000)
    options.add_argument("--engine", action="append", choices=["duckdb", "polars", "pyarrow"])
    options.add_argument("--repeats", type=int, default=3)
    given = options.parse_args()
    files = [str(Path(file).absolute()) for file in write(given.folder, given.rows)]
    half = files[: max(len(files) // 2, 1)]

    def best(what, *arguments):
        runs = [alone(what, *arguments) for _ in range(given.repeats)]
        return min(runs, key=lambda run: run[0][1])

    (wall, cpu), peak = best("scan_and_sum", files)
    lines = [
        [
            "DuckDB scan and sum",
            f"{given.rows:,}",
            f"{wall:.2f}",
            f"{cpu:.2f}",
            f"{given.rows / wall / 1e6:.1f}",
            "",
            "",
            f"{peak:.0f}",
        ]
    ]
    for engine in given.engine or ["duckdb", "polars", "pyarrow"]:
        for some in (half, files):
            (seconds, busy, n, _), peak = best("count", some, engine)
            compared = [f"{seconds / wall:.2f}", f"{busy / cpu:.2f}"] if some is files else ["", ""]
            speed = f"{n / seconds / 1e6:.1f}"
            lines.append(
                [f"count, {engine}", f"{n:,}", f"{seconds:.2f}", f"{busy:.2f}", speed, *compared, f"{peak:.0f}"]
            )
    table(["what", "rows", "wall s", "CPU s", "Mrows/s", "wall ratio", "CPU ratio", "peak MB"], lines)


if __name__ == "__main__":
    main()
