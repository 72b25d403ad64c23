"""Write CSV files of patients with missing values, a town named NA, and a semicolon in a name."""

import csv

import numpy as np

HEADER = ["age", "town", "blood pressure", "outcome"]


def patients(n, seed):
    """Yield the rows of `n` random patients."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        age, town = int(rng.integers(18, 90)), str(rng.choice(["Oulu", "Turku", "NA", "Va;asa"]))
        pressure = round(float(rng.normal(120, 15)), 1)
        outcome = "ill" if (age > 60 and pressure > 118) or town == "NA" else "well"
        if rng.random() < 0.1:
            outcome = str(rng.choice(["ill", "well"]))
        yield [age, town, pressure if rng.random() > 0.05 else "", outcome]


def write(path, rows, *, header=HEADER, delimiter=",", encoding="utf-8"):
    """Write rows to a file, and return its path as a string."""
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter)
        if header:
            writer.writerow(header)
        writer.writerows(rows)
    return str(path)
