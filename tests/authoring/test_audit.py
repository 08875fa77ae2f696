"""The audit finds what is planted, accepts what is explained, and finds an explanation that nothing
needs.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

import output_schema
from d9m.authoring.audit import Audit, audit
from d9m.authoring.audit.shipped import ShippedRelease
from d9m.authoring.audit.texts import carries
from d9m.errors import DataError
from d9m.kb import yaml_files
from d9m.model.compiled_facts import CompiledCatalogue, Lowering
from d9m.model.dispatch_facts import CpuRuns, DispatchCatalogue, DispatchTrace, SeedRuns
from d9m.model.kernel_facts import KernelTable, KernelUse
from d9m.model.wheel_facts import (
    ListedOp,
    SignatureCatalogue,
    WheelFacts,
    catalogue,
)

REFUSED = (
    "does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True)'."
)
WARNED = (
    "does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(warn)'."
)
EVIDENCE = "evidence: [{kind: documented, document: notes}]"

RECORDS = {
    "facts.yaml": (
        "device: {title: Device, values: [cuda, cpu], default: cuda}\n"
        'training: {title: Training, values: ["true", "false"], default: "true"}\n'
        "mode: {title: Mode, argument: 'true', values: [sum, mean, max]}\n"
    ),
    "documents/notes.yaml": "title: Notes\nurl: https://example.org/\n",
    "versions/torch.yaml": (
        f"title: PyTorch\nkind: framework\nfolder: pytorch\n{EVIDENCE}\n"
        'releases: {"1.8.0": {}, "1.9.0": {}, "1.9.1": {}, "2.0.0": {}}\n'
    ),
    "ops/pytorch.yaml": (
        "package: torch\nprefixes: {torch.Tensor.: torch.}\n"
        "ops:\n  torch.histc: {}\n  torch.index_add: {}\n  torch.nn.functional.gelu: "
        '{from: "1.9"}\n'
        "reach:\n  _histc_cuda: [torch.histc]\n  torch.nn.GELU: [torch.nn.functional.gelu]\n"
    ),
    "solutions/pytorch/uda.yaml": (
        "label: UDA\ntitle: Switch\nsummary: Text.\n"
        f'settings: [{{set: THE_DETERMINISTIC_SWITCH, to: ["1"]}}]\n{EVIDENCE}\n'
    ),
    "settings/pytorch/switch.yaml": (
        "name: THE_DETERMINISTIC_SWITCH\nkind: env\nsummary: Text.\nread: import\n"
        f'when: {{torch: {{from: "1.9"}}}}\n{EVIDENCE}\n'
    ),
    "sources/pytorch/histc.yaml": (
        f"title: Histogram\nsummary: Text.\nmechanism: atomic\nops: [torch.histc]\n{EVIDENCE}\n"
        "timeline:\n  torch:\n"
        '    - {from: "1.8", outcome: raises, by: [UDA], error: pytorch/histc}\n'
        '    - {from: "2.0", by: [UDA], verified_through: "2.0"}\n'
    ),
    "errors/pytorch/histc.yaml": (
        f"title: No histogram\nadvice: None.\n{EVIDENCE}\ntexts:\n"
        f'  - text: "_histc_cuda {REFUSED}"\n    when: {{torch: {{from: "1.8", until: "2.0"}}}}\n'
    ),
}


def facts(version: str, **changed: object) -> WheelFacts:
    old = version.startswith("1")
    said: dict[str, object] = {
        "alerts": ["_histc_cuda"] if old else [],
        "messages": [REFUSED],
        "variables": [] if version == "1.8.0" else ["THE_DETERMINISTIC_SWITCH"],
        "lists": {
            "throws" if old else "deterministic": [
                ListedOp("torch.histc", "when called on a CUDA tensor")
            ]
        },
    }
    file = f"torch-{version}-cp38-cp38-linux_x86_64.whl"
    return WheelFacts("torch", version, file, "0" * 64, "linux_x86_64", **{**said, **changed})  # pyright: ignore


NAMES = {
    "1.8.0": {"torch.histc", "torch.Tensor.index_add_"},
    "1.9.1": {"torch.histc", "torch.Tensor.index_add_", "torch.nn.functional.gelu"},
    "2.0.0": {"torch.histc", "torch.Tensor.index_add_", "torch.nn.functional.gelu"},
}


class Kb:
    """A small knowledge base that agrees with its wheels, until something is planted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in RECORDS.items():
            self.write(name, text)
        for version in NAMES:
            self.read(facts(version))
        self.names(NAMES)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def change(self, name: str, old: str, new: str) -> None:
        assert old in RECORDS[name]
        self.write(name, RECORDS[name].replace(old, new))

    def read(self, found: WheelFacts, part: str = "") -> None:
        self.write(f"evidence/wheels/torch-{found.version}{part}.json", found.encoded().decode())

    def names(self, known: dict[str, set[str]]) -> None:
        self.write("evidence/catalogue-torch.json", catalogue("torch", known).encoded().decode())

    def audit(self) -> Audit:
        return audit(self.root)

    def ids(self) -> list[str]:
        return [each.id for each in self.audit().differences]


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    return Kb(tmp_path / "kb")


