"""What job files set and start, in every format that a scan reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9m.scan.facts import EnvironmentWrite, FileFacts
from d9m.scan.file_kinds import Kind
from d9m.scan.finding import Spot
from d9m.scan.jobs.notebook import read_magics
from d9m.scan.jobs.read import LONGEST_LINE, read_job
from d9m.scan.jobs.shell import Job


def facts(kind: Kind, text: str) -> FileFacts:
    found = read_job("file", kind, text)
    assert found is not None
    return found


def written(found: FileFacts | Job) -> list[tuple[str, str | None, str]]:
    return [(variable.name, variable.value, variable.how) for variable in found.variables]


def started(found: FileFacts | Job) -> list[str]:
    return [launch.path or launch.module for launch in found.launches]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("export A=1", ("A", "1", "exported")),
        ("declare -x A='x y'", ("A", "x y", "exported")),
        ("setenv A 1", ("A", "1", "exported")),
        ("A=1; export A", ("A", "1", "exported")),
        ("set -a\nA=1", ("A", "1", "exported")),
        ("A=1", ("A", "1", "unexported")),
        ("export -n A=1", ("A", "1", "unexported")),
        ("export A=$B", ("A", None, "exported")),
        ("export A='$B'", ("A", "$B", "exported")),
        ('export A="${A:-${B:-16}}"', ("A", "", "exported")),
        ('export A="${A:-${B:-${C:-16}}}"', ("A", "", "exported")),
        ('export A="${A:-${B:-${C:-${D:-16}}}}"', ("A", None, "exported")),
        ('export A="${B:-${C:-16}}"', ("A", None, "exported")),
        ("A=1 python t.py", ("A", "1", "command")),
        ("env -u B A=1 python t.py", ("A", "1", "command")),
        ("docker run -e A=1 image", ("A", "1", "job")),
        ("srun --export=ALL,A=1 python t.py", ("A", "1", "job")),
        ("mpirun -x A=1 -np 2 python t.py", ("A", "1", "job")),
        ("#SBATCH --export=ALL,A=1", ("A", "1", "job")),
        ("unset A", ("A", None, "unset")),
    ],
)
def test_a_script_sets_a_variable(line: str, expected: tuple[str, str | None, str]) -> None:
    assert written(facts("shell", line)) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "# export A=1",
        "cat <<EOF\nexport A=1\nEOF\n",
        "echo 'export A=1'",
        "A=1\necho $A",
        "python t.py --opt A=1",
        "[ $A = 1 ]",
    ],
)
def test_a_script_sets_nothing(text: str) -> None:
    assert written(facts("shell", text)) == []


def test_a_value_that_is_appended_names_its_variable() -> None:
    found = facts("shell", 'export XLA_FLAGS="${XLA_FLAGS} --xla_gpu_deterministic_ops=true"')
    assert written(found) == [("XLA_FLAGS", "--xla_gpu_deterministic_ops=true", "exported")]
    assert found.variables[0].copies == "XLA_FLAGS"


def test_places_count_from_one_and_end_after_the_last_character() -> None:
    variable = facts("shell", "true\n  export NAME='x'\n").variables[0]
    assert variable.place == Spot(2, 10, 2, 18)


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("python train.py --lr 1", "train.py"),
        ("python3.11 -u -W ignore train.py", "train.py"),
        ("./scripts/train.py", "scripts/train.py"),
        ("python -m pkg.train", "pkg.train"),
        ("torchrun --nproc_per_node=8 train.py", "train.py"),
        ("torchrun --standalone -m pkg.train", "pkg.train"),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py", "train.py"),
        ("accelerate launch --config_file a.yaml train.py", "train.py"),
        ("deepspeed --num_gpus 2 train.py", "train.py"),
        ("uv run train.py", "train.py"),
        ("python $(dirname $0)/tools/train.py", "tools/train.py"),
        ('python "${ROOT}/train.py"', "train.py"),
        ("CUDA_VISIBLE_DEVICES=0 nohup python train.py > log 2>&1 &", "train.py"),
        ("if true; then srun python \\\n  train.py; fi", "train.py"),
    ],
)
def test_a_script_starts_a_program(line: str, program: str) -> None:
    assert started(facts("shell", line)) == [program]


@pytest.mark.parametrize(
    "line",
    ["pip install torch", "cp train.py /x", "python -c 'import a'", "vim train.py", "python"],
)
def test_a_script_starts_no_program(line: str) -> None:
    assert started(facts("shell", line)) == []


def test_a_launch_has_its_own_variables_and_options() -> None:
    launch = facts("shell", "A=1 env B=2 python t.py --x 3").launches[0]
    assert launch.variables == {"A": "1", "B": "2"}
    assert launch.options == ("--x", "3")


DOCKERFILE = """
FROM x AS y
ARG A=1
ENV B=:4096:8 \\
    # a comment inside
    C="c d"
