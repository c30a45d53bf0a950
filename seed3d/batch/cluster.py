"""Workers on a Ray cluster: each Ray worker holds one of our worker processes, with its limits.

So an item is done by the same code as on one machine; Ray adds the other machines, and does the
items of a node that dies again on another one.
"""

from __future__ import annotations

import atexit
import dataclasses
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from seed3d.batch.local import Done
from seed3d.batch.make import give_up
from seed3d.batch.supervise import Job, Limits, Worker
from seed3d.errors import ConfigError, MissingDependencyError

NODE_RETRIES = 4
"""How often an item is done again after its node or Ray worker died."""
_AHEAD = 4
"""Items handed to Ray at once, per core of the cluster."""

_worker: Worker | None = None


def run_on_ray(
    jobs: Sequence[Job], address: str, workers: int | None, limits: Limits
) -> Iterator[Done]:
    """Do all items on a Ray cluster; yields them as they end.

    Args:
        jobs: The items. Their places must be reachable from every node.
        address: "local" starts a cluster on this machine for this batch, "auto" joins the one
            that this machine belongs to, else the address of one.
        workers: Most items at the same time; the cluster's cores over threads where None.
        limits: Per item.

    Raises:
        MissingDependencyError: Ray isn't installed.
        ConfigError: No cluster at the address.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a batch sends nothing to anybody
    ray = _import_ray()
    with _connected(ray, address, workers, limits.threads):
        task = ray.remote(num_cpus=limits.threads, max_retries=NODE_RETRIES)(_on_node)
        waiting, running = list(reversed(jobs)), {}
        while waiting or running:
            most = workers or max(1, int(ray.cluster_resources().get("CPU", 1))) * _AHEAD
            while waiting and len(running) < most:
                job = waiting.pop()
                gpus = 1 if job.item.config.device == "cuda" else 0
                running[task.options(num_gpus=gpus).remote(job, limits)] = job
            for reference in ray.wait(list(running), timeout=1.0)[0]:
                job = running.pop(reference)
                outcome = _outcome(ray, reference, job)
                if outcome is None:
                    waiting.insert(0, dataclasses.replace(job, attempt=job.attempt + 1))
                else:
                    yield job, outcome


def _outcome(ray: Any, reference: Any, job: Job) -> dict[str, Any] | None:
    died = (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError,
            ray.exceptions.LocalRayletDiedError, ray.exceptions.OutOfMemoryError)  # fmt: skip
    try:
        return ray.get(reference)
    except died as error:
        cause = f"its cluster node died in each of {NODE_RETRIES + 1} tries"
        outcome = give_up(job.item, job.out, "crash", cause)
        return {**outcome, "attempt": job.attempt, "peak_bytes": 0, "note": str(error)}


def _on_node(job: Job, limits: Limits) -> dict[str, Any] | None:
    """In a Ray worker: its own worker process does the item and stays for the next one."""
    global _worker
    if _worker is None or _worker.limits != limits:
        if _worker is not None:
            _worker.kill()
        _worker = Worker(limits)
        atexit.register(_worker.kill)
    outcome = _worker.run(job)
    if outcome is not None:
        outcome["node"] = _import_ray().get_runtime_context().get_node_id()
    return outcome


def _import_ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingDependencyError(
            "--ray needs Ray; install it with `pip install 'seed3d[cluster]'`"
        ) from error
    return ray


@contextmanager
def _connected(ray: Any, address: str, workers: int | None, threads: int) -> Iterator[None]:
    """Join or start a cluster; one that was there before stays."""
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error",
                               "runtime_env": {"env_vars": _paths()}}  # fmt: skip
    if address == "local":
        options |= {"include_dashboard": False, "address": "local"}
        if workers:
            options["num_cpus"] = workers * threads
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, ValueError) as error:
        raise ConfigError(
            f"--ray {address}: no cluster there ({error}). Start one with `ray start --head`, "
            "or use --ray local"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _paths() -> dict[str, str]:
    """So that a checkout that isn't installed is found by Ray's workers on this machine."""
    from pathlib import Path

    import seed3d

    package = str(Path(seed3d.__file__).resolve().parent.parent)
    given = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([package, *filter(None, [given])])}