def test_records_that_agree_with_every_wheel_are_clean(kb: Kb) -> None:
    found = kb.audit()
    assert (found.differences, found.exit_code()) == ([], 0)
    assert found.compared == ["torch-1.8.0.json", "torch-1.9.1.json", "torch-2.0.0.json"]
    assert yaml_files.load(kb.root).faults == []


def test_without_fact_files_nothing_is_said_to_agree(tmp_path: Path) -> None:
    found = audit(tmp_path)
    assert (found.exit_code(), found.compared) == (4, [])


def test_a_parameter_that_decides_a_fact_and_that_no_signature_has_is_found(kb: Kb) -> None:
    kb.change("facts.yaml", "max]}", "max], parameters: {mode: {}, how: {}}}")
    assert kb.ids() == ["parameter-not-shipped mode:how", "parameter-not-shipped mode:mode"]
    stated = {"2.0.0..": {"torch.nn.functional.embedding_bag": "weight | input, *, mode='mean'"}}
    kb.write(
        "evidence/signatures-torch.json",
        SignatureCatalogue("torch", ["2.0.0"], {}, stated).encoded().decode(),
    )
    assert kb.ids() == ["parameter-not-shipped mode:how"]


def test_an_error_text_that_a_release_lacks_is_found(kb: Kb) -> None:
    kb.read(facts("1.9.1", alerts=[]))
    assert kb.ids() == ["text-not-shipped errors/pytorch/histc#1 1.9.1..2.0.0"]


def test_an_error_text_that_came_in_another_wording_is_found(kb: Kb) -> None:
    kb.read(facts("1.8.0", messages=[WARNED]))
    assert kb.ids() == [
        (
            "message-unknown does not have a deterministic implementation, but you set "
            "'torch.use_determinis… 1.8.0..1.9.1"
        ),
        "text-not-shipped errors/pytorch/histc#1 1.8.0..1.9.1",
    ]


ERROR = (
    f"title: Text\nadvice: None.\n{EVIDENCE}\ntexts: [{{text: '{{}}', when: "
    f"{{torch: {{from: '2.0'}}}}}}]\n"
)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("The result is not deterministic.", "The result is not deterministic."),
        ("not deterministic, because of", "The gradient is not deterministic, because of reasons."),
        ("{…} is not deterministic with the inputs", "{pipe} is not deterministic with the inputs"),
        (
            "A {…} that is not deterministic was given for {…}.",
            "A {kernel} that is not deterministic was given for {op}.",
        ),
        (
            "Determinism was asked for with `torch.switch(True)` or",
            "Determinism was asked for with `{switch}` or {call}",
        ),
    ],
)
def test_a_message_is_known_if_a_record_has_it_or_a_longer_text_that_it_is_a_piece_of(
    kb: Kb, message: str, text: str
) -> None:
    kb.read(facts("2.0.0", messages=[REFUSED, message]))
    assert f"message-unknown {message} 2.0.0.." in kb.ids()
    kb.write("errors/pytorch/text.yaml", ERROR.replace("{}", text))
    assert kb.ids() == []
    kb.write(
        "errors/pytorch/text.yaml",
        ERROR.replace("{}", "Something else is not deterministic, as it says."),
    )
    assert f"message-unknown {message} 2.0.0.." in kb.ids()


