"""What a difference is blamed on: each case is a recording of a few lines, written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from written import compared, kinds

from d9m.trace import memory
from d9m.trace.comparison import Wanted
from d9m.trace.report import sentences

SITES = """
["S",1,"aten::index_put","","bwd","IndexBackward0","Net",["train.py",6,"forward"],["float32[4]"],"cpu"]
["S",2,"aten::mul","","fwd","","Net",["train.py",7,"forward"],["float32[4]","float32[4]"],"cpu"]
["S",3,"aten::bernoulli_","float","fwd","","Net.drop",["train.py",8,"forward"],["float32[4]"],"cpu"]
["S",4,"aten::_fused_sgd_","","opt","","SGD",["train.py",20,"main"],["float32[4]","float32[4]"],"cpu"]
["S",5,"aten::empty","memory_format","fwd","","",["data.py",31,"make"],[],"cpu"]
["S",6,"aten::exp","","fwd","","Net",["train.py",9,"forward"],["float32[4]"],"cpu"]
"""


def table(text: str) -> str:
    return SITES + text


def test_equal_runs_have_no_cause(tmp_path: Path) -> None:
    found = compared(tmp_path, table('["o",2,"",["aa.1","bb.2"],["cc.3"]]\n["d",0,{}]'))
    assert found.same
    assert found.complete
    assert (found.compared.records, found.compared.equal) == (2, 2)


def test_equal_inputs_and_another_output_are_the_ops_fault(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["l",["aa.1"]]
        A ["o",1,"accumulate=True",["aa.1","bb.2"],["c1.3"]]
        B ["o",1,"accumulate=True",["aa.1","bb.2"],["c2.3"]]
        A ["o",2,"",["c1.3","bb.2"],["d1.4"]]
        B ["o",2,"",["c2.3","bb.2"],["d2.4"]]
        A ["g","e1",["d1.4"]]
        B ["g","e2",["d2.4"]]
        ["d",0,{}]
        """),
    )
    (cause,) = found.causes
    assert (cause.kind, cause.op, cause.node, cause.module) == (
        "op",
        "aten::index_put",
        "IndexBackward0",
        "Net",
    )
    assert cause.arguments == {"accumulate": "True"}
    assert cause.reaches.steps() == {"gradients": 0}
    assert (cause.inherited, found.compared.inherited) == (1, 1)
    assert cause.certain
    assert found.first is not None
    assert (found.first.step, found.first.cause) == (0, 0)


def test_cached_inputs_leave_the_op_a_suspect(tmp_path: Path) -> None:
    text = table("""
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        """)
    (cause,) = compared(tmp_path, text, inputs="cached").causes
    assert not cause.certain


def test_two_sources_are_two_causes(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        A ["o",6,"",["aa.1"],["d1.4"]]
        B ["o",6,"",["aa.1"],["d2.4"]]
        A ["g","e1",["c1.3","d1.4"]]
        B ["g","e2",["c2.3","d2.4"]]
        """),
    )
    assert kinds(found) == ["op", "op"]


def test_the_same_op_in_every_step_is_one_cause(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        ["d",0,{}]
        A ["o",1,"",["aa.1"],["c3.4"]]
        B ["o",1,"",["aa.1"],["c4.4"]]
        ["d",1,{}]
        """),
    )
    (cause,) = found.causes
    assert (cause.count, cause.steps) == (2, [0, 1])


@pytest.mark.parametrize(
    ("letter", "kind"),
    [
        ("u", "uninitialised"),
        ("v", "uninitialised"),
        ("n", "outside-value"),
        ("x", "outside-write"),
        (".", "outside-write"),
    ],
)
def test_a_changed_input_is_not_the_readers_fault(tmp_path: Path, letter: str, kind: str) -> None:
    found = compared(
        tmp_path,
        table(f"""
        A ["o",6,"",["a1{letter}1"],["c1.3"]]
        B ["o",6,"",["a2{letter}1"],["c2.3"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        """),
    )
    assert kinds(found) == [kind]
    assert found.causes[0].argument == "float32[4]"


