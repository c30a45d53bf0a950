"""The training loop: resume by the same command, EMA, spike guard, evaluation, atomic checkpoints."""

from __future__ import annotations

import json
import math
import time
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median_high
from typing import Any, Protocol

import torch

from seed3d.errors import CheckpointError


@dataclass(frozen=True)
class TrainConfig:
    """Options of a run; the model's own are in its task."""

    steps: int = 20_000
    """Length of the run; the learning rate falls to 0 over the last `cooldown` of it."""
    batch: int = 16
    learning_rate: float = 4e-4
    warmup: int = 200
    """Steps of linear warm-up."""
    cooldown: float = 0.25
    """Share of the run over which the learning rate falls linearly to 0."""
    weight_decay: float = 0.02
    clip: float = 1.0
    """Largest gradient norm."""
    ema: float = 0.9995
    """Decay of the averaged weights; warmed up, so that short runs don't keep the first ones."""
    seed: int = 0
    evaluate_every: int = 2_000
    checkpoint_seconds: float = 180.0
    minutes: float = 0.0
    """Ends the run, learning rate at 0, after this long even before `steps`; 0 has no limit."""
    device: str = "cpu"


class Task(Protocol):
    """What the loop trains."""

    model: torch.nn.Module

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """Loss of a fresh random batch, and numbers to log."""
        ...

    def evaluate(self, model: torch.nn.Module) -> dict[str, float]:
        """Held-out measures of the averaged model."""
        ...


def learning_rate(config: TrainConfig, step: int, spent: float = 0.0) -> float:
    """Warm-up, constant, then linear cool-down to 0 over the rest of the steps, or of the time.

    `spent` is the share of config.minutes that has passed.
    """
    left = (1.0 - max(step / config.steps, spent)) / max(config.cooldown, 1e-9)
    return config.learning_rate * min(1.0, (step + 1) / config.warmup, max(left, 0.0))


