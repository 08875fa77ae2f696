"""The advice as JSON: the fields of `d9m.model.advice`, by their names."""

from __future__ import annotations

from d9m.render import as_json
from d9m.render.interface import Answer, Rendered


def render(answer: Answer) -> Rendered:
    return Rendered(as_json.render(answer.advice))
