"""Statements that set something themselves, as calls: ``torch.manual_seed(7)``,
``torch.backends.cudnn.benchmark = False``, ``os.environ["NAME"] = "value"``.
"""

from __future__ import annotations

import re

from d9m.kb.store import KnowledgeBase
from d9m.model.op_syntax import split
from d9m.model.records import Helper, Setting, SettingChange

# Text, not compiled: few questions need them, and compiling is felt at the start.
_ENVIRON = r"""os\.environ\[["'](?P<name>\w+)["']\]\s*=\s*["'](?P<value>.*)["']"""
_CALL = r"(?s)(?P<name>[\w.]+)\s*\((?P<inside>.*)\)"
_ASSIGNMENT = r"(?s)(?P<name>[\w.]+)\s*=\s*(?P<inside>[^=].*)"
_IMPORT = r"import (?P<module>[\w.]+) as (?P<name>\w+)"


def helper_of(kb: KnowledgeBase, text: str) -> tuple[str, Helper] | None:
    """A statement as a helper that makes one setting, with the id of the setting; None for a
    statement of anything else.
    """
    written = text.strip()
    found = _in_environ(kb, written) or _in_program(kb, written)
    if found is None:
        return None
    setting, value = found
    is_left_out = value == "None" and value not in setting.accepts
    turn = SettingChange(set=setting.name, to=[] if value is None else [value])
    helper = Helper(
        title=setting.name,
        call=written,
        summary=setting.summary,
        when=setting.when,
        sets=[] if is_left_out else [turn],
        overwrites=[setting.name],
        evidence=setting.evidence,
    )
    return kb.setting_ids[setting.name], helper


def _in_environ(kb: KnowledgeBase, written: str) -> tuple[Setting, str] | None:
    assigned = re.fullmatch(_ENVIRON, written)
    setting = kb.settings.get(assigned["name"]) if assigned else None
    if assigned is None or setting is None or setting.kind != "env":
        return None
    return setting, assigned["value"]


def _in_program(kb: KnowledgeBase, written: str) -> tuple[Setting, str | None] | None:
    """The setting that a statement makes, and its value; None where it is not said."""
    for form in (_CALL, _ASSIGNMENT):
        given = re.fullmatch(form, written)
        name = given["name"] if given is not None else written
        for setting in kb.settings.values():
            known = re.fullmatch(form, setting.statement or "")
            if known is None or not _is_named(setting, known["name"], name.lower()):
                continue
            if given is None:
                return setting, None
            value = _value(known["inside"], given["inside"])
            if value is not None:
                return setting, value or None
    return None


def _is_named(setting: Setting, name: str, given: str) -> bool:
    """Whether a dotted name is the one of a statement (``np.random.seed``, ``numpy.random.seed``)
    or its last part, if that is more than a word that many modules have (``seed``).
    """
    names = {setting.name, name}
    for line in setting.imports:
        renamed = re.fullmatch(_IMPORT, line)
        if renamed is not None and name.startswith(f"{renamed['name']}."):
            names.add(name.replace(renamed["name"], renamed["module"], 1))
    ends = {spelling.rpartition(".")[2] for spelling in names}
    return given in {spelling.lower() for spelling in names} or ("_" in given and given in ends)


def _value(known: str, given: str) -> str | None:
    """Return the value in a statement, empty where it has none; None where the rest
    differs.
    """
    template, arguments = split(known), split(given)
    if len(template) > 1 and arguments[: len(template) - 1] != template[:-1]:
        return None
    if not template or "{value}" not in template[-1]:
        return "" if arguments == template else None
    if not arguments:
        return "None"
    if len(arguments) < len(template):
        return None
    return arguments[len(template) - 1].rpartition("=")[2].strip()
