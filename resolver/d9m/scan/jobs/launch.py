"""Commands that start a Python program, directly or through a launcher."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

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


def find_launch(
    words: Sequence[str], variables: Mapping[str, str | None], place: Spot
) -> Launch | None:
    """The Python program that a command starts; None where it starts another one.

    >>> found = find_launch("torchrun --nproc_per_node 8 train.py --lr 1".split(), {}, Spot(1))
    >>> found.path, found.options, found.launcher, found.ranks
    ('train.py', ('--lr', '1'), 'torchrun', '8')
    >>> find_launch("python -u -m pkg.train -c x.yaml".split(), {}, Spot(1)).module
    'pkg.train'
    >>> find_launch("pip install torch".split(), {}, Spot(1))
    """
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
                return find_launch(("run", *words[at + 1 :]), variables, place)
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


_PARALLEL = frozenset(
    {
        "torchrun", "accelerate", "deepspeed", "horovodrun", "srun", "mpirun", "mpiexec", "orterun",
        "prun", "jsrun", "ibrun", "aprun", "composer", "colossalai", "torch.distributed.launch",
        "torch.distributed.run", "accelerate.commands.launch", "deepspeed.launcher.runner",
    }
)  # fmt: skip
"""Those that start several processes of one program."""

_COUNTS = {
    **dict.fromkeys(("-np", "-n", "--np", "--ntasks", "--num_processes"), "all"),
    **dict.fromkeys(
        ("--nproc_per_node", "--nproc-per-node", "--ntasks-per-node", "--num_gpus"), "each"
    ),
    **dict.fromkeys(("--nnodes", "--nodes", "-N", "--num_nodes", "--num_machines"), "nodes"),
}
"""Options that say how many processes: in all, or on each of so many nodes."""


def ranks_of(words: Sequence[str]) -> str:
    """How many processes the options of a launcher ask for; ``?`` where a variable says it.

    >>> ranks_of(["--nnodes=2", "--nproc_per_node", "8"]), ranks_of(["-np", "$N"]), ranks_of(["-v"])
    ('16', '?', '')
    >>> ranks_of([])
    ''
    """
    given: dict[str, str] = {}
    for word, after in itertools.zip_longest(words, words[1:], fillvalue=""):
        option, equals, value = word.partition("=")
        if option in _COUNTS:
            given[_COUNTS[option]] = value if equals else after
    if "all" in given:
        return given["all"] if given["all"].isdigit() else "?"
    if "each" not in given:
        return ""
    each, on = given["each"], given.get("nodes", "1")
    return str(int(each) * int(on)) if each.isdigit() and on.isdigit() else "?"


_FOLDER = re.compile(r"(?:\$\(.*\)|`.*`|\$\{.*\}|\$\w+)/")
"""A folder that only the shell knows: ``$(dirname $0)/``."""


def script_path(word: str) -> str:
    """Return the path of a script without the folder that only the shell knows.

    >>> script_path("$(dirname $0)/env.sh"), script_path("./train.py")
    ('env.sh', 'train.py')
    """
    return re.sub(r"^(?:\.\.?/)+", "", _FOLDER.sub("", word))


def _program(
    words: Sequence[str], at: int, module: str, variables: Mapping[str, str | None], place: Spot
) -> Launch:
    path = "" if module else script_path(words[at])
    names = [word.rpartition("/")[2] for word in words[:at]]
    launcher = next((name for name in names if name in _PARALLEL), "")
    return Launch(
        path=path,
        module=module,
        options=tuple(words[at + 1 :]),
        launcher=launcher,
        ranks=ranks_of(words[:at]) if launcher else "",
        variables=dict(variables),
        place=place,
        drops=_dropped(words[:at]),
    )


def _dropped(words: Sequence[str]) -> str | None:
    """Return how the variables begin that a command takes from its program; empty for all.

    >>> _dropped(["env", "-i", "python"]), _dropped(["python", "-I"]), _dropped(["python", "-u"])
    ('', 'PYTHON', None)
    """
    names = [word.rpartition("/")[2] for word in words]
    text = " ".join(names)
    clears = names[:1] == ["env"] and {"-i", "-", "--ignore-environment"} & set(names)
    sudo = "sudo" in names and not re.search(r" (?:-\w*E|--preserve-env)", text)
    if clears or sudo or re.search(r"--export[= ](?:NONE|NIL)\b", text):
        return ""
    at = next((place for place, word in enumerate(words) if _PYTHON.fullmatch(word)), len(words))
    ignores = any(re.fullmatch(r"-[a-zA-Z]*[EI][a-zA-Z]*", word) for word in words[at + 1 :])
    return "PYTHON" if ignores else None
