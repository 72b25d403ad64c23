"""Make the two CSV files of the tutorial: invented loans, with a known rule behind them and some bad luck."""
# ruff: noqa: INP001 (a script, not a package)

import csv
import sys
from pathlib import Path

import numpy as np

HOMES = ("mortgage", "own", "rent")
PURPOSES = ("business", "car", "education", "furniture", "renovation")


def loans(n: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Return `n` loans as dicts, one per row."""
    rows: list[dict[str, object]] = []
    for _ in range(n):
        age = int(rng.integers(19, 75))
        income = round(float(np.exp(rng.normal(10.4, 0.45))), -2)
        amount = round(float(np.exp(rng.normal(9.0, 0.7))), -2)
        home, purpose = HOMES[rng.integers(3)], PURPOSES[rng.integers(5)]
        late = int(min(rng.poisson(0.8), 6))
        years = round(float(min(rng.exponential(6.0), age - 18)), 1)
        share = amount / income
        defaults = (
            late >= 3
            or (share > 0.45 and (home == "rent" or late >= 1))
            or (purpose == "business" and years < 2 and share > 0.2)
            or (age < 30 and share > 0.25 and home != "own")
        )
        if rng.random() < 0.08:
            defaults = not defaults
        rows.append(
            {
                "age": age,
                "income": int(income),
                "amount": int(amount),
                "amount_to_income": round(share, 3),
                "years_employed": years,
                "late_payments": late,
                "home": home,
                "purpose": purpose,
                "outcome": "defaulted" if defaults else "repaid",
            }
        )
    return rows


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    rng = np.random.default_rng(8)
    for name, n in (("loans.csv", 2000), ("fresh.csv", 1000)):
        rows = loans(n, rng)
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