def test_unwritten_memory_says_where_it_was_made(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["o",5,"size=[4]",[],["-.7"]]
        A ["o",6,"",["a1u7"],["c1.3"]]
        B ["o",6,"",["a2u7"],["c2.3"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        """),
    )
    made = found.causes[0].made
    assert made is not None
    assert (made.file, made.line) == ("data.py", 31)


def test_a_write_past_the_trace_is_a_new_cause_in_a_tainted_storage(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        A ["o",6,"",["c3x3"],["d1.4"]]
        B ["o",6,"",["c4x3"],["d2.4"]]
        A ["g","e1",["c3.3","d1.4"]]
        B ["g","e2",["c4.3","d2.4"]]
        """),
    )
    assert kinds(found) == ["op", "outside-write"]


def test_what_is_overwritten_no_longer_differs(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        A ["o",2,"",["c1.3","bb.2"],["dd.3"]]
        B ["o",2,"",["c2.3","bb.2"],["dd.3"]]
        ["g","ee",["dd.3"]]
        """),
    )
    assert found.same
    assert found.compared.absorbed == 1
    assert [cause.op for cause in found.harmless] == ["aten::index_put"]


def test_a_partial_write_clears_nothing(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        ["o",6,"",["bb.2"],["dd+3"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        """),
    )
    assert [cause.op for cause in found.causes] == ["aten::index_put"]


def test_a_difference_that_reaches_nothing_is_harmless(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",6,"",["a1n9"],["c1.8"]]
        B ["o",6,"",["a2n9"],["c2.8"]]
        ["g","ee",["bb.2"]]
        ["p","ff",["bb.2"]]
        ["d",0,{}]
        """),
    )
    assert found.same
    assert [cause.kind for cause in found.harmless] == ["outside-value"]


def test_without_anything_learned_every_difference_counts(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",6,"",["aa.9"],["c1.8"]]
        B ["o",6,"",["aa.9"],["c2.8"]]
        ["d",0,{}]
        """),
    )
    assert kinds(found) == ["op"]


@pytest.mark.parametrize(
    ("drawn", "its", "kind"),
    [('[41,"a1"]', '[42,"a2"]', "seed"), ('[41,"a1"]', '[41,"a2"]', "generator")],
)
def test_other_random_numbers_are_a_matter_of_the_generator(
    tmp_path: Path, drawn: str, its: str, kind: str
) -> None:
    found = compared(
        tmp_path,
        table(f"""
        A ["o",3,"p=0.5",[],["c1.3"],{drawn}]
        B ["o",3,"p=0.5",[],["c2.3"],{its}]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        """),
    )
    (cause,) = found.causes
    assert (cause.kind, cause.module) == (kind, "Net.drop")
    assert (cause.a, cause.b) == ("41", "42" if kind == "seed" else "41")


def test_an_op_that_draws_without_a_seed_is_the_seeds_fault(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",3,"",[],["c1.3"],["not set","c1"]]
        B ["o",3,"",[],["c2.3"],["not set","c2"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        """),
    )
    (cause,) = found.causes
    assert (cause.kind, cause.a, cause.b) == ("seed", "not set", "not set")


def test_an_argument_that_differs_is_named_with_both_values(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",4,"lr=0.001, maximize=False",["aa.1","bb.2"],["c1.1"]]
        B ["o",4,"lr=0.002, maximize=False",["aa.1","bb.2"],["c2.1"]]
        A ["p","e1",["c1.1"]]
        B ["p","e2",["c2.1"]]
        """),
    )
    (cause,) = found.causes
    assert (cause.kind, cause.argument, cause.a, cause.b) == ("argument", "lr", "0.001", "0.002")
    assert cause.reaches.steps() == {"parameters": 0}


def test_an_argument_may_follow_from_a_value_that_was_read(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["S",7,"aten::_local_scalar_dense","","fwd","","",null,["float32[]"],"cpu"]
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        A ["o",7,"",["c1.3"],[]]
        B ["o",7,"",["c2.3"],[]]
        A ["v",7,"1.5"]
        B ["v",7,"1.6"]
        A ["o",4,"lr=0.001",["aa.1","bb.2"],["d1.1"]]
        B ["o",4,"lr=0.002",["aa.1","bb.2"],["d2.1"]]
        A ["p","e1",["d1.1"]]
        B ["p","e2",["d2.1"]]
        """),
    )
    assert kinds(found) == ["op", "argument"]
    assert found.causes[1].may_follow == [0]


def test_other_indices_are_another_order_and_the_sampler_drew_them(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",3,"",[],["c1.3"],[7,"a1"]]
        B ["o",3,"",[],["c2.3"],[8,"a2"]]
        A ["x",0,"f1"]
        B ["x",0,"f2"]
        A ["o",6,"",["a1.9"],["c1.8"]]
        B ["o",6,"",["a2.9"],["c2.8"]]
        A ["b",0,["c1.8"]]
        B ["b",0,["c2.8"]]
        A ["g","e1",["c1.8"]]
        B ["g","e2",["c2.8"]]
        """),
    )
    assert kinds(found) == ["seed", "data-order"]
    assert found.causes[1].may_follow == [0]
    assert found.causes[1].reaches.steps() == {"data": 0, "gradients": 0}