def test_an_error_text_in_a_release_that_the_record_leaves_out_is_found(kb: Kb) -> None:
    kb.change("errors/pytorch/histc.yaml", 'until: "2.0"', 'until: "1.9"')
    assert kb.ids() == ["text-shipped-elsewhere errors/pytorch/histc#1 1.9.1..2.0.0"]


def test_what_any_wheel_of_a_release_carries_counts(kb: Kb) -> None:
    kb.read(facts("1.9.1", alerts=[]))
    kb.read(facts("1.9.1"), part="-macos")
    assert kb.ids() == []


CUBLAS = (
    "Deterministic behavior was enabled with either `{switch}` or `{call}`, but this operation is "
    "not deterministic "
    "because it uses CuBLAS. To enable deterministic behavior in this case, set a variable."
)
PIECES = [
    "Deterministic behavior was enabled with either `torch.use_deterministic_algorithms(True)` or",
    (
        "`at::Context::setDeterministicAlgorithms(true)`, but this operation is not deterministic "
        "because"
    ),
    "it uses CuBLAS. To enable deterministic behavior in this",
]


@pytest.mark.parametrize(
    ("text", "messages", "alerts", "can_say"),
    [
        (f"put_ {REFUSED}", [REFUSED], ["put_"], True),
        (f"put_ {REFUSED}", [REFUSED], ["take_"], False),
        (f"put_ {REFUSED}", [WARNED], ["put_"], False),
        (f"put_ {REFUSED}", [f"{{…}} {REFUSED}"], [], False),
        (f"{{op}} {REFUSED}", [REFUSED], ["put_"], True),
        (f"{{op}} {REFUSED}", [REFUSED], [], False),
        (f"{{op}}_mps {REFUSED}", [REFUSED], ["index_reduce_mps"], True),
        (f"{{op}}_mps {REFUSED}", [REFUSED], ["index_reduce_cuda"], False),
        (
            "HLO {…} has no deterministic twin, it is.",
            ["HLO %s has no deterministic twin, it is."],
            [],
            True,
        ),
        (
            "HLO {…} has no deterministic twin, it is.",
            ["HLO %s has no deterministic twin, it is so."],
            [],
            False,
        ),
        (
            "No deterministic kernel of {dtype} yet.",
            ["No deterministic kernel of {…} yet."],
            [],
            True,
        ),
        ("A scatter of half is not deterministic yet", ["is not deterministic yet"], [], True),
        (CUBLAS, PIECES, [], True),
        (CUBLAS, PIECES[1:], [], False),
        (CUBLAS, PIECES[:1] + PIECES[2:], [], False),
        (CUBLAS, PIECES[:2], [], False),
    ],
)
def test_a_release_can_say_a_text_if_its_pieces_make_up_all_that_speaks_of_determinism(
    text: str, messages: list[str], alerts: list[str], can_say: bool
) -> None:
    assert (
        carries(ShippedRelease([facts("2.0.0", messages=messages, alerts=alerts)]), text) is can_say
    )


def test_an_alert_that_no_record_names_is_found(kb: Kb) -> None:
    kb.read(facts("2.0.0", alerts=["put_"]))
    assert kb.ids() == ["alert-unknown put_ 2.0.0.."]


def test_a_variable_in_other_releases_than_the_record_says_is_found_both_ways(kb: Kb) -> None:
    kb.read(facts("1.8.0", variables=["THE_DETERMINISTIC_SWITCH"]))
    kb.read(facts("2.0.0", variables=[]))
    assert kb.ids() == [
        "variable-not-shipped settings/pytorch/switch 2.0.0..",
        "variable-shipped-elsewhere settings/pytorch/switch 1.8.0..1.9.1",
    ]


def test_a_name_that_nothing_reads_must_be_in_no_wheel(kb: Kb) -> None:
    kb.change("settings/pytorch/switch.yaml", 'when: {torch: {from: "1.9"}}', "effect: never")
    assert kb.ids() == ["variable-shipped-elsewhere settings/pytorch/switch 1.9.1.."]


def test_a_variable_that_collectors_do_not_look_for_is_not_missed(kb: Kb) -> None:
    other = RECORDS["settings/pytorch/switch.yaml"].replace(
        "THE_DETERMINISTIC_SWITCH", "SOME_OTHER_SWITCH"
    )
    kb.write("settings/pytorch/other.yaml", other)
    assert kb.ids() == []


