"""CPU time of calls, best of several, the first one (which may compile) apart."""

import subprocess
import sys
import time


def cpu(call, repeats=3):
    """(least CPU seconds, result) of `repeats` calls after a warm-up."""
    best, result = float("inf"), None
    for _ in range(repeats):
        began = time.process_time()
        result = call()
        best = min(best, time.process_time() - began)
    return best, result


def wall(call, repeats=3):
    """Least wall seconds of `repeats` calls."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def peak_memory(before, code):
    """Peak resident memory in MB of `code` above what a fresh Python process holds after `before`."""
    # VmHWM starts anew with the program; ru_maxrss would begin with what this process holds.
    has = "\nhas = lambda name: [int(x.split()[1]) for x in open('/proc/self/status') if x.startswith(name)][0]"
    whole = f"{before}{has}\nheld = has('VmRSS')\n{code}\nprint(has('VmHWM') - held)"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) / 1024


def table(header, rows):
    """Print rows in columns."""
    lines = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
