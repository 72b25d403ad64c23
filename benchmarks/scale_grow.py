"""Growing on a Parquet folder larger than memory, on one machine and on Dask, beside LightGBM.

python benchmarks/scale_grow.py FOLDER [--rows 20000000] [--depth 10] [--only local|dask|lightgbm]

Writes the rows to FOLDER in pieces (once), then grows a tree on half of them and on all, each
in a fresh process: seconds per million rows must not grow. CPU seconds are printed beside
wall seconds: on a busy machine only they compare. Peak memory is that of the process; of
Dask, of the driver. LightGBM grows one tree of the same depth and bins, all rows in memory.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from _timing import table
from scale import NAMES, memory, write

LEAST = 20  # rows in a leaf


def clock():
    """Wall and CPU seconds so far, of this process and of those that have ended."""
    used = os.times()
    return time.perf_counter(), used.user + used.system + used.children_user + used.children_system


def since(began):
    return [now - then for now, then in zip(clock(), began, strict=True)]


def local(files, depth, engine, quantiles):
    """One machine, after a first call on one file that loads or compiles the kernels."""
    from secateur import engines

    rules = {"engine": engine, "quantiles": quantiles, "max_depth": depth, "min_samples_leaf": LEAST}
    engines.grow(files[:1], "y", finish_rows=50_000, **rules)
    began = clock()
    tree, _ = engines.grow(files, "y", **rules)
    return *since(began), tree.n_leaves


def dask(files, depth, n_workers):
    """A local cluster of one-thread workers; the first call loads or compiles the kernels on each."""
    import distributed

    from secateur import engines

    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    rules = {"engine": "dask", "max_depth": depth, "min_samples_leaf": LEAST}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        engines.grow(files[:n_workers], "y", client=client, finish_rows=50_000, **rules)
        began = clock()
        tree, _ = engines.grow(files, "y", client=client, **rules)
        seconds = since(began)
    return *seconds, tree.n_leaves


def lightgbm(files, depth):
    """One tree of the same depth and bins by LightGBM, from a matrix in memory; reading is timed too."""
    import lightgbm as lgb
    from pyarrow import parquet

    began = clock()
    read = parquet.read_table(files)
    matrix = read.select(NAMES).to_pandas().to_numpy()
    data = lgb.Dataset(matrix, read["y"].to_numpy(), params={"max_bin": 255, "verbose": -1})
    rules = {"objective": "binary", "max_depth": depth, "num_leaves": 2**depth, "min_data_in_leaf": LEAST}
    more = {"max_bin": 255, "num_threads": 2, "verbose": -1, "min_sum_hessian_in_leaf": 0.0}
    model = lgb.train({**rules, **more}, data, num_boost_round=1)
    return *since(began), model.dump_model()["tree_info"][0]["num_leaves"]


def measured(what, arguments):
    """Run one measurement; return its answer and the peak memory in MB."""
    return globals()[what](*arguments), memory()


def alone(what, *arguments):
    """Run one measurement in a fresh process; return its answer and its peak memory in MB."""
    code = (
        "import json, scale_grow\nif __name__ == '__main__':\n"
        f"    print(json.dumps(scale_grow.measured({what!r}, json.loads({json.dumps(json.dumps(arguments))}))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--rows", type=int, default=20_000_000)
    options.add_argument("--depth", type=int, default=10)
    options.add_argument("--only", choices=["local", "dask", "lightgbm"])
    given = options.parse_args()
    files = [str(Path(file).absolute()) for file in write(given.folder, given.rows)]
    half = files[: max(len(files) // 2, 1)]
    runs = []
    if given.only in (None, "local"):
        runs += [(f"{engine}, {how}", some, "local", engine, how)
                 for engine, how in (("duckdb", "exact"), ("duckdb", "sketch"), ("polars", "exact"))
                 for some in (half, files)]  # fmt: skip
    if given.only in (None, "dask"):
        runs += [(f"dask, {n} workers", files, "dask", n) for n in (1, 2)]
    if given.only in (None, "lightgbm"):
        runs += [("LightGBM, in memory", files, "lightgbm")]
    lines = []
    for name, some, what, *more in runs:
        (wall, cpu, n_leaves), peak = alone(what, some, given.depth, *more)
        millions = given.rows / 1e6 * len(some) / len(files)
        lines.append([name, f"{millions:g}", f"{wall:.1f}", f"{cpu:.1f}", f"{wall / millions:.2f}",
                      f"{cpu / millions:.2f}", n_leaves, f"{peak:.0f}"])  # fmt: skip
        print(*lines[-1], file=sys.stderr)
    table(["what", "Mrows", "wall s", "CPU s", "wall s/M", "CPU s/M", "leaves", "peak MB"], lines)


if __name__ == "__main__":
    main()