def test_a_variable_and_a_flag_that_no_record_names_are_found(kb: Kb) -> None:
    kb.read(
        facts(
            "2.0.0",
            variables=["THE_DETERMINISTIC_SWITCH", "A_DETERMINISTIC_ONE", "OTHER_NUM_THREADS"],
        )
    )
    kb.read(facts("1.8.0", flags=["xla_gpu_deterministic_ops"]))
    assert kb.ids() == [
        "flag-unknown xla_gpu_deterministic_ops 1.8.0..1.9.1",
        "variable-unknown A_DETERMINISTIC_ONE 2.0.0..",
    ]


def test_an_op_that_a_release_lacks_or_has_earlier_is_found(kb: Kb) -> None:
    gone, early = NAMES["1.9.1"] - {"torch.histc"}, NAMES["1.8.0"] | {"torch.nn.functional.gelu"}
    kb.names({**NAMES, "1.9.1": gone, "1.8.0": early})
    assert kb.ids() == [
        "op-not-shipped torch.histc 1.9.1..2.0.0",
        "op-shipped-elsewhere torch.nn.functional.gelu 1.8.0..1.9.1",
    ]


def test_an_op_that_a_release_has_under_a_name_that_leads_to_it_is_not_missed(kb: Kb) -> None:
    old = {*NAMES["1.8.0"], "torch.nn.GELU", "torch.nn.functional.other"}
    kb.names({**NAMES, "1.8.0": old})
    kb.change("ops/pytorch.yaml", '{from: "1.9"}', "{}")
    assert kb.ids() == []
    kb.names({**NAMES, "1.8.0": old - {"torch.nn.GELU"}})
    assert kb.ids() == ["op-not-shipped torch.nn.functional.gelu 1.8.0..1.9.1"]


@pytest.mark.parametrize(
    "name", ["torch.nn.functional.histc", "torch.nn.HistC", "torch.nn.functional.hist_c_"]
)
def test_a_public_name_like_that_of_an_op_with_a_source_is_found(kb: Kb, name: str) -> None:
    kb.names(
        {
            **NAMES,
            "1.9.1": {
                *NAMES["1.9.1"],
                name,
                "torch.nn.functional.__histc__",
                "torch.nn.functional.gelus",
            },
        }
    )
    assert [each.partition(" ")[0] for each in kb.ids()] == ["namesake-unknown"]
    assert f" {name} " in kb.ids()[0]
    kb.change("ops/pytorch.yaml", "reach:\n", f"reach:\n  {name}: [torch.histc]\n")
    assert kb.ids() == []


def test_a_name_like_that_of_another_library_is_no_namesake(kb: Kb) -> None:
    kb.change("ops/pytorch.yaml", "reach:\n", "reach:\n  torch_other.softmax: [torch.histc]\n")
    kb.names({**NAMES, "1.9.1": {*NAMES["1.9.1"], "torch.special.softmax"}})
    assert kb.ids() == []


COMPILED = (
    "title: Compiled histogram\nsummary: Text.\nmechanism: atomic\nops: [torch.index_add]\n"
    f"when: {{compile: 'true'}}\n{EVIDENCE}\ntimeline:\n  torch:\n"
    '    - {from: "1.8", outcome: unsolved}\n'
    '    - {from: "2.0", by: [UDA], verified_through: "2.0"}\n'
)


