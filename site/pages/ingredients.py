"""What every deterministic program needs besides op settings: a page each, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from pages import layout, proof, recipes, upstream

_ALIASES = {
    "seeds": ("random seed", "set all seeds", "PyTorch seeds", "TensorFlow seeds", "JAX seeds")
}
"""Other names that are searched for."""


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    rows = list(kb.ingredients.items())
    rows.sort(key=lambda each: (each[1].order, each[0]))
    title = "Ingredients"
    description = (
        "Seeds, data, threads and the rest: what a deterministic program needs in addition to "
        "deterministic ops."
    )
    yield layout.page(
        kb, "ingredients/index.md", "ingredients.md", title, description, ("toc",), rows=rows
    )
    for id_, ingredient in rows:
        proofs = proof.of(kb, ingredient.evidence)
        for caution in ingredient.cautions:
            proofs += proof.of(kb, caution.evidence, "watch out")
        yield layout.record_page(
            kb,
            "ingredients",
            id_,
            "ingredient.md",
            ingredient.title,
            ingredient.summary,
            aliases=_ALIASES.get(id_, ()),
            ingredient=ingredient,
            blocks=recipes.of_turns(kb, id_, ingredient.settings),
            proofs=list(dict.fromkeys(proofs)),
            events=upstream.timeline(kb, ingredient.references),
        )
