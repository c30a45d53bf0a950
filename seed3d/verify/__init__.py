"""Files to verdict: reopen every export, compare, drop it in PyBullet and MuJoCo."""

from seed3d.verify.run import verify_folder
from seed3d.verify.text import summary, to_json

__all__ = ["summary", "to_json", "verify_folder"]