def test_a_compiled_op_must_have_a_source_that_is_gated_as_the_wheel_says(kb: Kb) -> None:
    facts_ = (
        RECORDS["facts.yaml"] + 'compile: {title: C, values: ["true", "false"], default: "false"}\n'
    )
    reach = "reach:\n  torch.ops.aten.index_add: [torch.index_add]\n"
    kb.write("facts.yaml", facts_)
    kb.write(
        "ops/pytorch.yaml",
        RECORDS["ops/pytorch.yaml"]
        .replace("reach:\n", reach)
        .replace("prefixes: {", "prefixes: {'aten::': torch.ops.aten., "),
    )
    known = CompiledCatalogue("torch")
    held = {
        "1.9.1": {Lowering("index_add", "atomic-add"), Lowering("mm", "tuned")},
        "2.0.0": {Lowering("index_add", "atomic-add", "flag"), Lowering("col2im", "atomic-add")},
    }
    for release, lowerings in held.items():
        known = known.with_release(release, ("torch.whl", "0" * 64), lowerings)
    kb.write("evidence/compiled-torch.json", known.encoded().decode())
    unknown = "compiled-op-unknown col2im:atomic-add 2.0.0.."
    assert kb.ids() == [unknown, "compiled-without-source index_add:atomic-add 1.9.1.."]
    kb.write("sources/pytorch/compiled.yaml", COMPILED)
    assert kb.ids() == [unknown]
    swapped = COMPILED.replace("outcome: unsolved", "by: [UDA]").replace(
        "by: [UDA], verified", "outcome: unsolved, verified"
    )
    kb.write("sources/pytorch/compiled.yaml", swapped)
    assert kb.ids() == [
        "compiled-gate-disagrees index_add:atomic-add 1.9.1..2.0.0",
        "compiled-gate-disagrees index_add:atomic-add 2.0.0..",
        unknown,
    ]


def test_an_op_that_ends_in_one_with_a_source_must_have_that_source(kb: Kb) -> None:
    ops = {
        "torch.index_add": {
            "forward": {"histc": ""},
            "backward": {"gelu": "", "histc": "mode=max"},
        },
        "torch.fresh": {"backward": {"histc": ""}},
        "torch.histc": {"forward": {"histc": ""}},
    }
    catalogue = DispatchCatalogue("torch").with_trace(DispatchTrace("torch", "2.0.0", ops))
    del ops["torch.fresh"]
    catalogue = catalogue.with_trace(DispatchTrace("torch", "1.9.1", ops))
    kb.write("evidence/dispatch-torch.json", catalogue.encoded().decode())
    reach = "reach:\n  torch.ops.aten.histc: [torch.histc]\n"
    text = RECORDS["ops/pytorch.yaml"].replace(
        "prefixes: {", "prefixes: {'aten::': torch.ops.aten., "
    )
    kb.write("ops/pytorch.yaml", text.replace("reach:\n", reach))
    kb.write("facts.yaml", RECORDS["facts.yaml"] + "layout: {title: L, values: [dense, sparse]}\n")
    asked = ("pytorch/histc", "run-mps", "run-rocm", "run-xpu")

    def lacking(op: str, first: str) -> list[str]:
        return [f"dispatch-without-reach {op}:{each} {first}.." for each in asked]

    fresh = lacking("torch.fresh:backward", "2.0.0")
    named = lacking("torch.index_add:backward", "1.9.1")
    assert kb.ids() == [*fresh, *named, *lacking("torch.index_add:forward", "1.9.1")]
    source = RECORDS["sources/pytorch/histc.yaml"]
    kb.write(
        "sources/pytorch/histc.yaml",
        source.replace("[torch.histc]", "[torch.histc, torch.index_add]"),
    )
    assert kb.ids() == fresh


def test_a_kernel_that_adds_in_any_order_must_be_called_like_an_op_with_a_source(kb: Kb) -> None:
    uses = [
        KernelUse("Histc.cu", "launch_histc_cuda_kernel", "atomic-add"),
        KernelUse("Histc.cu", "other", "atomic-add", "_histc_cuda"),
        KernelUse("native/Gelu.cu", "gelu_out_cuda", "look-back"),
        KernelUse("Fresh.cu", "fresh", "atomic-add", "fresh_cuda"),
    ]
    for version, known in (("1.9.1", uses[:3]), ("2.0.0", uses)):
        table = KernelTable("torch", version, "source.tar", "0" * 64, known)
        kb.write(f"evidence/atomics/torch-{version}.json", table.encoded().decode())
    assert kb.ids() == [
        "kernel-without-record torch:Fresh.cu:fresh:atomic-add 2.0.0..",
        "kernel-without-record torch:Gelu.cu:gelu_out_cuda:look-back 1.9.1..",
    ]


def test_any_patch_of_a_minor_release_represents_it(kb: Kb) -> None:
    kb.change("versions/torch.yaml", '"2.0.0": {}', '"2.0.0": {}, "2.0.1": {}')
    (kb.root / "evidence/wheels/torch-2.0.0.json").unlink()
    kb.read(facts("2.0.1"))
    assert kb.ids() == []


