"""Many photos and meshes to assets: one machine or a cluster, killed and resumed at will.

`run_batch` is the whole thing; `seed3d batch` is thin over it. The output folder holds one
asset folder per item, `results.jsonl`, `summary.csv`, `index.html`, and `.batch/`:

    .batch/records/NAME.json   what became of an item and of which input and options
    .batch/runtime/            times, log and locks of the runs

Everything but `.batch/runtime/` is the same, byte for byte, for any number of workers, for Ray
and after any number of kills. An asset's `timings.json` differs between runs by its nature, so a
batch doesn't write it: the seconds per stage stand in `.batch/runtime/log.jsonl`.
"""

from seed3d.batch.plan import Item, plan_items
from seed3d.batch.run import BatchResult, Limits, run_batch

__all__ = ["BatchResult", "Item", "Limits", "plan_items", "run_batch"]
