"""Ctrl-C is a KeyboardInterrupt, soon, whatever runs; `scripts/interrupt.py` sends many more signals."""

from threading import Event

import numpy as np
import pytest

from interrupts import QUICK, commands, interrupted
from secateur import grow
from secateur._kernels.stop import STOPPED
from secateur._utils.threads import StoppableThreadPool
from secateur.certifiers import binomial_upper
from secateur.cli import COMMANDS
from secateur.pruners import cost_complexity

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60_000, 8)), RNG.integers(0, 2, 60_000)
TREE, GROWN = grow(np.arange(200.0)[:, None], np.arange(200) % 3)


@pytest.mark.large
@pytest.mark.parametrize("verbs", ["fit,grow by engine,predict", "secateur compare,secateur evaluate"])
def test_ctrl_c_is_a_keyboard_interrupt_and_nothing_else(verbs):
    outcomes, delays = interrupted(verbs, 6)

    assert set(outcomes) <= {"KeyboardInterrupt", "finished"}
    assert max(delays, default=0) < 3  # a tenth of a second on a quiet machine


def test_every_command_with_long_work_is_interrupted_by_the_script(tmp_path):
    assert {*commands(tmp_path), *QUICK} == set(COMMANDS)


@pytest.mark.parametrize(
    "verb",
    [
        lambda: grow(*ROWS),
        lambda: [cost_complexity(TREE, GROWN) for _ in range(10**6)],
        lambda: [binomial_upper(3, 10, -5.0) for _ in range(10**6)],
    ],
    ids=["grow", "prune", "certify"],
)
def test_ctrl_c_stops_the_threads_of_a_pool(verb):
    """Ctrl-C reaches only the main thread; other threads would otherwise finish their work."""
    has_begun = Event()

    def work():
        has_begun.set()
        return verb()

    def wait():
        with StoppableThreadPool(1) as pool:
            futures.append(pool.submit(work))
            has_begun.wait()
            raise KeyboardInterrupt

    futures = []
    with pytest.raises(KeyboardInterrupt):
        wait()

    assert isinstance(futures[0].exception(), KeyboardInterrupt)
    assert not STOPPED