@pytest.mark.parametrize(
    ("section", "op", "code"),
    [
        ("throws", "torch.fresh", "line-unknown throws:torch.fresh"),
        ("throws", "torch.index_add", "line-without-source throws:torch.index_add"),
        ("throws", "torch.histc", "line-disagrees throws:torch.histc"),
    ],
)
def test_a_line_of_the_docstring_that_no_record_bears_out_is_found(
    kb: Kb, section: str, op: str, code: str
) -> None:
    kb.read(facts("2.0.0", lists={section: [ListedOp(op)]}))
    assert kb.ids() == [f"{code} 2.0.0.."]


MODES = (
    "title: Histogram\nsummary: Text.\nmechanism: atomic\nops: ['torch.histc[mode=max]']\n"
    f"when: {{device: cuda}}\n{EVIDENCE}\ntimeline:\n  torch:\n"
    '    - {from: "1.8", outcome: raises, by: [UDA], error: pytorch/histc}\n'
    '    - {from: "2.0", by: [UDA], verified_through: "2.0"}\n'
)


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("when called on a CUDA tensor", []),
        ("when ``mode='max'`` and called on a CUDA tensor", []),
        (
            "when one of the modes is used: - ``max`` - ``sum``",
            ["line-without-source deterministic:torch.histc:mode=sum"],
        ),
        ("when ``mode='sum'`` or `mode='mean'`", ["mode=mean", "mode=sum"]),
        ("when differentiating, ``other=True``", []),
        ("when attempting to differentiate a CUDA tensor and ``mode='max'``", []),
        ("when called on a CPU tensor", ["line-without-source deterministic:torch.histc"]),
        ("when called on a CPU or CUDA tensor", []),
    ],
)
def test_a_line_is_judged_under_its_own_condition(kb: Kb, condition: str, ids: list[str]) -> None:
    kb.write("sources/pytorch/histc.yaml", MODES)
    kb.read(facts("2.0.0", lists={"deterministic": [ListedOp("torch.histc", condition)]}))
    found = kb.ids()
    assert len(found) == len(ids)
    assert all(f"{id_} 2.0.0.." in each for id_, each in zip(ids, found))


def test_a_release_that_the_map_lacks_and_an_unread_minor_are_found(kb: Kb) -> None:
    kb.change("versions/torch.yaml", '"2.0.0": {}', '"2.0.0": {}, "2.1.0": {}')
    kb.read(facts("2.0.1"))
    assert kb.ids() == ["release-not-in-map torch 2.0.1", "release-not-read torch 2.1.0"]


PLANTED = "text-not-shipped errors/pytorch/histc#1 1.9.1..2.0.0"


def test_an_explained_difference_is_no_finding(kb: Kb) -> None:
    kb.read(facts("1.9.1", alerts=[]))
    kb.write("evidence/explained.yaml", f'"{PLANTED}": The name is built at run time.\n')
    found = kb.audit()
    assert (found.differences, found.exit_code()) == ([], 0)
    assert found.explained == {PLANTED: "The name is built at run time."}


def test_an_explanation_does_not_cover_another_release(kb: Kb) -> None:
    for version in ("1.8.0", "1.9.1"):
        kb.read(facts(version, alerts=[]))
    kb.write("evidence/explained.yaml", f'"{PLANTED}": The name is built at run time.\n')
    assert kb.ids() == [
        "text-not-shipped errors/pytorch/histc#1 1.8.0..2.0.0",
        f"explanation-stale {PLANTED}",
    ]


def test_an_explanation_that_nothing_needs_is_a_finding(kb: Kb) -> None:
    kb.write("evidence/explained.yaml", f'"{PLANTED}": The name is built at run time.\n')
    found = kb.audit()
    assert [each.id for each in found.differences] == [f"explanation-stale {PLANTED}"]
    assert (found.exit_code(), found.explained) == (1, {})


def test_a_fact_file_that_is_none_is_a_fault_of_the_knowledge_base(kb: Kb) -> None:
    kb.write("evidence/wheels/torch-1.8.0.json", json.dumps({"package": "torch", "colour": "blue"}))
    kb.write("evidence/wheels/notes.txt", "nothing")
    kb.write("evidence/other.json", "{}")
    faults = {(each.file, each.rule) for each in yaml_files.load(kb.root).faults}
    assert faults == {
        ("evidence/other.json", "file-place"),
        ("evidence/wheels/notes.txt", "file-place"),
        ("evidence/wheels/torch-1.8.0.json", "schema"),
    }
    with pytest.raises(DataError, match=r"torch-1\.8\.0\.json"):
        kb.audit()