def test_equal_indices_and_another_batch_are_other_content(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["x",0,"ff"]
        A ["b",0,["c1n8"]]
        B ["b",0,["c2n8"]]
        A ["o",6,"",["c1.8"],["d1.9"]]
        B ["o",6,"",["c2.8"],["d2.9"]]
        A ["g","e1",["d1.9"]]
        B ["g","e2",["d2.9"]]
        """),
    )
    (cause,) = found.causes
    assert (cause.kind, cause.inherited) == ("data-content", 1)


def test_indices_that_were_picked_ahead_belong_to_their_own_batch(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["x",0,"f1"]
        A ["x",0,"f2"]
        B ["x",0,"f3"]
        ["b",0,["c1n8"]]
        A ["b",0,["c2n9"]]
        B ["b",0,["c3n9"]]
        """),
    )
    assert kinds(found) == ["data-order"]


def test_a_compiled_graph_is_one_cause_whatever_differs_inside(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["c","0 backward",["aa.1"]]
        A ["o",6,"",["a1.5"],["c1.6"]]
        B ["o",6,"",["a2.5"],["c2.6"]]
        A ["e","0 backward",["d1.7"]]
        B ["e","0 backward",["d2.7"]]
        A ["g","e1",["d1.7"]]
        B ["g","e2",["d2.7"]]
        """),
    )
    (cause,) = found.causes
    assert (cause.kind, cause.argument) == ("compiled", "0 backward")


@pytest.mark.parametrize(("given", "certain"), [("aa.1", True), ("-", False)])
def test_a_graph_that_got_what_has_no_digest_is_no_certain_cause(
    tmp_path: Path, given: str, certain: bool
) -> None:
    found = compared(
        tmp_path,
        table(f"""
        ["c","0",["{given}","bb.2"]]
        A ["e","0",["d1.7"]]
        B ["e","0",["d2.7"]]
        A ["g","e1",["d1.7"]]
        B ["g","e2",["d2.7"]]
        """),
    )
    (cause,) = found.causes
    assert (cause.kind, cause.certain) == ("compiled", certain)
    assert bool(cause.hints) is not certain


def test_an_op_that_got_what_has_no_digest_is_no_certain_cause(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",2,"",["-","bb.2"],["c1.3"]]
        B ["o",2,"",["-","bb.2"],["c2.3"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        """),
    )
    assert [(cause.kind, cause.certain) for cause in found.causes] == [("op", False)]


def test_a_graph_that_got_other_inputs_inherits(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        A ["c","0",["c1.3"]]
        B ["c","0",["c2.3"]]
        A ["e","0",["d1.7"]]
        B ["e","0",["d2.7"]]
        A ["g","e1",["d1.7"]]
        B ["g","e2",["d2.7"]]
        """),
    )
    assert [cause.op for cause in found.causes] == ["aten::index_put"]


def test_a_fork_is_a_difference_where_nothing_learned_differs(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["o",2,"",["aa.1","bb.2"],["cc.3"]]
        B ["o",6,"",["aa.1"],["dd.4"]]
        ["o",1,"",["cc.3"],["ee.5"]]
        ["g","ff",["ee.5"]]
        ["d",0,{}]
        """),
    )
    assert kinds(found) == ["structure"]
    (fork,) = found.forks
    assert fork.a is not None
    assert fork.b is not None
    assert (fork.a.text, fork.b.text) == ("index_put (train.py:6)", "exp (train.py:9)")


