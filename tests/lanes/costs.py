"""Measure what every verb costs on the worst files of a size: tests/lanes/costs.py [bytes] [files].

Prints the verbs that take more than a tenth of a second, in seconds of processor time, at a quarter of the size and at the size.
"""

import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from heavy_models import FILES, file_of_size
from secateur.errors import SecateurError
from secateur.modelfile import loads_model
from tiny_models import calls_on


def main(n_bytes: int, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in names:
        took: list[dict[str, float]] = []
        sizes = []
        for size in (n_bytes // 4, n_bytes):
            data = file_of_size(FILES[name], size)
            sizes.append(len(data))
            took.append({})
            before = time.process_time()
            model = loads_model(data)
            took[-1]["load"] = time.process_time() - before
            records = dict(model.tree.evaluation_log.records)
            for verb, call in calls_on(model).items():
                model.tree.evaluation_log.records.clear()
                model.tree.evaluation_log.records.update(records)
                before = time.process_time()
                try:
                    call()
                except SecateurError as error:
                    if "-v" in sys.argv:
                        print(name, verb, "refused:", str(error)[:100])
                except Exception as error:  # noqa: BLE001 any other is a fault
                    print(name, verb, "FAULT", type(error).__name__, str(error)[:200])
                took[-1][verb] = time.process_time() - before
        print(f"{name}: {sizes[0]:,} and {sizes[1]:,} bytes, {model.tree.n_nodes:,} nodes", flush=True)
        for verb, seconds in took[1].items():
            if seconds > 0.1:
                print(f"    {verb:24s} {took[0].get(verb, 0):8.2f} {seconds:8.2f}", flush=True)


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if one != "-v"]
    main(int(given[0]) if given else 1_000_000, given[1:] or list(FILES))
