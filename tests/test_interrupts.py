"""Ctrl-C is a KeyboardInterrupt, soon, whatever runs; `scripts/interrupt.py` sends many more signals."""

import pytest

from interrupts import interrupted


@pytest.mark.large
@pytest.mark.parametrize("verb", ["fit", "grow by engine", "predict"])
def test_ctrl_c_is_a_keyboard_interrupt_and_nothing_else(verb):
    outcomes, delays = interrupted(verb, 6)

    assert set(outcomes) <= {"KeyboardInterrupt", "finished"}
    assert max(delays, default=0) < 3  # a tenth of a second on a quiet machine
