"""Monitoring of a deployed tree: does its certificate still hold on the rows that arrive?

    _plan         which limits are tested, and how alpha is divided among the tests
    _monitor      Monitor: count batches, and test after each of them
    _seen         recognise rows that are handed in twice
    _state_file   the state of a monitor as a file

The mathematics is in `statistics/anytime.py`, and the status that is returned in `statistics/monitor_status.py`.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ..statistics.monitor_status import LeafStatus as LeafStatus
    from ..statistics.monitor_status import MonitorStatus as MonitorStatus
    from ..statistics.row_shares import RowShares as RowShares
    from ._monitor import Monitor as Monitor

__all__ = ["LeafStatus", "Monitor", "MonitorStatus", "RowShares"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "LeafStatus": "..statistics.monitor_status",
        "Monitor": "._monitor",
        "MonitorStatus": "..statistics.monitor_status",
        "RowShares": "..statistics.row_shares",
    },
)
