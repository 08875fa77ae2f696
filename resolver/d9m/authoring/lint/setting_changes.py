"""Settings, and the turning of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9m.authoring.lint.conditions import did_you_mean
from d9m.authoring.lint.index import RecordIndex, readable
from d9m.authoring.lint.rule import Finding, rule
from d9m.authoring.lint.worlds import possible
from d9m.kb.soundness import is_setting_name
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records
from d9m.model.when import When
from d9m.resolve import values


def _turns(
    index: RecordIndex,
) -> Iterator[tuple[Loaded, Path, records.SettingChange, records.Setting | None]]:
    """Every turn of a setting, with the setting's record if there is one."""
    for at, path, turn in index.parts(records.SettingChange):
        loaded = index.settings.get(turn.name)
        yield at, path, turn, loaded.record if loaded else None


@rule(
    "turn-form",
    "Setting both set and unset, or neither",
    """One turn does one thing: it `set`s a setting to one of the values under `to`, or it
    `unset`s a setting, which then has no value.""",
)
def turn_form(index: RecordIndex) -> Iterator[Finding]:
    for at, path, turn, _setting in _turns(index):
        if (turn.set is None) == (turn.unset is None):
            message = "neither sets nor unsets a setting" if turn.set is None else "sets and unsets"
            yield Finding(at, path, message, allowed="exactly one of set, unset")
        elif turn.unset is not None and turn.to:
            yield Finding(
                at,
                (*path, "to"),
                "an unset setting has no value",
                ", ".join(turn.to),
                tip="drop to",
            )


@rule(
    "turn-value",
    "Value missing, or with no place to go",
    """A variable, a configuration key or an installed package needs a value; so does a Python
    statement that has {value} in it, and one that has none would drop the value silently. Only
    flags and code edits do without.""",
)
def turn_value(index: RecordIndex) -> Iterator[Finding]:
    for at, path, turn, setting in _turns(index):
        if setting is None or turn.set is None:
            continue
        has_place = "{value}" in (setting.statement or "")
        needed = (
            setting.kind in ("env", "config", "install")
            or setting.list_ is not None
            or has_place
            or turn.any_value
        )
        if needed and not turn.to:
            yield Finding(
                at,
                path,
                f"{turn.set} needs a value",
                turn.set,
                tip="add to: the accepted values, best first",
            )
        if setting.kind == "python" and turn.to and not has_place:
            tip = "put {value} into the statement, or drop to"
            yield Finding(
                at,
                (*path, "to"),
                f"the statement of {turn.set} has no {{value}}",
                ", ".join(turn.to),
                tip=tip,
            )


@rule(
    "value-not-accepted",
    "Value that the setting does not take",
    """Where a setting lists all the values that it takes, or those that undo it, or has a type,
    whoever turns it stays within: a value outside is ignored by most programs, and the run is
    nondeterministic without a word.""",
)
def value_not_accepted(index: RecordIndex) -> Iterator[Finding]:
    for at, path, turn, setting in _turns(index):
        for place, value in enumerate(turn.to if setting else []):
            if setting is not None and not _is_accepted(setting, value):
                allowed = ", ".join(setting.accepts) or setting.value_type
                tip = did_you_mean(value, setting.accepts)
                yield Finding(
                    at,
                    (*path, "to", place),
                    f"{setting.name} does not take this value",
                    value,
                    allowed,
                    tip,
                )


def _is_accepted(setting: records.Setting, value: str) -> bool:
    if setting.value_type == "boolean" and value not in ("true", "false"):
        return False
    return value not in setting.refuses and values.fault(setting, value) is None


@rule(
    "setting-form",
    "Setting that cannot be turned as written",
    """A Python setting needs the statement that turns it, and it must be Python; a code edit says
    where to make it. What only another kind of setting has (`where` of an edit, a separator on an
    installed package) is a sign of the wrong kind.""",
)
def setting_form(index: RecordIndex) -> Iterator[Finding]:
    for at, path, setting in index.parts(records.Setting):
        if setting.kind == "python" and setting.statement is None and setting.effect == "always":
            yield Finding(
                at, path, "a Python setting without a statement", setting.name, tip="add statement"
            )
        if setting.kind == "code" and setting.where is None:
            yield Finding(
                at, path, "an edit without a place", setting.name, tip="add where: the call to edit"
            )
        if setting.kind != "code" and setting.where is not None:
            yield Finding(
                at,
                (*path, "where"),
                f"only a code edit has a place, not {setting.kind}",
                setting.where,
            )
        if setting.list_ is not None and setting.kind not in ("env", "flag"):
            yield Finding(
                at, (*path, "list"), f"{setting.kind} is not a list variable", setting.name
            )
        for field, text in (
            ("statement", setting.statement),
            *(("imports", each) for each in setting.imports),
        ):
            fault = _syntax_fault(text) if text is not None and setting.kind == "python" else None
            if fault is not None:
                yield Finding(at, (*path, field), f"not Python: {fault}", text or "")


