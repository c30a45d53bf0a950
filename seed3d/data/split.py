"""A fixed train/val/test split by hash, so that it never depends on order or count."""

from __future__ import annotations

import hashlib
from typing import Literal

Split = Literal["train", "val", "test"]

TEST_PERCENT = 16
VAL_PERCENT = 4


def split_of(group: str) -> Split:
    """Return the split of a group of related models (same creator and name family)."""
    bucket = int.from_bytes(hashlib.sha256(group.encode()).digest()[:4], "big") % 100
    if bucket < TEST_PERCENT:
        return "test"
    return "val" if bucket < TEST_PERCENT + VAL_PERCENT else "train"
