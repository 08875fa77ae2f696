"""Releases: does the stated one have what the project uses, and does it give right results?"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.resolve.merge import line
from d9m.scan.facts import WITHOUT_EFFECT, EnvironmentWrite
from d9m.scan.finding import RelatedSpot
from d9m.scan.project.effects import Effect
from d9m.scan.project.project import Project
from d9m.scan.project.questions import PackageStack
from d9m.scan.rules.devices import ASSUMED
from d9m.scan.rules.program_seeds import seed_call
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of, switches_on
from d9m.scan.surroundings.surrounding import ScanEnvironment, StatedVersion


def _check_release(project: Project) -> Iterator[Objection]:
    for path, made in project.effects.items():
        for effect in made:
            setting = project.kb.settings.get(effect.setting)
            if setting is None or setting.kind != "python" or effect.helper is not None:
                continue
            if effect.guarded or effect.value in ("False", "0"):
                continue
            said = _lacking(project, path, effect.setting)
            if said is not None:
                home = project.kb.home(project.kb.setting_ids[effect.setting])
                yield Objection(
                    path=path,
                    place=effect.place,
                    message=f"{home} {said.version} ({said.said_in}) has no {effect.setting}.",
                    way_out=_successor(project, path, effect),
                    because=because_of(project, effect.setting, "releases"),
                )
    for path, write, setting in project.known_writes():
        if setting.effect == "never":
            continue
        said = _lacking(project, path, write.name)
        if said is not None and said.how in ("given", "pinned"):
            home = project.kb.home(project.kb.setting_ids[write.name])
            yield Objection(
                path=path,
                place=write.place,
                severity="warning",
                message=f"{home} {said.version} ({said.said_in}) does not read {write.name}.",
                way_out=_in_place_of(project, path, write, home),
                because=because_of(project, write.name, "releases"),
            )


def _in_place_of(project: Project, path: str, write: EnvironmentWrite, package: str) -> str:
    """What does the same in the stated release as a variable does in others."""
    stack = project.questions.world(project.around(path), (package,))
    for setting in project.knowledge.in_place_of(write.name):
        if not project.questions.holds(stack, setting.condition):
            continue
        value = write.value or "VALUE"
        if setting.kind == "env":
            return f"{setting.name}={value}"
        written = line(setting, value)
        if written is not None:
            return written
    return f"remove it, or use another release of {package}"


def _lacking(project: Project, path: str, name: str) -> StatedVersion | None:
    """The stated release of a setting's package, if no release that is allowed has it, and no
    other one that is stated.
    """
    id_ = project.kb.setting_ids[name]
    home = project.kb.meta.folders.get(id_.partition("/")[0])
    said = project.around(path).packages.get(home) if home is not None else None
    if home is None or said is None or said.version is None or not said.is_stated:
        return None
    setting = project.kb.settings[name]
    for around, oldest in _meant(project, path, home, said):
        stack = project.questions.world(around, (home,), oldest)
        if project.questions.environment(stack) is None:
            return None
        if project.questions.holds(stack, setting.condition):
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
    yield around, False
    yield around, True
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
    """What does the same in the stated release: the same switch, or a seed of the same generator;
    else whether a newer release has it.
    """
    home = project.kb.home(project.kb.setting_ids[effect.setting])
    stack = project.questions.world(project.around(path), (home,))
    switch = project.knowledge.switches().get(effect.setting)
    for turn in switch[1].settings if switch is not None else ():
        setting = project.kb.settings[turn.name]
        here = all(
            project.questions.holds(stack, when) for when in (turn.condition, setting.condition)
        )
        if setting.kind == "python" and here and setting.statement is not None:
            return setting.statement.replace("{value}", turn.to[0] if turn.to else "")
    for generator in project.knowledge.generators():
        if effect.setting in generator.settings:
            for name in sorted(generator.settings):
                setting = project.kb.settings[name]
                here = project.questions.holds(stack, setting.condition)
                is_own = project.kb.home(project.kb.setting_ids[name]) == home
                if setting.kind == "python" and here and is_own and setting.statement is not None:
                    return setting.statement.replace("{value}", "seed")
    newest = project.questions.world(ScanEnvironment(""), (home,))
    has_it = project.questions.holds(newest, project.kb.settings[effect.setting].condition)
    return "upgrade, or remove it" if has_it else "remove it"


WRONG_RELEASE = ScanRule(
    code="wrong-release",
    family="settings",
    severity="error",
    title="A setting that the stated release does not have",
    why="""A call that the release lacks stops the program with an AttributeError; a variable
    that it does not read is silently ignored.""",
    silent="""No release is stated; an allowed release has the setting; files for the same folder
    state different releases, such as two Dockerfiles, and any release that the project states has
    it; or the call stands under hasattr, try, or a version check.""",
    bad="import torch\n\ntorch.set_deterministic(True)\n",
    good="import torch\n\ntorch.use_deterministic_algorithms(True)\n",
    check=_check_release,
)


def _check_forbidden(project: Project) -> Iterator[Objection]:
    for path, write, setting in project.known_writes():
        if not write.value or write.how in WITHOUT_EFFECT:
            continue
        stack = project.world(path, project.packages_around(path))
        everywhere = msgspec.structs.replace(stack, device=ASSUMED)
        if not _is_forbidden(project, everywhere, write.name, write.value):
            continue  # on a device alone, and packages for a CPU are one machine's
        for judged in project.questions.judged(stack, write.name, write.value):
            if judged.status == "forbidden":
                what = "it from " if setting.list_ is not None else ""
                yield Objection(
                    path=path,
                    place=write.place,
                    message=judged.why,
                    way_out=f"remove {what}{write.name}",
                    because=because_of(project, write.name, "forbidden"),
                )
                break


def _is_forbidden(project: Project, stack: PackageStack, name: str, value: str) -> bool:
    judged = project.questions.judged(stack, name, value)
    return any(one.status == "forbidden" for one in judged)


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


def _check_seedless(project: Project) -> Iterator[Objection]:
    for switch in switches_on(project):
        for generator in project.knowledge.generators():
            if switch.setting not in generator.marks.seed_needed_by or switch.offered:
                continue
            programs = [one for one in project.programs if switch in one.effects]
            for program in programs:
                if any(_seeds(project, path, generator.settings) for path in program.files):
                    continue
                yield Objection(
                    path=switch.path,
                    place=switch.place,
                    message=(
                        f"{generator.title} is not seeded: with this switch on, random ops raise "
                        "an error."
                    ),
                    way_out=f"{seed_call(project, program, generator)}(1) first",
                    related=(RelatedSpot(program.path, 1, "the program"),),
                    because=because_of(project, switch.setting, "needs a seed"),
                )
                break


def _seeds(project: Project, path: str, settings: frozenset[str]) -> bool:
    return any(effect.setting in settings for effect in project.effects[path])


SEEDLESS_DETERMINISM = ScanRule(
    code="seedless-determinism",
    family="settings",
    severity="error",
    title="A switch that needs a seed, in a program without one",
    why="""With tf.config.experimental.enable_op_determinism() TensorFlow's random ops,
    initializers and dropout among them, raise an error unless a global seed is set.""",
    silent="""The program seeds TensorFlow somewhere, or turns the switch on only on demand.""",
    bad=(
        "import tensorflow as tf\n\ntf.config.experimental.enable_op_determinism()\n"
        "model.fit(x, y)\n"
    ),
    good=(
        "import tensorflow as tf\n\ntf.keras.utils.set_random_seed(1)\n"
        "tf.config.experimental.enable_op_determinism()\nmodel.fit(x, y)\n"
    ),
    check=_check_seedless,
)

RULES = (WRONG_RELEASE, FORBIDDEN_SETTING, SEEDLESS_DETERMINISM)