def _syntax_fault(text: str) -> str | None:
    try:
        ast.parse(text.replace("{value}", "0"))
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None


@rule(
    "setting-name",
    "Name that such a setting cannot have",
    """The name of a setting is printed into shell scripts, Dockerfiles and programs that people run
    unread, and unlike a value it cannot be quoted there. A variable has letters, digits and
    underscores; a flag begins with a dash; and no name holds what a shell would obey.""",
)
def setting_name(index: RecordIndex) -> Iterator[Finding]:
    for at, path, setting in index.parts(records.Setting):
        if not is_setting_name(setting):
            yield Finding(
                at,
                (*path, "name"),
                f"not the name of a setting of kind {setting.kind}",
                setting.name,
            )


@rule(
    "no-effect",
    "Setting that does nothing there",
    """What is advised must act. A setting whose record says `effect: never` is a name in use
    that nothing reads; one whose `when` excludes the releases of the turn is read elsewhere only.
    People set such settings for years and believe themselves safe.""",
)
def no_effect(index: RecordIndex) -> Iterator[Finding]:
    for at, path, turn, setting in _turns(index):
        if setting is None or "sets" in path:
            continue
        here = (*path, "set" if turn.set is not None else "unset")
        if setting.effect == "never":
            tip = f"turn {setting.instead}" if setting.instead else "drop it"
            yield Finding(at, here, "nothing reads this setting", setting.name, tip=tip)
        elif not possible(index, [*_around(at), turn.when, setting.when]):
            yield Finding(
                at,
                here,
                "is not read where this turns it",
                setting.name,
                tip="see the setting's own `when`",
            )


def _around(at: Loaded) -> list[When]:
    """The condition of the whole record."""
    when: When | None = getattr(at.record, "when", None)
    return [] if when is None else [when]


@rule(
    "unpinned-install",
    "Package to install without an exact version",
    """Advice that installs "the newest" is another advice tomorrow: tensorflow-determinism 0.4.0
    has no code in it at all. Each install names one exact version.""",
)
def unpinned_install(index: RecordIndex) -> Iterator[Finding]:
    for at, path, turn, setting in _turns(index):
        for place, value in enumerate(
            turn.to if setting is not None and setting.kind == "install" else []
        ):
            if readable(value) is None:
                yield Finding(
                    at,
                    (*path, "to", place),
                    "not one exact version",
                    value,
                    tip='a number such as "0.3.0"',
                )
    for at, path, example in index.parts(records.Example):
        for requirement in _installed(example.code):
            tip = f"write {requirement.split('=')[0]}==VERSION"
            yield Finding(at, (*path, "code"), "installs no exact version", requirement, tip=tip)


_INSTALL = re.compile(r"\bpip3? install\b([^\n;&|#]*)")


def _installed(code: str) -> Iterator[str]:
    """Requirements of `pip install` lines that are not pinned."""
    for line in _INSTALL.findall(code):
        for word in line.split():
            bare = word.strip("'\"")
            if (
                bare
                and not bare.startswith(("-", ".", "/"))
                and "==" not in bare
                and "@" not in bare
            ):
                yield bare


@rule(
    "overwrites-unset",
    "Helper overwrites what it does not set",
    """`overwrites` lists those settings of a helper that replace what the user has set; a setting
    that the helper never turns cannot be among them. Such a name is a slip of the pen, and the
    answer would warn of the wrong setting.""",
)
def overwrites_unset(index: RecordIndex) -> Iterator[Finding]:
    for at, path, helper in index.parts(records.Helper):
        turned = [turn.name for turn in helper.sets]
        for place, name in enumerate(helper.overwrites):
            if name not in turned:
                tip = did_you_mean(name, turned)
                yield Finding(
                    at,
                    (*path, "overwrites", place),
                    "not among `sets`",
                    name,
                    ", ".join(turned),
                    tip,
                )


RULES = (
    turn_form,
    turn_value,
    value_not_accepted,
    setting_form,
    setting_name,
    no_effect,
    unpinned_install,
    overwrites_unset,
)
