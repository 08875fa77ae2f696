"""An error says what is wrong, where, what is allowed and what is nearest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from process import d9m

LONG = "x" * 5_000

TEXTS = [
    (
        ["advise", "--tf", "2.0", "--ops", "bias_ad"],
        ["unknown op 'bias_ad'", "did you mean bias_add"],
    ),
    (
        ["advise", "--torch", "2.4", "--ops", "torch.relux"],
        ["'torch.relux' in torch", "torch.relu", "has no name like it"],
    ),
    (
        ["advise", "--torch", "2.4", "--ops", "torch.func.vmap"],
        ["no record has 'torch.func.vmap', and our catalogue of torch leaves torch.func out"],
    ),
    (
        ["advise", "--torch", "2.4", "--ops", "indx_add,cumsum,scater", "--format", "env"],
        [
            "2 mistakes in the ops",
            "unknown op 'indx_add' in torch: did you mean index_add",
            "unknown op 'scater' in torch: did you mean scatter",
            "see: d9m list ops",
        ],
    ),
    (
        ["advise", "--tf", "2.0.9"],
        ["tensorflow '2.0.9' was never released", "did you mean 2.0.4 or 2.1.0?"],
    ),
    (["advise", "--torch", "twofour"], ["'twofour' is not a version of torch", "2.4.1+cu121"]),
    (
        ["advise", "--with", "tensorflw=2.0"],
        ["unknown package 'tensorflw'", "did you mean tensorflow", "see: d9m list packages"],
    ),
    (
        ["advise", "--container", "ngc-tensorflow:20.03"],
        ["has 2 variants", "20.03-tf1-py3, 20.03-tf2-py3"],
    ),
    (
        ["advise", "--container", "ngc-tensorflow:20.04-tf2"],
        ["20.04-tf2 was never released", "20.03-tf2-py3 or 20.06-tf2-py3"],
    ),
    (
        ["advise", "--container", "ngc-pytorsh:23.12"],
        ["unknown container", "did you mean ngc-pytorch"],
    ),
    (["advise", "--tf", "2.0", "--fact", "xl=true"], ["unknown fact 'xl'", "did you mean xla?"]),
    (
        ["advise", "--tf", "2.0", "--fact", "xla=maybe"],
        ["xla cannot be 'maybe'", "allowed: true, false"],
    ),
    (
        ["advise", "--tf", "2.0", "--device", "tpu"],
        ["unknown device 'tpu'", "NVIDIA GPUs are cuda"],
    ),
    (
        ["advise", "--container", "nvcr.io/nvidia/tensorflow:19.05-py3"],
        ["is too old: the records begin with 19.06, the first image with TF_DETERMINISTIC_OPS"],
    ),
    (
        ["advise", "--tf", "2.0", "--format", "jsn"],
        ["--format 'jsn' is unknown", "did you mean json?"],
    ),
    (
        ["advise", "--tf", "2.0", "--scope", "runs"],
        ["--scope 'runs' is unknown", "did you mean run?"],
    ),
    (
        ["advise", "--tf", "2.0", "--tf", "2.1"],
        ["tensorflow '2.1' contradicts the rest", "tensorflow 2.0"],
    ),
    (["advise", "--tf", "2.0", "--diff", "2.0"], ["expected two releases, as in 2.4..2.6"]),
    (
        ["advise", "--torch", "2.4", "--ops", "tf.nn.bias_add"],
        ["is an op of TensorFlow", "--with tensorflow=VERSION"],
    ),
    (
        ["advise", "--torch", "2.4", "--ops", "conv:x"],
        ["    conv:x\n         ^", "forward, backward or name=value"],
    ),
    (
        ["advise", "--torch", "2.4", "--ops", "pad[mode=reflect"],
        ["pad[mode=reflect\n       ^", "quote items"],
    ),
    (
        ["advise", "--torch", "2.4", "--ops", ","],
        ["--ops is empty", "leave it out for everything known"],
    ),
    (
        ["advise", "--torch", "2.4", "--calls", "seed_everythin"],
        ["unknown call 'seed_everythin'", "did you mean"],
    ),
    (
        ["advise", "--torch", "2.4", "--calls", "x("],
        ["'x(' is not a call", "Trainer(deterministic=True)"],
    ),
    (["advise", "--torch", "2.4", "--calls", LONG], ["is not a call"]),
    (
        ["advise", "--torch", "2.4", "--calls", "torch.compile(model)"],
        ["unknown call 'torch.compile(model)'", "it is an op: --ops torch.compile"],
    ),
    (
        ["advise", "--with", "transformer-engine", "--ops", "attention"],
        ["is an op of JAX, PyTorch and TensorFlow", "of Transformer Engine: leave --ops out"],
    ),
    (
        [
            "advise",
            "--torch",
            "2.4",
            "--with",
            "lightning=1.2",
            "--calls",
            "seed_everything(workers=True)",
        ],
        ["lightning 1.2 has no lightning.seed_everything(workers=True)"],
    ),
    (["advise"], ["nothing that d9m knows is installed here", "--torch 2.4"]),
    (["list", "source"], ["no list is called 'source'", "did you mean sources"]),
    (["list", "difference"], ["did you mean differences"]),
    (["list", "sources", "--package", "torh"], ["unknown package 'torh'", "did you mean torch"]),
    (
        ["list", "claims", "--evidence", "documentd"],
        ["no evidence is called 'documentd'", "did you mean documented"],
    ),
    (
        ["list", "sources", "--evidence", "documented"],
        ["sources are not listed by their evidence", "d9m list claims"],
    ),
    (
        ["advise", "--torch", "2.1", "--with", "horovod=0.28", "--ops", "hvd_allreduce"],
        ["unknown op 'hvd_allreduce'", "no ops of horovod: leave --ops out"],
    ),
    (["show", "TDX"], ["nothing is called 'TDX'", "did you mean td3, TDO or TDP"]),
    (["show", LONG], ["5000 characters"]),
    (["kb", "lint"], ["not a folder of records"]),
    (["kb", "lint", "--explain", "no-such-rule"], ["no-such-rule"]),
    (["advise", "--tf", "9" * 5_000], ["version of tensorflow is 5000 characters long"]),
    (["advise", "--tf", "2.0", "--ops", LONG], ["op is 5000 characters long, 500 are allowed"]),
    (
        ["advise", "--tf", "2.0", "--ops", "conv," * 20_000 + "conv"],
        ["has 20001 items, 10000 are allowed"],
    ),
    (["advise", "--with", LONG], ["unknown package"]),
    (["advise", "--container", LONG], ["unknown container"]),
    (["advise", "--tf", "2.0", "--fact", f"{LONG}={LONG}"], ["unknown fact"]),
    (["advise", "--tf", "2.0", "--device", LONG], ["unknown device"]),
    (["advise", "--tf", "2.0", "--format", LONG], ["is unknown"]),
]


@pytest.mark.parametrize(
    ("arguments", "said"), TEXTS, ids=[" ".join(each)[:60] for each, _said in TEXTS]
)
def test_an_error_names_the_value_and_what_would_be_right(
    arguments: list[str], said: list[str]
) -> None:
    done = d9m(*arguments)
    assert (done.returncode in (2, 5), done.stdout) == (True, "")
    assert [each for each in said if each not in done.stderr] == []
    assert len(done.stderr) < 1_000, "an error that nobody reads"


@pytest.mark.parametrize(
    ("release", "op"),
    [
        (("--torch", "2.4"), "torch.special.bessel_j0"),
        (("--torch", "2.4"), "F.hardshrink"),
        (("--torch", "2.4"), "nn.mish"),
        (("--tf", "2.12"), "tf.keras.layers.Masking"),
        (("--tf", "2.20"), "tf.compat.v1.placeholder"),
        (("--tf", "1.4"), "tf.placeholder"),
    ],
)
def test_a_public_name_that_no_record_names_is_no_error(release: tuple[str, str], op: str) -> None:
    done = d9m("advise", *release, "--ops", op, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    (answer,) = json.loads(done.stdout)["ops"]
    assert (answer["query"], answer["outcome"]) == (op, "no-known-source")


CONTROL = [
    "\x1b[31mred",
    "2.0\n2.1",
    "a\tb",
    "bell\x07",
    "\x7f",
    "\u202eback",
    "\u2028",
    "a\u0000b".replace("\0", "\x01"),
]


@pytest.mark.parametrize("text", CONTROL, ids=ascii)
@pytest.mark.parametrize(
    "arguments",
    [
        ["advise", "--tf"],
        ["advise", "--container"],
        ["advise", "--with"],
        ["advise", "--tf", "2.0", "--ops"],
        ["advise", "--tf", "2.0", "--fact"],
        ["advise", "--tf", "2.0", "--device"],
        ["advise", "--tf", "2.0", "--scope"],
        ["advise", "--tf", "2.0", "--format"],
        ["advise", "--tf", "2.0", "--diff"],
        ["advise", "--tf", "2.0", "--calls"],
        ["show"],
        ["list"],
        ["explain"],
    ],
    ids=" ".join,
)
def test_control_characters_are_refused_and_never_printed(arguments: list[str], text: str) -> None:
    done = d9m(*arguments, text)
    assert (done.returncode, done.stdout) == (2, "")
    assert not [each for each in done.stderr if not (each.isprintable() or each == "\n")]
    assert "Traceback" not in done.stderr


def test_bytes_that_are_no_text_are_refused_without_a_traceback() -> None:
    done = d9m("advise", "--tf", "2.0", "--ops", "\udcff\udcfe")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("d9m: op holds control characters")


def test_a_list_of_ops_is_read_from_a_file_with_comments(tmp_path: Path) -> None:
    (tmp_path / "ops.txt").write_text(
        "conv  # forward and backward\n\n# not this\nbias_add, conv\n"
    )
    from_file = d9m("advise", "--tf", "2.0", "--ops", "@ops.txt", "--format", "json", cwd=tmp_path)
    assert (
        from_file.stdout
        == d9m("advise", "--tf", "2.0", "--ops", "conv,bias_add", "--format", "json").stdout
    )


def test_a_list_of_ops_is_read_from_standard_input() -> None:
    from_stdin = d9m(
        "advise", "--tf", "2.0", "--ops", "-", "--format", "json", stdin="conv\nbias_add\n"
    )
    assert (
        from_stdin.stdout
        == d9m("advise", "--tf", "2.0", "--ops", "conv,bias_add", "--format", "json").stdout
    )


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("empty", b"", 2, "--ops is empty"),
        ("binary", bytes(range(256)), 5, "cannot be read"),
        ("endless", b"conv\n" * 2_000_000, 2, "too long for a list of ops"),
        (
            "prose",
            b"please make my training deterministic\n",
            2,
            "unknown op 'please make my training deterministic'",
        ),
    ],
)
def test_a_bad_list_of_ops_is_refused(
    tmp_path: Path, name: str, content: bytes, code: int, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    done = d9m("advise", "--tf", "2.0", "--ops", f"@{name}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("TF_DETERMINISTIC_OPS=1\nTF_DETERMINISTIC_OPS 1\n", "bad.env:2:1: expected NAME=value"),
        ("\n\n   1NAME=2\n", "bad.env:3:4: expected NAME=value"),
        ("A='1\n", "bad.env:1:3: this quote is never closed"),
        ("\x1b[31m\n", "bad.env:1:1: expected NAME=value"),
        ("=1\n", "bad.env:1:1: expected NAME=value"),
        ('{"determinism": {\n  "tf_seed": }}', "bad.env:2:14: not JSON: Expecting value"),
        ("{" * 3, "bad.env:1:2: not JSON"),
        ('{"seed": ' + "1" * 5000 + "}", "bad.env:1:1: not a configuration: Exceeds the limit"),
    ],
)
def test_a_malformed_env_file_is_refused_with_line_and_column(
    tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "bad.env").write_text(content)
    done = d9m("advise", "--tf", "2.0", "--ops", "conv", "--env-file", "bad.env", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (5, "")
    assert said in done.stderr


def test_an_env_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.env").write_bytes(b"A=\xff\n")
    done = d9m("advise", "--tf", "2.0", "--ops", "conv", "--env-file", "bad.env", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (5, "")
    assert "cannot be read" in done.stderr