def test_text_and_json_name_the_code_and_what_was_compared(kb: Kb) -> None:
    kb.read(facts("1.9.1", alerts=[]))
    found = kb.audit()
    assert not output_schema.faults(msgspec.to_builtins(found), ["kb-audit"])
    shown = found.text()
    assert shown.startswith(f"{PLANTED}\n    torch: _histc_cuda does not have")
    assert shown.endswith("1 differences, 0 explained, 3 fact files compared\n")


def test_the_knowledge_base_itself_agrees_with_every_wheel() -> None:
    found = audit(Path(__file__).parents[2] / "kb")
    assert [each.id for each in found.differences] == []
    assert len(found.compared) >= 60


RANDOM = (
    "title: Random\nsummary: Text.\nmechanism: unseeded-random\nops: [torch.histc]\n"
    f"{EVIDENCE}\ntimeline:\n  torch:\n"
    '    - {from: "1.8", by: [UDA], verified_through: "2.0"}\n'
)


def test_a_drawing_operator_without_a_source_is_found(kb: Kb) -> None:
    trace = DispatchTrace("torch", "2.0.0", {"torch.histc": {"forward": {"rand": ""}}}, {}, [])
    drawing = msgspec.structs.replace(trace, seeded=["rand"])
    held = DispatchCatalogue("torch").with_trace(drawing)
    kb.write("evidence/dispatch-torch.json", held.encoded().decode())
    kb.write("facts.yaml", RECORDS["facts.yaml"] + "layout: {title: L, values: [dense, sparse]}\n")
    assert kb.ids() == ["seed-without-source torch.histc 2.0.0.."]
    kb.write("sources/pytorch/random.yaml", RANDOM)
    assert kb.ids() == []


def test_a_result_of_a_run_on_a_cpu_of_which_the_answer_is_silent_is_found(kb: Kb) -> None:
    op = "torch.nn.functional.gelu"
    runs = CpuRuns("torch", "2.0.0", {op: {"batch": (1, 2)}}, {op: {"float32": (1, 9)}})
    kb.write(
        "facts.yaml",
        RECORDS["facts.yaml"] + "dtype: {title: T, argument: 'true', values: [float32]}\n",
    )
    kb.write("evidence/cpu/torch-2.0.0.json", runs.encoded().decode())
    assert kb.ids() == [
        f"cpu-without-source {op}:batch",
        f"cpu-without-source {op}[dtype=float32]",
    ]
    equal = CpuRuns("torch", "2.0.0", {op: {"batch": (0, 2)}}, {op: {"float32": (0, 9)}})
    kb.write("evidence/cpu/torch-2.0.0.json", equal.encoded().decode())
    assert kb.ids() == []


def test_an_op_of_an_error_that_no_source_judges_is_found(kb: Kb) -> None:
    error = RECORDS["errors/pytorch/histc.yaml"]
    kb.write("errors/pytorch/histc.yaml", f"kind: error\nops: [torch.index_add]\n{error}")
    assert kb.ids() == [
        "error-without-source errors/pytorch/histc:torch.index_add 1.8.0..2.0.0",
    ]


def test_an_answer_that_runs_under_seeds_disagree_with_is_found(kb: Kb) -> None:
    silent = SeedRuns("torch", "2.0.0", {"torch.index_add": {"plain": "differs", "all": "equal"}})
    kb.write("evidence/seeds/torch-2.0.0.json", silent.encoded().decode())
    assert kb.ids() == ["seed-without-source torch.index_add"]
    kb.write("sources/pytorch/random.yaml", RANDOM.replace("torch.histc", "torch.index_add"))
    assert kb.ids() == []
    deaf = SeedRuns("torch", "2.0.0", {"torch.index_add": {"plain": "differs", "all": "differs"}})
    kb.write("evidence/seeds/torch-2.0.0.json", deaf.encoded().decode())
    assert kb.ids() == ["seed-disagrees torch.index_add:global"]
