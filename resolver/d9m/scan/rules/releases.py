"""Releases: does the stated one have what the project uses, and does it give right results?"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.resolve.merge import line
from d9m.scan.facts import WITHOUT_EFFECT, EnvironmentWrite
from d9m.scan.project.effects import Effect
from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection, ScanRule, because_of
from d9m.scan.surroundings.surrounding import ScanEnvironment, StatedVersion


def _check_release(project: Project) -> Iterator[Objection]:
    for path, made in project.effects.items():
        for effect in made:
            setting = project.kb.settings.get(effect.setting)
            left_out = effect.guarded or effect.helper or effect.value in ("False", "0")
            is_call = setting is not None and setting.kind == "python" and not left_out
            said = None if not is_call else _lacking(project, path, effect.setting)
            if said is not None:
                home = project.home(effect.setting)
                yield Objection(
                    path=path,
                    place=effect.place,
                    message=f"{home} {said.version} ({said.said_in}) has no {effect.setting}.",
                    workaround=_successor(project, path, effect),
                    because=because_of(project, effect.setting, "releases"),
                )
    for path, write, setting in project.known_writes():
        said = None if setting.effect == "never" else _lacking(project, path, write.name)
        if said is not None and said.how in ("given", "pinned"):
            home = project.home(write.name)
            yield Objection(
                path=path,
                place=write.place,
                message=f"{home} {said.version} ({said.said_in}) does not read {write.name}.",
                workaround=_in_place_of(project, path, write, home),
                because=because_of(project, write.name, "releases"),
            )
    yield from _unknown_ops(project)


def _unknown_ops(project: Project) -> Iterator[Objection]:
    """Ops that the records know in other releases than the one that is stated."""
    for path, facts in project.python.items():
        for call in facts.calls:
            package = project.vocabulary.package(call.name)
            if package is None or call.guarded or not project.vocabulary.is_op(call.name):
                continue
            said = project.around(path).packages.get(package)
            if said is None or said.how not in ("given", "pinned") or said.others:
                continue
            stack = project.questions.world(project.around(path), (package,))
            answer = project.questions.op(stack, call.name)
            if answer is not None and answer.outcome == "unknown" and answer.note:
                yield Objection(
                    path=path,
                    place=call.place,
                    message=f"{call.name} {answer.note} ({said.said_in}).",
                    workaround=f"check which {package} runs this",
                )


def _in_place_of(project: Project, path: str, write: EnvironmentWrite, package: str) -> str:
    """Return the setting of the stated release that replaces a variable of other releases."""
    stack = project.questions.world(project.around(path), (package,))
    for solution in project.kb.solutions.values():
        turns = [turn for turn in solution.settings if turn.set and turn.to and turn.when]
        values = [turn.to for turn in turns if turn.set == write.name]
        for turn in turns:
            if turn.to in values and project.questions.holds(stack, turn.condition):
                setting, value = project.kb.settings[turn.name], write.value or "VALUE"
                written = f"{turn.name}={value}" if setting.kind == "env" else line(setting, value)
                if written is not None and turn.name != write.name:
                    return written
    return f"remove it, or use another release of {package}"


def _lacking(project: Project, path: str, name: str) -> StatedVersion | None:
    """The stated release of a setting's package, if no release that is allowed has it, and no
    other one that is stated.
    """
    home = project.kb.meta.folders.get(project.kb.setting_ids[name].partition("/")[0])
    said = project.around(path).packages.get(home or "")
    if home is None or said is None or said.version is None or not said.is_stated:
        return None
    for around, oldest in _meant(project, path, home, said):
        stack = project.questions.world(around, (home,), oldest)
        has_it = project.questions.holds(stack, project.kb.settings[name].condition)
        if project.questions.environment(stack) is None or has_it:
            return None
    return said


def _meant(
    project: Project, path: str, package: str, said: StatedVersion
) -> Iterator[tuple[ScanEnvironment, bool]]:
    """The surroundings that a file may have, as to the release of one package, and whether the
    oldest of its range is meant. Where the files of one folder do not agree on a release, those
    of other folders may be meant as well.
    """
    around = project.around(path)
    yield from ((around, False), (around, True))
    releases = set(said.others)
    for elsewhere in project.surroundings() if releases else ():
        stated = elsewhere.packages.get(package)
        if stated is not None and stated.is_stated and stated.version is not None:
            releases.update((stated.version, *stated.others))
    for version in sorted(releases):
        other = msgspec.structs.replace(said, version=version, oldest=None, others=())
        packages = {**around.packages, package: other}
        yield msgspec.structs.replace(around, packages=packages, container=None), False


def _successor(project: Project, path: str, effect: Effect) -> str:
    """Return the replacement in the stated release: the same switch, or a seed of the same
    generator; else whether a newer release has it.
    """
    home = project.home(effect.setting)
    stack = project.questions.world(project.around(path), (home,))
    same: list[tuple[str, str]] = []
    if effect.setting in project.knowledge.switches:
        for turn in project.knowledge.switches[effect.setting].settings:
            if project.questions.holds(stack, turn.condition):
                same.append((turn.name, turn.to[0] if turn.to else ""))
    for generator in project.knowledge.generators:
        if effect.setting in generator.settings:
            statements = project.vocabulary.statements
            same += [
                (statements[name], "seed") for name in generator.marks.seeds if name in statements
            ]
    for name, value in same:
        setting = project.kb.settings[name]
        is_here = project.home(name) == home and project.questions.holds(stack, setting.condition)
        if setting.kind == "python" and is_here and setting.statement is not None:
            return setting.statement.replace("{value}", value)
    newest = project.questions.world(ScanEnvironment(""), (home,))
    has_it = project.questions.holds(newest, project.kb.settings[effect.setting].condition)
    return "upgrade, or remove it" if has_it else "remove it"


WRONG_RELEASE = ScanRule(
    code="wrong-release",
    family="settings",
    severity="error",
    title="Something that the stated release does not have",
    why="""A call that the release lacks stops the program with an AttributeError; a variable
    that it does not read is silently ignored.""",
    silent="""No release is stated; an allowed release has it; files for the same folder state
    different releases, such as two Dockerfiles, and any release that the project states has it; or
    the call is under hasattr, try, or a version check.""",
    bad="import torch\n\ntorch.set_deterministic(True)\n",
    good="import torch\n\ntorch.use_deterministic_algorithms(True)\n",
    check=_check_release,
)


def _check_forbidden(project: Project) -> Iterator[Objection]:
    for path, write, setting in project.known_writes():
        if not write.value or write.how in WITHOUT_EFFECT:
            continue
        stack = project.world(path, project.packages_around(path))
        usual = msgspec.structs.replace(stack, device=ScanEnvironment("").device)
        for one in (usual, stack):  # packages for a CPU are those of one machine
            judged = project.questions.judged(one, write.name, write.value)
            why = next((each.why for each in judged if each.status == "forbidden"), None)
            if why is None:
                break
        else:
            what = "it from " if setting.list_ is not None else ""
            yield Objection(
                path=path,
                place=write.place,
                message=why or "",
                workaround=f"remove {what}{write.name}",
                because=because_of(project, write.name, "forbidden"),
            )


FORBIDDEN_SETTING = ScanRule(
    code="forbidden-setting",
    family="settings",
    severity="error",
    title="A setting that gives wrong results in the stated release",
    why="""A few settings that promise determinism give wrong values in some releases. The
    records name those releases, and what to set instead.""",
    silent="""The value is not written in the file, or the stated release is not affected. That the
    files state packages for another device than CUDA is not enough.""",
    bad=(
        'import os\n\nos.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"\n\nimport jax\n'
    ),
    good='import os\n\nos.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"\n\nimport jax\n',
    check=_check_forbidden,
)

RULES = (WRONG_RELEASE, FORBIDDEN_SETTING)