def test_after_a_fork_differences_are_its_fault(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        B ["o",6,"",["aa.1"],["dd.4"]]
        A ["o",2,"",["a1.1","bb.2"],["c1.3"]]
        B ["o",2,"",["a2.1","bb.2"],["c2.3"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        ["d",0,{}]
        """),
    )
    assert kinds(found) == ["structure"]


def test_states_that_nothing_explains_are_never_the_same(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        ["o",2,"",["aa.1","bb.2"],["cc.3"]]
        A ["g","e1",["c1.9"]]
        B ["g","e2",["c2.9"]]
        """),
    )
    assert kinds(found) == ["state"]
    assert found.causes[0].reaches.steps() == {"gradients": 0}


def test_at_step_level_the_first_state_that_differs_is_named(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        """
        ["l",["aa"]]
        ["g","ee",[]]
        ["p","ff",[]]
        ["d",0,{"torch":"aa"}]
        ["l",["aa"]]
        A ["g","e1",[]]
        B ["g","e2",[]]
        A ["p","f1",[]]
        B ["p","f2",[]]
        ["d",1,{"torch":"ab"}]
        """,
        level="step",
    )
    (cause,) = found.causes
    assert (cause.kind, cause.step, cause.argument) == ("state", 1, "gradients")
    assert cause.reaches.steps() == {"gradients": 1, "parameters": 1}


def test_at_step_level_a_generator_is_offered_as_the_reason(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        """
        A ["g","e1",[]]
        B ["g","e2",[]]
        A ["d",0,{"torch":"a1","python":"b1"}]
        B ["d",0,{"torch":"a2","python":"b2"}]
        """,
        level="step",
    )
    assert sorted(kinds(found)) == ["generator", "state"]
    state = next(cause for cause in found.causes if cause.kind == "state")
    assert [found.causes[number].argument for number in state.may_follow] == ["torch"]


def test_pythons_generator_counts_once_it_was_equal(tmp_path: Path) -> None:
    text = """
        ["d",0,{"python":"aa"}]
        A ["d",1,{"python":"b1"}]
        B ["d",1,{"python":"b2"}]
        """
    found = compared(tmp_path, text, level="step")
    assert found.same
    assert [(cause.kind, cause.argument) for cause in found.harmless] == [("generator", "python")]


def test_a_module_that_differs_first_is_named(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        """
        ["M",0,"Net.conv"]
        ["M",1,"Net"]
        A ["m",0,["c1.3"]]
        B ["m",0,["c2.3"]]
        A ["m",1,["d1.4"]]
        B ["m",1,["d2.4"]]
        """,
        level="module",
    )
    (cause,) = found.causes
    assert (cause.kind, cause.module, cause.reaches.steps()) == (
        "state",
        "Net.conv",
        {"outputs": 0},
    )


def test_settings_that_differ_come_first_and_make_ops_uncertain(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A {"threads": 1}
        B {"threads": 8}
        """).replace(SITES, "")
        + SITES
        + """
        A ["o",2,"",["aa.1","bb.2"],["c1.3"]]
        B ["o",2,"",["aa.1","bb.2"],["c2.3"]]
        A ["g","e1",["c1.3"]]
        B ["g","e2",["c2.3"]]
        """,
    )
    assert kinds(found) == ["settings", "op"]
    assert not found.causes[1].certain
    (setting,) = found.settings
    assert (setting.name, setting.a, setting.b) == ("threads", "1", "8")


def test_settings_that_change_on_the_way_count_too(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        """
        A ["t",{"torch.use_deterministic_algorithms":true},8]
        B ["t",{"torch.use_deterministic_algorithms":false},8]
        A ["g","e1",[]]
        B ["g","e2",[]]
        """,
        level="step",
    )
    assert kinds(found) == ["settings", "state"]
    assert found.settings[0].step == 0


OP_DIFFERS = """
    A ["o",2,"",["aa.1","bb.2"],["c1.3"]]
    B ["o",2,"",["aa.1","bb.2"],["c2.3"]]
    A ["g","e1",["c1.3"]]
    B ["g","e2",["c2.3"]]
    """
ONE_RUN_SWITCHES = 'B ["t",{"torch.use_deterministic_algorithms":true},8]\n'


def test_a_setting_that_one_run_changes_is_named_with_its_step_ahead_of_the_ops(
    tmp_path: Path,
) -> None:
    text = '["d",0,{}]' + OP_DIFFERS + ONE_RUN_SWITCHES + '["d",1,{}]'
    found = compared(tmp_path, SITES + text)
    assert kinds(found) == ["settings", "op"]
    assert found.forks == []
    (setting,) = found.settings
    assert (setting.a, setting.b, setting.step) == ("False", "True", 1)
    first, op = found.causes
    assert (first.step, first.reaches.gradients) == (1, 1)
    assert not op.certain
    assert op.may_follow == [0]


def test_what_differed_before_a_setting_did_is_not_expected_of_it(tmp_path: Path) -> None:
    later = OP_DIFFERS.replace('"o",2', '"o",6').replace("c1", "d1").replace("c2", "d2")
    text = OP_DIFFERS + '["d",0,{}]' + later + ONE_RUN_SWITCHES + '["d",1,{}]'
    found = compared(tmp_path, SITES + text)
    assert kinds(found) == ["op", "settings", "op"]
    assert [cause.certain for cause in found.causes] == [True, True, False]
    assert found.causes[2].may_follow == [1]


def test_a_setting_that_nothing_followed_is_no_cause(tmp_path: Path) -> None:
    text = OP_DIFFERS + '["d",0,{}]\n' + ONE_RUN_SWITCHES + '["d",1,{}]'
    found = compared(tmp_path, SITES + text)
    assert kinds(found) == ["op"]
    assert found.causes[0].certain
    assert [setting.step for setting in found.settings] == [1]


def test_a_setting_that_one_run_changes_back_is_one_difference(tmp_path: Path) -> None:
    back = ONE_RUN_SWITCHES.replace("true", "false")
    text = ONE_RUN_SWITCHES + '["d",0,{}]\n["d",1,{}]\n' + back + '["d",2,{}]'
    found = compared(tmp_path, text, level="step")
    assert [(setting.a, setting.b, setting.step) for setting in found.settings] == [
        ("False", "True", 0)
    ]


def test_a_run_that_resumes_is_compared_with_the_step_that_it_continues(tmp_path: Path) -> None:
    whole = """
        ["i","a0",[]]
        ["p","a1",[]]
        ["d",0,{}]
        ["o",3,"",[],["c1.3"],[0,"a1"]]
        ["g","e1",["c1.3"]]
        ["p","a2",["d1.4"]]
        ["d",1,{}]
        """
    resumed = """
        ["o",2,"",["aa.1","bb.2"],["cc.5"]]
        ["o",3,"",[],["c2.3"],[0,"a0"]]
        ["i","a1",[]]
        ["g","e2",["c2.3"]]
        ["p","a3",["d2.4"]]
        ["d",0,{}]
        """
    sides = [("A", whole), ("B", resumed)]
    lines = [f"{run} {line.strip()}" for run, text in sides for line in text.strip().splitlines()]
    found = compared(tmp_path, SITES + "\n".join(lines))
    assert found.notes == ["The second run goes on where step 0 of the first ended."]
    assert found.forks == []
    assert kinds(found) == ["generator"]


def test_steps_that_are_named_are_compared_with_each_other(tmp_path: Path) -> None:
    text = """
        A ["g","e0",[]]
        A ["d",0,{}]
        ["g","e1",[]]
        A ["d",1,{}]
        B ["d",0,{}]
        """
    assert not compared(tmp_path / "in-order", text, level="step").same
    assert compared(tmp_path / "aligned", text, Wanted(steps=(1, 0)), level="step").same


def test_what_was_touched_of_late_is_followed_in_a_long_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "MOST", 3)
    taints = memory.TaintMap()
    for storage in range(10):
        taints.put(storage, [0])
        taints.put(100, [1])
        taints.step_ends()
    assert taints.of(100) == {1}
    assert taints.of(9) == {0}
    assert taints.of(0) == set()


def test_of_some_modules_alone_nothing_from_outside_is_blamed(tmp_path: Path) -> None:
    text = table("""
        A ["o",1,"",["aa.1","bb.2"],["c1.3"]]
        B ["o",1,"",["aa.1","bb.2"],["c2.3"]]
        A ["o",6,"",["a1n7"],["d1.4"]]
        B ["o",6,"",["a2n7"],["d2.4"]]
        A ["g","e1",["d1.4"]]
        B ["g","e2",["d2.4"]]
        """)
    assert kinds(compared(tmp_path / "all", text)) == ["outside-value"]
    (cause,) = compared(tmp_path / "some", text, modules=["Net.body"]).causes
    assert (cause.kind, cause.reaches.steps()) == ("op", {"gradients": 0})


def test_what_reached_a_recorded_module_is_a_state_without_a_reason(tmp_path: Path) -> None:
    text = table("""
        A ["o",6,"",["a1n7"],["d1.4"]]
        B ["o",6,"",["a2n7"],["d2.4"]]
        A ["g","e1",["d1.4"]]
        B ["g","e2",["d2.4"]]
        """)
    assert kinds(compared(tmp_path, text, modules=["Net.body"])) == ["state"]


def test_the_first_parameter_whose_gradient_differs_is_named(tmp_path: Path) -> None:
    text = """
    ["P",["Net.weight","Net.table.rows","Net.bias"]]
    A ["g","e1",["aa","b1","c1"]]
    B ["g","e2",["aa","b2","c2"]]
    ["d",0,{}]
    """
    (cause,) = compared(tmp_path, text, level="module").causes
    assert (cause.kind, cause.argument, cause.parameter) == (
        "state",
        "gradients",
        "Net.table.rows",
    )


def test_what_only_one_run_could_not_see_is_no_other_way(tmp_path: Path) -> None:
    found = compared(
        tmp_path, table('B ["u","thread"]\n["o",2,"",["aa.1","bb.2"],["cc.3"]]\n["d",0,{}]')
    )
    assert found.same
    assert found.compared.forks == 0
    assert [unseen.what for unseen in found.unseen] == ["thread"]


def test_the_same_tensors_in_another_order_are_called_that(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",2,"",["aa.1","bb.2"],["cc.3"]]
        B ["o",2,"",["bb.1","aa.2"],["dd.3"]]
        A ["l",["cc.3"]]
        B ["l",["dd.3"]]
        """),
    )
    assert kinds(found) == ["order"]


