"""The head of a Slurm batch script."""

from __future__ import annotations

from d9m.render.advice import blocks
from d9m.render.interface import Answer, Rendered


def render(answer: Answer) -> Rendered:
    left = blocks.remaining(answer)
    flags = " ".join(step.text or step.name for step in left.advice.steps if step.kind == "flags")
    lines = [
        "#!/bin/bash",
        "#SBATCH --export=ALL",
        blocks.stamp(answer),
        *blocks.shell(left),
        *blocks.remarks(left),
        *blocks.elsewhere(left, ("install", "python", "config", "code", "avoid")),
        f"srun python train.py {flags}".rstrip(),
    ]
    return Rendered("\n".join(lines) + "\n")
