"""Commands that start a Python program, directly or through a launcher."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from d9m.scan.facts import Launch
from d9m.scan.finding import Spot

_PYTHON = re.compile(r"(?:.*/)?(?:python(?:\d(?:\.\d+)?)?|pypy3?|ipython3?|pythonw)(?:\.exe)?")

_STARTERS = frozenset(
    {
        "torchrun", "accelerate", "deepspeed", "horovodrun", "srun", "mpirun", "mpiexec", "orterun",
        "prun", "jsrun", "ibrun", "aprun", "composer", "colossalai", "fabric", "lightning",
        "kubectl", "docker", "podman", "nvidia-docker", "singularity", "apptainer", "enroot", "uv",
        "poetry", "pdm", "pipenv", "hatch", "rye", "pixi", "conda", "mamba", "micromamba",
        "coverage", "nohup", "time", "exec", "sudo", "env", "nice", "ionice", "taskset", "numactl",
        "timeout", "stdbuf", "setsid", "xargs", "command", "then", "do", "else", "if", "while", "!",
        "{", "bash", "sh", "nsys", "ncu", "nvprof", "kernprof", "py-spy", "scalene", "wandb",
        "bsub", "sbatch", "qsub", "oarsub", "sky", "modal", "gdb", "catchsegv", "run", "xvfb-run",
        "ray", "parallel", "watch",
    }
)  # fmt: skip
"""Programs, and words of the shell, that start what follows them: it may be Python."""

_OPTIONS_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs", "-Q"})
_LAUNCHER_MODULES = frozenset(
    {
        "torch.distributed.launch", "torch.distributed.run", "accelerate.commands.launch",
        "paddle.distributed.launch", "deepspeed.launcher.runner", "colossalai.cli", "coverage",
        "cProfile", "pdb", "trace", "kernprof", "memory_profiler", "ipdb", "pudb", "line_profiler",
        "scalene", "debugpy", "jurigged",
    }
)  # fmt: skip
"""Modules that start the program that their arguments name."""


_RANKS: dict[str, tuple[str, ...]] = {
    "torchrun": ("--nproc_per_node", "--nproc-per-node"),
    "torch.distributed.launch": ("--nproc_per_node", "--nproc-per-node"),
    "torch.distributed.run": ("--nproc_per_node", "--nproc-per-node"),
    "accelerate": ("--num_processes", "--num-processes"),
    "deepspeed": ("--num_gpus",),
    "horovodrun": ("-np", "--num-proc"),
    "mpirun": ("-np", "-n"),
    "mpiexec": ("-np", "-n"),
    "srun": ("-n", "--ntasks"),
}
"""Launcher -> options that say how many processes it starts, on each node where it takes nodes."""

_NODES = ("--nnodes", "--num_nodes")


def _launched(words: Sequence[str], launch: Launch) -> Launch:
    """A launch with the launcher among these words, and its ranks."""
    launcher = next((name for name in map(_name, words) if name in _RANKS), "")
    if not launcher:
        return launch
    given: dict[str, str] = {}
    for word, following in zip(words, (*words[1:], ""), strict=True):
        option, equals, value = word.partition("=")
        given.setdefault(option, value if equals else following)
    ranks = next((given[option] for option in _RANKS[launcher] if option in given), "")
    nodes = next((given[option] for option in _NODES if option in given), "1")
    count = str(int(ranks) * int(nodes)) if ranks.isdigit() and nodes.isdigit() else "?"
    return msgspec.structs.replace(launch, launcher=launcher, ranks=count)


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def find_launch(
    words: Sequence[str], variables: Mapping[str, str | None], place: Spot
) -> Launch | None:
    """The Python program that a command starts; None where it starts another one.

    >>> found = find_launch("torchrun --nproc_per_node 8 train.py --lr 1".split(), {}, Spot(1))
    >>> found.path, found.options
    ('train.py', ('--lr', '1'))
    >>> find_launch("python -u -m pkg.train -c x.yaml".split(), {}, Spot(1)).module
    'pkg.train'
    >>> find_launch("pip install torch".split(), {}, Spot(1))
    """
    found = _started(words, variables, place)
    return None if found is None else _launched(words, found)


def _started(
    words: Sequence[str], variables: Mapping[str, str | None], place: Spot
) -> Launch | None:
    at = 0
    while at < len(words) and not _PYTHON.fullmatch(words[at]):
        if at == 0 and not _may_start_python(words[0]):
            return None
        if words[at].endswith((".py", ".pyw")) and not words[at].startswith("-"):
            return _program(words, at, "", variables, place)
        if words[at] == "-m" and at + 1 < len(words) and _is_module(words[at + 1]):
            return _program(words, at + 1, words[at + 1], variables, place)
        at += 1
    at += 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-m" and at + 1 < len(words):
            module = words[at + 1]
            if module in _LAUNCHER_MODULES:
                return _started(("run", *words[at + 2 :]), variables, place)
            return _program(words, at + 1, module, variables, place) if _is_module(module) else None
        if words[at] in ("-c", "-"):
            return None
        at += 2 if words[at] in _OPTIONS_WITH_VALUE else 1
    if at < len(words) and words[at].endswith((".py", ".pyw")):
        return _program(words, at, "", variables, place)
    return None


def _may_start_python(word: str) -> bool:
    name = word.rpartition("/")[2]
    return name in _STARTERS or name.endswith((".py", ".pyw")) or "=" in word


def _is_module(word: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][\w.]*", word) is not None


_FOLDER = re.compile(r"(?:\$\(.*\)|`.*`|\$\{.*\}|\$\w+)/")
"""A folder that only the shell knows: ``$(dirname $0)/``."""


def _program(
    words: Sequence[str], at: int, module: str, variables: Mapping[str, str | None], place: Spot
) -> Launch:
    path = "" if module else _FOLDER.sub("", words[at]).removeprefix("./")
    return Launch(
        path=path,
        module=module,
        options=tuple(words[at + 1 :]),
        variables=dict(variables),
        place=place,
    )
