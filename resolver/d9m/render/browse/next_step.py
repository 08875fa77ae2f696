"""How to find what still differs: what nobody can tell from a sentence."""

from __future__ import annotations

from d9m.browse.explain import Explained
from d9m.browse.suspects import is_served
from d9m.kb.store import KnowledgeBase
from d9m.model.recorded import BY_OP, EXPERIMENTAL
from d9m.render import phrases
from d9m.render.page import Page


def write(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """The command that finds it in a program of a framework; for a server, a library of its own or
    another language, what to compare by hand.
    """
    packages = _packages(kb, explained)
    languages = [kb.errors[found.id].language for found in explained.found]
    if any(languages):
        _by_hand(page, "d9m hunt runs Python programs only. ")
    elif not packages or any(framework in packages for framework in BY_OP):
        _hunt(page, packages)
    elif any(framework in packages for framework in EXPERIMENTAL):
        _hunt_for_the_step(page, packages, _then(explained))
    elif is_served(kb, list(packages)):
        page.paragraph(
            "To find out whether answers still differ, send one input twice and compare what comes "
            "back: alone, next to other requests, and after a restart."
        )
    elif any(name not in kb.meta.platforms for name in packages):
        _by_hand(page)
    else:
        page.paragraph(
            "To find out whether runs still differ, run the program twice and compare: d9m show "
            f"confirm-it.{_then(explained)}"
        )


def _packages(kb: KnowledgeBase, explained: Explained) -> set[str]:
    """What is named, and the framework below it."""
    packages = {*explained.packages}
    if explained.subject is not None:
        packages.update(explained.subject.advice.environment.packages)
    if not packages.intersection(EXPERIMENTAL) and "torch" not in packages:
        for package in sorted(packages):
            packages.update(kb.packages[package].runs_on[:1])
    return packages


def _then(explained: Explained) -> str:
    subject = explained.subject
    has_ops = subject is not None and bool(subject.ops)
    return "" if has_ops else " Then name the ops of your model: d9m advise --ops …"


def _hunt(page: Page, packages: set[str]) -> None:
    program, mark = "a PyTorch program", ""
    if packages and "torch" not in packages:
        program, mark = "the program", f" (experimental for {EXPERIMENTAL['tensorflow']})"
    page.paragraph(f"To find what still differs, let d9m run {program} twice and compare{mark}:")
    page.line("  d9m hunt -- python train.py")
    if not packages:
        page.line("With another framework: d9m show confirm-it.")


def _hunt_for_the_step(page: Page, packages: set[str], then: str) -> None:
    titles = [EXPERIMENTAL[name] for name in EXPERIMENTAL if name in packages]
    page.paragraph(
        "To find the step at which runs still differ, let d9m run the program twice and "
        f"compare (experimental for {phrases.join(titles)}):"
    )
    page.line("  d9m hunt -- python train.py")
    page.paragraph(f"By hand: d9m show confirm-it.{then}")


def _by_hand(page: Page, why: str = "") -> None:
    page.paragraph(
        f"{why}To find where runs still differ, save the inputs, the settings and the result of "
        "two runs, and compare the files: the first that differs says where to look (d9m show "
        "confirm-it)."
    )
