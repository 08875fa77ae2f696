"""The jobs that start a program, and the files that it needs."""

from __future__ import annotations

import pytest

from d9m.scan.project.project import Project
from scan.projects import facts, knowledge, scanned

TRAIN = "import tensorflow as tf\ntf.random.set_seed(1)\nmodel.fit(x)\n"


def project(files: dict[str, str]) -> Project:
    return Project(knowledge(), [facts(path, text) for path, text in files.items()], {})


@pytest.mark.parametrize(
    ("job", "launcher", "ranks"),
    [
        ("python train.py", "", ""),
        ("torchrun --nnodes=2 --nproc_per_node=8 train.py", "torchrun", "16"),
        ("torchrun --nproc_per_node=$GPUS train.py", "torchrun", "?"),
        ("python -m torch.distributed.launch --nproc_per_node 4 train.py",
         "torch.distributed.launch", "4"),
        ("horovodrun -np 4 python train.py", "horovodrun", "4"),
        ("#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\nsrun python train.py", "srun", "16"),
        ("srun -n 3 python train.py", "srun", "3"),
    ],
)  # fmt: skip
def test_a_launch_says_how_many_processes_it_starts(job: str, launcher: str, ranks: str) -> None:
    found = project({"train.py": TRAIN, "job.sh": f"{job}\n"})
    ((_path, launch),) = found.programs[0].launches
    assert (launch.launcher, launch.ranks) == (launcher, ranks)


@pytest.mark.parametrize(
    "text",
    [
        "import torch.distributed as dist\ndist.init_process_group('nccl')\n",
        "import horovod.torch as hvd\nhvd.init()\n",
        "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\n",
    ],
)
def test_a_program_with_collectives_is_known(text: str) -> None:
    found = project({"train.py": f"{text}run()\n"})
    names = found.vocabulary.marks("collectives")
    assert len(list(found.programs[0].calls(names))) == 1


@pytest.mark.parametrize(
    "text",
    ["import data\nrun()\n", "def main():\n    from data import x\nmain()\n",
     'import importlib\nimportlib.import_module("data")\nrun()\n'],
)  # fmt: skip
def test_a_file_that_does_not_parse_is_needed_where_a_program_reaches_it(text: str) -> None:
    answer = scanned({"train.py": text, "data.py": "def (\n", "other.py": "def (\n"})
    assert [(one.path, one.needed) for one in answer.files.unreadable] == [
        ("data.py", True),
        ("other.py", False),
    ]
