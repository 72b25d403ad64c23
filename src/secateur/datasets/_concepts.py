"""Data sets with every combination of a few attributes, whose class follows from a rule or is drawn at random."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..data.table import Table
from ..errors import ParameterError, show
from .tables import all_combinations, make_table, numbered_attributes


def balance_scale() -> Table:
    """Return all 625 settings of a balance. The class is the side that goes down, L or R, or B if it is balanced.

    Returns
    -------
    Table
        Four numeric columns with the values 1 to 5: the weight and the distance on each side.

    Examples
    --------
    >>> import numpy as np
    >>> table = balance_scale()
    >>> table, np.bincount(table.target).tolist()
    (Table(625 rows, 0 nominal and 4 numeric columns, 3 classes), [49, 288, 288])
    """
    rows = all_combinations(5, 5, 5, 5) + 1
    left, right = rows[:, 0] * rows[:, 1], rows[:, 2] * rows[:, 3]
    names = ("left_weight", "left_distance", "right_weight", "right_distance")
    return make_table(dict.fromkeys(names), rows.T, np.sign(left - right) % 3, ("B", "L", "R"))


def monks(problem: Literal[1, 2, 3]) -> Table:
    """Return all 432 robots of the MONK's problems with their true class, 1 or 0.

    Parameters
    ----------
    problem : 1, 2 or 3
        1: a1 = a2 or a5 = 1. 2: exactly two attributes have their first value.
        3: (a5 = 3 and a4 = 1) or (a5 is not 4 and a2 is not 3).

    Returns
    -------
    Table
        Six nominal columns, a1 to a6, with 3, 3, 2, 3, 4 and 2 values counted from 1.

    Examples
    --------
    >>> [int(monks(problem).target.sum()) for problem in (1, 2, 3)]
    [216, 142, 228]
    """
    sizes = (3, 3, 2, 3, 4, 2)
    rows = all_combinations(*sizes) + 1
    a1, a2, _, a4, a5, _ = rows.T
    concepts = {
        1: (a1 == a2) | (a5 == 1),
        2: (rows == 1).sum(axis=1) == 2,
        3: ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)),
    }
    if problem not in concepts:
        raise ParameterError(f"problem={show(problem)}; one of 1, 2, 3 is needed")
    return make_table(numbered_attributes(sizes), (rows - 1).T, concepts[problem], (0, 1))


# The tables of the decision model of `car`. The comment of a table names its axes. The codes along each axis and the
# ranks in the table begin with the worst.
_PRICE = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 2, 3], [1, 2, 3, 3]])  # buying, maint
# persons, doors, lug_boot
_COMFORT = np.array([[[0, 0, 0]] * 4, [[1, 1, 2]] * 2 + [[1, 2, 2]] * 2, [[0, 1, 2]] + [[1, 2, 2]] * 3])
_TECH = np.array([[0, 0, 0], [0, 1, 2], [0, 2, 3]])  # comfort, safety
_CAR = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 3], [0, 1, 2, 3]])  # price, tech


def car() -> Table:
    """Return all 1,728 cars of a hierarchical decision model: unacc, acc, good or vgood.

    Returns
    -------
    Table
        Six nominal columns: buying, maint, doors, persons, lug_boot and safety.

    Notes
    -----
    The class follows from the price (buying, maint) and the technical quality, which follows
    from safety and comfort (doors, persons, lug_boot). Bohanec and Rajkovic (1990).

    Examples
    --------
    >>> import numpy as np
    >>> table = car()
    >>> dict(zip(table.schema.classes.tolist(), np.bincount(table.target).tolist()))
    {'unacc': 1210, 'acc': 384, 'good': 69, 'vgood': 65}
    """
    cost = ("vhigh", "high", "med", "low")
    values = {
        "buying": cost,
        "maint": cost,
        "doors": ("2", "3", "4", "5more"),
        "persons": ("2", "4", "more"),
        "lug_boot": ("small", "med", "big"),
        "safety": ("low", "med", "high"),
    }
    rows = all_combinations(*map(len, values.values()))
    buying, maint, doors, persons, lug_boot, safety = rows.T
    quality = _TECH[_COMFORT[persons, doors, lug_boot], safety]
    return make_table(values, rows.T, _CAR[_PRICE[buying, maint], quality], ("unacc", "acc", "good", "vgood"))


# The tables of the decision model of `nursery`. The comment of a table names its axes. The codes along each axis and
# the ranks in the table begin with the best.
_EMPLOY = np.array([[0, 1, 1, 2, 3], [1, 1, 2, 3, 3], [2, 2, 3, 3, 3]])  # parents, has_nurs
_STRUCTURE = np.array([[0, 1, 2, 2], [1, 1, 2, 2], [1, 2, 2, 2], [2, 2, 2, 2]])  # form, children
_PLACE = np.array([[0, 1], [1, 1], [2, 2]])  # housing, finance
_FAMILY = np.array([[0, 1, 1], [1, 1, 2], [1, 2, 2]])  # structure, place
_SOCIAL = np.array([[0, 1, 2], [0, 1, 2], [1, 1, 2]])  # social, health
_NURSERY = np.array(  # employ, family, social
    [
        [[0, 2, 4], [1, 2, 4], [2, 2, 4]],
        [[1, 2, 4], [1, 2, 4], [2, 2, 4]],
        [[2, 2, 4], [2, 2, 4], [2, 3, 4]],
        [[2, 2, 4], [2, 3, 4], [3, 3, 4]],
    ]
)


def nursery() -> Table:
    """Return all 12,960 applications to nursery schools of a hierarchical decision model.

    Returns
    -------
    Table
        Eight nominal columns; the classes are recommend, very_recom, priority, spec_prior and not_recom.

    Notes
    -----
    The rank follows from employment (parents, has_nurs), family and finance (form, children, housing,
    finance), and social and health picture. Olave, Rajkovic and Bohanec (1989).

    Examples
    --------
    >>> import numpy as np
    >>> table = nursery()
    >>> dict(zip(table.schema.classes.tolist(), np.bincount(table.target).tolist()))
    {'recommend': 2, 'very_recom': 328, 'priority': 4266, 'spec_prior': 4044, 'not_recom': 4320}
    """
    values = {
        "parents": ("usual", "pretentious", "great_pret"),
        "has_nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
        "form": ("complete", "completed", "incomplete", "foster"),
        "children": ("1", "2", "3", "more"),
        "housing": ("convenient", "less_conv", "critical"),
        "finance": ("convenient", "inconv"),
        "social": ("nonprob", "slightly_prob", "problematic"),
        "health": ("recommended", "priority", "not_recom"),
    }
    rows = all_combinations(*map(len, values.values()))
    parents, has_nurs, form, children, housing, finance, social, health = rows.T
    family = _FAMILY[_STRUCTURE[form, children], _PLACE[housing, finance]]
    target = _NURSERY[_EMPLOY[parents, has_nurs], family, _SOCIAL[social, health]]
    return make_table(values, rows.T, target, ("recommend", "very_recom", "priority", "spec_prior", "not_recom"))


MAX_DOMAIN_ROWS = 10**8  # largest number of rows that `random_domain` returns


def random_domain(values: Sequence[int], n_classes: int, seed: int = 0) -> Table:
    """Return every combination of nominal attributes once, each with a class drawn uniformly.

    Parameters
    ----------
    values : sequence of int
        The number of values of each attribute.
    n_classes : int
        Classes 0 to `n_classes` - 1.
    seed : int

    Returns
    -------
    Table
        No two rows are equal in all attributes.

    Examples
    --------
    >>> random_domain([3, 3, 3], 4)
    Table(27 rows, 3 nominal and 0 numeric columns, 4 classes)
    """
    sizes = tuple(int(size) for size in values)
    if not sizes or min(sizes) < 1 or math.prod(sizes) > MAX_DOMAIN_ROWS:
        raise ParameterError(
            f"values={list(values)}; numbers of 1 or more with a product of at most {MAX_DOMAIN_ROWS:,} needed"
        )
    if n_classes < 1:
        raise ParameterError(f"n_classes={n_classes}; at least 1 is needed")
    rows = all_combinations(*sizes)
    target = np.random.default_rng(seed).integers(n_classes, size=len(rows))
    return make_table(numbered_attributes(sizes), rows.T, target, range(n_classes))