def train(
    task: Task, config: TrainConfig, folder: Path, extra: dict | None = None
) -> torch.nn.Module:
    """Train until config.steps and return the averaged model; goes on where `folder` left off.

    Writes ``state.safetensors`` (model, average, optimiser), ``log.jsonl`` and ``config.json``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**asdict(config), **(extra or {})}, indent=1))
    model = task.model.to(config.device)
    ema = {name: p.detach().clone() for name, p in model.named_parameters()}
    decay, plain = [], []
    for p in model.parameters():
        (decay if p.ndim >= 2 else plain).append(p)
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": config.weight_decay},
         {"params": plain, "weight_decay": 0.0}],
        lr=config.learning_rate, betas=(0.9, 0.98),
    )  # fmt: skip

    # Resume.
    state_file = folder / "state.safetensors"
    step = load_state(state_file, model, ema, optimizer) if state_file.exists() else 0
    saved = reported = time.monotonic()
    norms: deque[float] = deque(maxlen=200)
    bad = 0
    logs: dict[str, float] = {}
    since = step

    begun = time.monotonic()
    while step < config.steps:
        spent = (time.monotonic() - begun) / (60 * config.minutes) if config.minutes else 0.0
        done = step + 1 == config.steps or spent >= 1.0
        # One optimiser step on a batch that depends on the seed and the step alone.
        generator = torch.Generator().manual_seed(config.seed * 1_000_003 + step)
        torch.manual_seed(config.seed * 1_000_003 + step)
        rate = learning_rate(config, step, spent)
        for group in optimizer.param_groups:
            group["lr"] = rate
        model.train()
        loss, parts = task.loss(config.batch, generator)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip))
        step += 1

        # Skip a broken batch; after ten in a row go back to the last good state.
        # What the clip lets pass is no spike: where a loss nears 0, norms are rounding noise.
        usual = median_high(norms) if len(norms) >= 50 else math.inf
        spike = norm > max(20 * usual, config.clip)
        if not math.isfinite(norm) or not math.isfinite(loss.item()) or spike:
            bad += 1
            _log(folder, {"step": step, "skipped": True, "norm": norm, "loss": loss.item()})
            if bad >= 10:
                if not state_file.exists():
                    raise CheckpointError(
                        f"{folder}: the loss broke down before the first checkpoint"
                    )
                load_state(state_file, model, ema, optimizer)  # weights go back, batches go on
                bad = 0
            continue
        bad = 0
        norms.append(norm)
        optimizer.step()
        weight = min(config.ema, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, p in model.named_parameters():
                ema[name].lerp_(p, 1 - weight)

        # Report.
        for name, value in {**parts, "loss": loss.item(), "norm": norm}.items():
            logs[name] = logs.get(name, float(value)) * 0.98 + float(value) * 0.02
        if step % 100 == 0 or done:
            now = time.monotonic()
            speed = (step - since) * config.batch / (now - reported)
            reported, since = now, step
            row = {k: round(v, 5) for k, v in logs.items()}
            _log(folder, {"step": step, "lr": round(rate, 7), "per_s": round(speed, 2), **row})

        # Evaluate the averaged weights.
        if step % config.evaluate_every == 0 or done:
            with averaged(model, ema), torch.no_grad():
                model.eval()
                _log(folder, {"step": step, "eval": task.evaluate(model)})

        # Checkpoint.
        if time.monotonic() - saved > config.checkpoint_seconds or done:
            save_state(state_file, model, ema, optimizer, step)
            saved = time.monotonic()
        if done:
            break

    model.load_state_dict(ema, strict=False)
    return model.eval()


class averaged:
    """Within the block the model has the averaged weights."""

    def __init__(self, model: torch.nn.Module, ema: dict[str, torch.Tensor]) -> None:
        self.model, self.ema = model, ema

    def __enter__(self) -> None:
        """Swap the averages in."""
        self.kept = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        self.model.load_state_dict(self.ema, strict=False)

    def __exit__(self, *_: object) -> None:
        """Swap the trained weights back."""
        self.model.load_state_dict(self.kept, strict=False)


def _log(folder: Path, row: dict) -> None:
    with (folder / "log.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")


def save_state(
    path: Path,
    model: torch.nn.Module,
    ema: dict[str, torch.Tensor],
    optimizer: torch.optim.Optimizer,
    step: int,
) -> None:
    """Write everything a resume needs, atomically, as safetensors."""
    from safetensors.torch import save_file

    tensors = {f"model.{n}": p.detach().contiguous() for n, p in model.named_parameters()}
    tensors |= {f"ema.{n}": p.contiguous() for n, p in ema.items()}
    names: dict[Any, str] = {p: n for n, p in model.named_parameters()}
    for p, state in optimizer.state.items():
        for kind in ("exp_avg", "exp_avg_sq", "step"):
            tensors[f"{kind}.{names[p]}"] = state[kind].contiguous().clone()
    part = path.with_suffix(".part")
    save_file(tensors, part, {"step": str(step)})
    part.replace(path)


def load_state(
    path: Path,
    model: torch.nn.Module,
    ema: dict[str, torch.Tensor],
    optimizer: torch.optim.Optimizer,
) -> int:
    """Restore what save_state wrote; returns the step.

    Raises:
        CheckpointError: The file is of a model with other parameters.
    """
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        tensors = {k: file.get_tensor(k) for k in file.keys()}  # noqa: SIM118 - not a dict
        step = int((file.metadata() or {})["step"])
    wanted = {f"model.{n}" for n, _ in model.named_parameters()}
    got = {k for k in tensors if k.startswith("model.")}
    if wanted != got:
        raise CheckpointError(
            f"{path}: parameters differ from the model's, e.g. {sorted(wanted ^ got)[:3]}; "
            "name another run folder for another model"
        )
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(tensors[f"model.{name}"])
            ema[name].copy_(tensors[f"ema.{name}"])
            if f"exp_avg.{name}" in tensors:
                optimizer.state[p] = {
                    "step": tensors[f"step.{name}"],
                    "exp_avg": tensors[f"exp_avg.{name}"].to(p.device),
                    "exp_avg_sq": tensors[f"exp_avg_sq.{name}"].to(p.device),
                }
    return step
