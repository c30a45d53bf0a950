"""Files to verdict: reopen every export, compare, put it to the test in PyBullet and MuJoCo."""

from seed3d.verify.run import Report, verify_folder, verify_target
from seed3d.verify.target import Target, find_targets
from seed3d.verify.text import summary, to_json

__all__ = [
    "Report",
    "Target",
    "find_targets",
    "summary",
    "to_json",
    "verify_folder",
    "verify_target",
]
