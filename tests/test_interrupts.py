"""Ctrl-C is a KeyboardInterrupt, soon, whatever runs; `scripts/interrupt.py` sends many more signals."""

from threading import Event

import numpy as np
import pytest

from interrupts import QUICK, commands, interrupted
from secateur import grow
from secateur._kernels.stop import STOPPED
from secateur.cli import COMMANDS
from secateur.data.threads import Threads


@pytest.mark.large
@pytest.mark.parametrize("verb", ["fit", "grow by engine", "predict", "secateur compare", "secateur evaluate"])
def test_ctrl_c_is_a_keyboard_interrupt_and_nothing_else(verb):
    outcomes, delays = interrupted(verb, 6)

    assert set(outcomes) <= {"KeyboardInterrupt", "finished"}
    assert max(delays, default=0) < 3  # a tenth of a second on a quiet machine


def test_every_command_with_long_work_is_interrupted_by_the_script(tmp_path):
    assert {*commands(tmp_path), *QUICK} == set(COMMANDS)


def test_a_pool_that_is_left_by_ctrl_c_stops_the_trees_that_grow_in_it():
    """Ctrl-C reaches the main thread only; the others would go on to the end of their trees."""
    rng = np.random.default_rng(0)
    X, y, has_begun = rng.normal(size=(60_000, 8)), rng.integers(0, 2, 60_000), Event()

    def work():
        has_begun.set()
        return grow(X, y)

    def wait():
        with Threads(1) as pool:
            futures.append(pool.submit(work))
            has_begun.wait()
            raise KeyboardInterrupt

    futures = []
    with pytest.raises(KeyboardInterrupt):
        wait()

    assert isinstance(futures[0].exception(), KeyboardInterrupt)
    assert not STOPPED