def test_tensors_of_other_shapes_in_another_order_are_no_other_program(tmp_path: Path) -> None:
    site = (
        '["S",7,"aten::stack","","fwd","","",["train.py",9,"clip"],["int64[4]","int64[{}]"],"cpu"]'
    )
    found = compared(
        tmp_path,
        f"""
        A {site.format(5)}
        B {site.format(6)}
        A ["o",7,"",["aa.1","bb.2"],["cc.3"]]
        B ["o",7,"",["bb.1","aa.2"],["dd.3"]]
        A ["l",["cc.3"]]
        B ["l",["dd.3"]]
        """,
    )
    assert kinds(found) == ["order"]
    assert found.causes[0].source is not None
    assert found.causes[0].source.line == 9


def test_a_second_argument_that_differs_is_a_cause_beside_the_first(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["o",2,"eps=1e-05",["aa.1","bb.2"],["c1.3"]]
        B ["o",2,"eps=1e-06",["aa.1","bb.2"],["c2.3"]]
        A ["o",6,"approximate=none",["c1.3"],["d1.4"]]
        B ["o",6,"approximate=tanh",["c2.3"],["d2.4"]]
        A ["l",["d1.4"]]
        B ["l",["d2.4"]]
        """),
    )
    assert [(cause.kind, cause.argument) for cause in found.causes] == [
        ("argument", "eps"),
        ("argument", "approximate"),
    ]


def test_a_learning_rate_is_called_a_learning_rate(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        table("""
        A ["t",{"learning rate of SGD":"0.1"},8]
        B ["t",{"learning rate of SGD":"0.2"},8]
        ["g","ee",["ab.9"]]
        A ["o",4,"alpha=-0.1",["aa.1","bb.2"],["c1.1"]]
        B ["o",4,"alpha=-0.2",["aa.1","bb.2"],["c2.1"]]
        A ["p","e1",["c1.1"]]
        B ["p","e2",["c2.1"]]
        """),
    )
    (cause,) = found.causes
    assert (cause.argument, cause.a, cause.b) == ("learning rate of SGD", "0.1", "0.2")
    assert cause.source is not None
    assert cause.source.line == 20


def test_a_surplus_draw_is_named_with_its_line(tmp_path: Path) -> None:
    lines = '["train.py",9,"preview"],[],"cpu",[["train.py",30,"main"]]'
    site = f'["S",7,"aten::randn","","fwd","","",{lines}]'
    found = compared(
        tmp_path,
        table(f"""
        {site}
        B ["o",7,"",[],["c3.5"],[0,"a1"]]
        A ["o",3,"",[],["c1.3"],[0,"a1"]]
        B ["o",3,"",[],["c2.3"],[0,"a2"]]
        A ["l",["c1.3"]]
        B ["l",["c2.3"]]
        ["d",0,{{}}]
        """),
    )
    said = sentences.sentence(found, found.causes[0])
    assert said == (
        "Run B draws random numbers with randn (train.py:9, called from train.py:30), run A does "
        "not."
    )


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('{{"versions":{{"timm":"{}"}}}}', "timm"),
        ('{{"cpu":"Model {}"}}', "CPU"),
        ('{{"instructions":"AVX{}"}}', "instruction set"),
        ('{{"env":{{"ATEN_CPU_CAPABILITY":"{}"}}}}', "ATEN_CPU_CAPABILITY"),
    ],
)
def test_another_version_machine_or_variable_is_named_first(
    tmp_path: Path, header: str, name: str
) -> None:
    found = compared(
        tmp_path,
        f"""
        A {header.format(1)}
        B {header.format(2)}
        {SITES}
        A ["o",1,"",["aa.1"],["c1.3"]]
        B ["o",1,"",["aa.1"],["c2.3"]]
        A ["l",["c1.3"]]
        B ["l",["c2.3"]]
        """,
    )
    assert kinds(found) == ["settings", "op"]
    assert found.causes[0].argument == name


@pytest.mark.parametrize(
    ("lines", "lacks"),
    [
        ('["g","e1",[]]\nA ["p","a2",[]]\nB ["p","a3",[]]\n["d",{},{{}}]', ["the optimizer"]),
        (
            'A ["t",{{"learning rate of SGD":"0.1"}},8]\nB ["t",{{"learning rate of SGD":"0.2"}},8]'
            '\n["g","e1",[]]\nA ["p","a2",[]]\nB ["p","a3",[]]\n["d",{},{{}}]',
            ["the scheduler"],
        ),
        (
            'A ["g","e1",[]]\nB ["g","e2",[]]\nA ["p","a2",[]]\nB ["p","a3",[]]\n'
            'A ["d",1,{{"torch":"a1"}}]\nB ["d",0,{{"torch":"a2"}}]',
            ["PyTorch's generator"],
        ),
        ('["g","e1",[]]\n["p","a2",[]]\n["d",{},{{}}]', []),
    ],
)
def test_a_resumed_run_says_what_its_checkpoint_lacks(
    tmp_path: Path, lines: str, lacks: list[str]
) -> None:
    both: list[str] = []
    for line in lines.splitlines():
        sides = [line[0]] if line[:2] in ("A ", "B ") else ["A", "B"]
        text = line[2:] if line[:2] in ("A ", "B ") else line
        both += [f"{side} {text.format('1' if side == 'A' else '0')}" for side in sides]
    text = """
        A ["i","a0",[]]
        A ["p","a1",[]]
        A ["d",0,{}]
        B ["i","a1",[]]
        """ + "\n".join(both)
    found = compared(tmp_path, text, level="step")
    assert found.resumed_after == 0
    assert len(found.lacks) == len(lacks)
    assert all(what in said for what, said in zip(lacks, found.lacks))
