"""Text as Markdown. What comes from a record shows literally, whatever is in it."""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Iterable
from urllib.parse import quote


class Markdown(str):
    """Text that is Markdown already. Templates escape every other text that they print."""


_LITERAL = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "~": "&#126;",
        **{sign: f"\\{sign}" for sign in "\\`*_{}[]|#"},
    }
)
_OPENER = re.compile(r"([-+:]|\d+[.)])(\s|$)|-{3}|={3}|~{3}|!{3}|[?]{3}")
"""What makes a list, a fence, a box or a tab of a line that starts with it."""


def escape(text: str) -> Markdown:
    """Text on one line that Markdown and HTML show as it is."""
    if isinstance(text, Markdown):
        return text
    line = " ".join(text.split())
    opener = f"&#{ord(line[0])};" if _OPENER.match(line) else ""
    return Markdown(opener + (line[1:] if opener else line).translate(_LITERAL))


def quoted(text: str) -> Markdown:
    """Text between the double quotes of a tab's or a box's title."""
    return Markdown(escape(text).replace('"', "&quot;"))


_LONG = 28
"""Characters of a name that fit a column."""


def breakable(text: str, longest: int = _LONG) -> Markdown:
    """Text whose long names and addresses may be broken after their signs, so that tables stay
    narrow.
    """
    shown = escape(text)
    if max(map(len, text.split()), default=0) <= longest:
        return shown
    return Markdown(re.sub(r"(\\_|[./:(=])(?=\w)", r"\1<wbr>", shown))


def code(text: str) -> Markdown:
    """Text in the type of code."""
    line = " ".join(text.split())
    if not line:
        return Markdown("")
    return Markdown(f"<code>{escape(line)}</code>" if set(line) & set("`|<&") else f"`{line}`")


def told(text: str) -> Markdown:
    """A text of a record: what it puts between single backticks is code, all else is literal."""
    marks = re.findall("`+", text)
    return prose(text) if marks and len(marks) % 2 == 0 and set(marks) == {"`"} else escape(text)


def prose(text: str) -> Markdown:
    """Text of which parts stand between backticks: those in the type of code."""
    parts = re.split("`+", text)
    return Markdown(
        "".join(code(part) if place % 2 else _between(part) for place, part in enumerate(parts))
    )


def _between(text: str) -> Markdown:
    """Text next to code, with the spaces that part them."""
    before, after = (" " if sign.isspace() else "" for sign in (text[:1], text[-1:]))
    return Markdown(f"{before}{escape(text)}{after}" if text.strip() else before)


def name(text: str) -> Markdown:
    """A name in the type of code, which may be broken where it is long."""
    return Markdown(f"<code>{breakable(text)}</code>") if len(text) > _LONG else code(text)


def fence(text: str, language: str, title: str = "") -> Markdown:
    """A block of code."""
    lines = "\n".join(text.splitlines())
    longest = max((len(run) for run in re.findall("`+", lines)), default=0)
    mark = "`" * max(3, longest + 1)
    head = f'{language} title="{title}"' if title else language
    return Markdown(f"{mark}{head}\n{lines}\n{mark}")


def entities(text: str) -> Markdown:
    """Text inside HTML, in an attribute, too, that shows as it is even where Markdown is read in
    there. Lines stay: an empty one would end the element.
    """
    return Markdown("".join(f"&#{ord(sign)};" if sign in _SIGNS else sign for sign in text))


_SIGNS = frozenset("\n\\`*_{}[]()<>#|!~&\"'")
"""What Markdown or HTML gives a meaning to."""


def link(text: str, address: str | None) -> Markdown:
    """A link out of the site; only the text where the address is none that a reader should
    follow.
    """
    if address is None or not re.match("https?://", address):
        return escape(text)
    return Markdown(f"[{breakable(text)}]({quote(address, safe=_ADDRESS)})")


_ADDRESS = "/:?#@!$&'*+,;=%~"
"""Signs that stay as they are in an address; brackets and parentheses would end the link."""


def day(date: str | None) -> Markdown:
    """A date, which never breaks at its hyphens."""
    return Markdown(f"<time>{escape(date)}</time>" if date else "")


def dated(date: str, verb: str) -> Markdown:
    """A date after what happened then: reading in ``read 2026-11-21``, `verb` in others."""
    is_read = date.startswith("read ")
    return Markdown(f"{'read' if is_read else verb} {day(date.removeprefix('read '))}")


def share(part: int, whole: int) -> Markdown:
    """A count of a whole, in words and as a bar."""
    bar = f'<meter class="d9m-meter" max="{whole}" value="{part}" aria-hidden="true"></meter>'
    return Markdown(f"{bar} {part}&nbsp;of&nbsp;{whole}")


def codes(texts: Iterable[str], between: str = ", ") -> Markdown:
    """Several texts in the type of code."""
    return listed(map(code, texts), between)


def listed(items: Iterable[str], between: str = ", ") -> Markdown:
    """Several texts in a row."""
    return Markdown(between.join(escape(each) for each in items))


def indented(text: str) -> Markdown:
    """Text as the content of a tab or a box."""
    return Markdown(
        "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))
    )


def slug(text: str) -> str:
    """A text as part of an address."""
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-") or "-"


def anchor(name: str) -> Markdown:
    """An op's name as an anchor: names that differ in a sign or in case only stay distinct."""
    return Markdown(re.sub(r"[^\w.-]", "-", name, flags=re.ASCII))


def front_matter(
    title: str,
    description: str,
    hide: tuple[str, ...],
    weight: float,
    changed: str,
    aliases: tuple[str, ...],
) -> str:
    """The head of a page; `weight` counts in searches. Themes print both texts as they are, so they
    must be HTML. `changed`: the day of its last change, where the page does not say it itself.
    """
    shown = textwrap.shorten(description, 160, placeholder=" …")  # search engines cut the rest
    fields = {"title": _attribute(title), "description": _attribute(shown)}
    if changed:
        fields["changed"] = changed
    lines = [f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in fields.items()]
    if aliases:
        lines.append(f"tags: {json.dumps(aliases, ensure_ascii=False)}")
    if hide:
        lines.append(f"hide: [{', '.join(hide)}]")
    return "\n".join(["---", *lines, f"search: {{boost: {weight}}}", "---", "", ""])


def _attribute(text: str) -> str:
    """A text as themes want it between double quotes; the search counts its words as they are."""
    return html.escape(" ".join(text.split()), quote=False).replace('"', "&quot;")
