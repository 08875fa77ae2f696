"""What `d9m run`, `d9m.enable()` and `import d9m` cost, measured in one run.

    python tests/benchmarks/run_overhead.py

CPU times of alternating processes: medians, and for a step, which takes a few milliseconds, the
fastest tenth of the best process, since a busy machine only slows steps down. The step is one of a
real PyTorch, where build/frameworks/ has it.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "resolver"), str(ROOT / "tests" / "emitted")]

from environments import TORCH  # noqa: E402  its folder has to be on the path

from d9m.environment.environment import Setup  # noqa: E402
from d9m.environment.interpreter import survey_text  # noqa: E402
from d9m.kb import compiled, locate  # noqa: E402
from d9m.run.plan import VARIABLE, RunOptions, for_hook, plan  # noqa: E402
from d9m.run.start import HOOK  # noqa: E402

PAIRS = 15

STEPS = """
import time, torch
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
model = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8)))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
times = []
for step in range(300):
    began = time.process_time()
    optimizer.zero_grad()
    model(torch.randn(64, 256)).sum().backward()
    optimizer.step()
    times.append(time.process_time() - began)
print(sorted(times)[len(times) // 10])
"""


def cpu(command: Sequence[str], env: dict[str, str]) -> float:
    """CPU milliseconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def medians(*cases: tuple[Sequence[str], dict[str, str]]) -> list[float]:
    """The median of each, in turn with the others."""
    rows = [[cpu(*case) for case in cases] for _ in range(PAIRS)]
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name))


def measure(folder: Path) -> None:
    kb = locate.from_yaml(ROOT / "kb")
    compiled.write(kb, folder / "kb.d9m")
    made = plan(kb, Setup((("torch", "2.13.0"),), device="cpu"), RunOptions(), {})
    (folder / "plan.json").write_text(json.dumps(for_hook(made, {"PYTHONHASHSEED": "0"})))
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    plain |= {"PYTHONPATH": "", "PYTHONHASHSEED": "0", "D9M_KB": str(folder / "kb.d9m")}
    hooked = plain | {"PYTHONPATH": str(HOOK), VARIABLE: str(folder)}
    ours = plain | {"PYTHONPATH": str(ROOT / "resolver"), "PYTHONPYCACHEPREFIX": str(folder)}
    python = sys.executable
    start = [python, "-c", "pass"]
    bare, with_hook = medians((start, plain), (start, hooked))
    print(f"run adds to a Python start         {with_hook - bare:7.1f} ms  <= 60 ms")
    print(f"  of a bare start                  {with_hook / bare:7.2f} x")
    nothing, imported = medians((start, ours), ([python, "-c", "import d9m"], ours))
    print(f"import d9m adds                    {imported - nothing:7.1f} ms  <= 20 ms")
    if not TORCH.stands:
        return
    torch = str(TORCH.interpreter)
    d9m = [python, "-m", "d9m"]
    question = [*d9m, "advise", "--torch", "2.13.0", "--device", "cpu", "--format", "json"]
    explain = [*d9m, "run", "--explain-only", "--", torch, "train.py"]
    survey = json.dumps({"distributions": ["torch"], "variables": [], "drivers": []})
    asked = [torch, "-c", survey_text(), survey]
    advise, look, explained = medians((question, ours), (asked, plain), (explain, ours))
    print(f"--explain-only over advise + start {explained / (advise + look):7.2f} x   <= 1 x")
    program = folder / "steps.py"
    program.write_text(STEPS)
    rows = [
        [float(subprocess.check_output([torch, program], env=env)) for env in (plain, hooked)]
        for _ in range(PAIRS // 2)
    ]
    without, under = (min(column) for column in zip(*rows, strict=True))
    print(f"run adds to a training step        {100 * (under / without - 1):7.1f} %   <= 1 %")


if __name__ == "__main__":
    main()
