"""The head of a Slurm batch script."""

from __future__ import annotations

from d9m.model.advice import Advice
from d9m.render import words
from d9m.render.advice import blocks


def render(advice: Advice, command: str) -> str:
    flags = " ".join(step.text or step.name for step in advice.steps if step.kind == "flags")
    lines = [
        "#!/bin/bash",
        "#SBATCH --export=ALL",
        f"# {words.stamp(advice, command)}",
        *blocks.shell(advice),
        *blocks.remarks(advice),
        *blocks.elsewhere(advice, ("install", "python", "config", "code", "avoid")),
        f"srun python train.py {flags}".rstrip(),
    ]
    return "\n".join(lines) + "\n"