ENV D e f
ENV XLA_FLAGS="$XLA_FLAGS --x"
RUN --mount=type=cache export LOST=1
RUN export KEPT=1 && python prepare.py
CMD ["python", "train.py"]
ENTRYPOINT ["bash", "-c", "python last.py"]
"""


def test_a_dockerfile() -> None:
    found = facts("dockerfile", DOCKERFILE)
    assert written(found) == [
        ("A", "1", "build"),
        ("B", ":4096:8", "image"),
        ("C", "c d", "image"),
        ("D", "e f", "image"),
        ("XLA_FLAGS", "--x", "image"),
        ("LOST", "1", "lost"),
        ("KEPT", "1", "exported"),
    ]
    assert started(found) == ["prepare.py", "train.py", "last.py"]
    assert found.variables[5].place == Spot(9, 31, 9, 37)


WORKFLOW = """
env:
  A_B: ":4096:8"  # why
jobs:
  test:
    steps:
      - name: A_B
        env: {}
        run: python train.py
      - run: |
          export LOST=1
      - run: |
          export KEPT=1
          python -m pkg.train
"""


def test_a_workflow_has_a_shell_for_each_step() -> None:
    found = facts("yaml", WORKFLOW)
    assert written(found) == [
        ("A_B", ":4096:8", "job"),
        ("LOST", "1", "lost"),
        ("KEPT", "1", "exported"),
    ]
    assert started(found) == ["train.py", "pkg.train"]


CLUSTER = """
services:
  web:
    environment:
      - NCCL_PROTO=Simple
      - "A_B=${OTHER}"
spec:
  containers:
  - name: trainer
    command: ["python", "main.py"]
    env:
    - name: TF_DETERMINISTIC_OPS
      value: "1"
    - name: FROM_ELSEWHERE
      valueFrom: {secretKeyRef: x}
  - command:
    - python
    - -u
    - second.py
script:
  - export C_D=1
  - python third.py
"""


def test_clusters_compose_files_and_scripts_in_yaml() -> None:
    found = facts("yaml", CLUSTER)
    assert written(found) == [
        ("NCCL_PROTO", "Simple", "job"),
        ("A_B", None, "job"),
        ("TF_DETERMINISTIC_OPS", "1", "job"),
        ("C_D", "1", "exported"),
    ]
    assert found.variables[2].place.line == 12
    assert started(found) == ["main.py", "second.py", "third.py"]


def test_each_line_of_a_recipe_has_a_separate_shell() -> None:
    text = (
        "export A = 1 # why\nB := 2\nC = 3\nall: data\n"
        "\texport LOST=1\n\t@export KEPT=$(C) && \\\n\t  python t.py\n"
    )
    assert written(facts("makefile", text)) == [
        ("A", "1", "exported"),
        ("B", "2", "unexported"),
        ("LOST", "1", "lost"),
        ("KEPT", None, "exported"),
    ]


def test_plain_pairs() -> None:
    assert written(facts("env", "# c\nA=1\nexport B='2 3'\nC = x # y\nnothing\n")) == [
        ("A", "1", "job"),
        ("B", "2 3", "job"),
        ("C", "x", "job"),
    ]
    launch = '{\n  // a comment\n  "env": {"PYTHONHASHSEED": "0", "low": "x"},\n}'
    assert written(facts("launch", launch)) == [("PYTHONHASHSEED", "0", "job")]


def test_magics_of_a_notebook() -> None:
    found = read_magics("%env A=1\n!export LOST=1\n!B=2 python t.py\n%set_env C 3\nimport x", 10)
    assert written(found) == [
        ("A", "1", "magic"),
        ("LOST", "1", "lost"),
        ("B", "2", "command"),
        ("C", "3", "magic"),
    ]
    assert [variable.place.line for variable in found.variables] == [10, 11, 12, 13]
    assert started(read_magics("\n%%bash\nexport A=1\npython t.py\n", 4)) == ["t.py"]


KINDS: list[Kind] = ["shell", "dockerfile", "yaml", "env", "makefile", "launch"]
SNIPPETS = st.sampled_from(
    ["export ", "A=1", "B_C: 1", "- name: ", "value: x", "'", '"', "\\\n", "\n", "\t", " ", "$(",
     "${", "`", "<<EOF", "ENV ", "RUN ", "python t.py", "run: |", "{", "[", "#", "\x00", "é"]
)  # fmt: skip


@settings(max_examples=60, derandomize=True)
@given(st.lists(SNIPPETS, max_size=30).map("".join), st.sampled_from(KINDS))
def test_no_text_is_too_odd(text: str, kind: Kind) -> None:
    lines = text.count("\n") + 1
    for variable in facts(kind, text).variables:
        assert 1 <= variable.place.line <= lines
    assert started(read_magics(text, 1)) is not None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("piece", ["${", "$(", "'", "(", "<<A ", "- ", "A=1 "])
def test_a_long_line_is_data(kind: Kind, piece: str) -> None:
    text = f"export A_B=1\n{piece * LONGEST_LINE}\n" + piece * (LONGEST_LINE // len(piece))
    found = facts(kind, text)
    assert all(isinstance(variable, EnvironmentWrite) for variable in found.variables)


@pytest.mark.parametrize(
    "line", ["##SBATCH --ntasks=2", "  #SBATCH --ntasks=2", "echo '#SBATCH'", "#SBATCH"]
)
def test_a_job_without_an_option_of_slurm_is_read(line: str) -> None:
    job = facts("shell", f"#!/bin/bash\n{line}\nsrun python train.py\n")
    assert [launch.ranks for launch in job.launches] == [""]
