"""The advisor on the page says what the resolver says, and anybody can use it."""

from __future__ import annotations

import functools
import gzip
import json
import shlex
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from browser import opened, site
from questions_of_page import compared, expected, questions
from site_build import built, real

from d9m.api import advise
from d9m.cli import options
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.model import op_syntax
from d9m.model.advice import Advice
from d9m.render.advice import render
from d9m.render.interface import Answer
from golden import knowledge_base

if TYPE_CHECKING:
    from playwright.sync_api import Page

MANY = 500
SHOWN = 12
"""Questions that are read off the page itself; the others are asked of its scripts."""

ASK = """async (questions) => {
  const [{ Advisor, Mistake }, { formats }, { toCommand, toAddress }] = await Promise.all(
    ["advisor", "formats", "question"].map((name) => import(`./assets/advisor/${name}.js`)));
  const tables = await (await fetch("assets/advisor/tables.json")).json();
  const advisor = new Advisor(tables);
  const answers = questions.map((question) => {
    try {
      const advice = advisor.ask(question);
      const command = toCommand(tables, question);
      const names = Object.keys(advice.environment.packages);
      const imports = names.flatMap((name) => tables.about[name].imports);
      const written = formats(tables, advice, command, imports);
      const blocks = Object.fromEntries(written.map(([, name, text]) => [name, text]));
      return { advice, blocks, command, address: toAddress(tables, question) };
    } catch (error) {
      if (!(error instanceof Mistake)) throw error;
      return { mistake: error.message };
    }
  });
  return JSON.stringify(answers);
}"""


@functools.cache
def asked() -> list[dict[str, Any]]:
    return questions(real(), MANY)


@functools.cache
def right() -> list[dict[str, Any]]:
    """The resolver's answers."""
    return [expected(real(), each) for each in asked()]


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    """The page's answers, each with its blocks, its command and its address."""
    return json.loads(opened().evaluate(ASK.replace("./assets", f"{site()}assets"), asked()))


def test_the_page_and_the_resolver_agree_on_every_question(answers: list[dict[str, Any]]) -> None:
    for question, wanted, found in zip(asked(), right(), answers):
        assert ("mistake" in found) == ("mistake" in wanted), (question, found, wanted)
        if "mistake" not in wanted:
            told = compared(found["advice"])
            for name, value in compared(wanted).items():
                assert told[name] == value, (question, name)


def test_the_questions_cover_what_can_be_asked() -> None:
    outcomes = [each.get("outcome", "mistake") for each in right()]
    assert set(outcomes) >= {
        "no-known-source",
        "deterministic",
        "solved",
        "unknown",
        "raises",
        "unsolved",
        "mistake",
    }
    assert outcomes.count("mistake") < MANY / 4
    assert sum(len(each.get("ops", ())) > 1 for each in right()) > MANY / 5
    assert sum(bool(each.get("solutions")) for each in right()) > MANY / 8
    assert any(each.get("conflicts") for each in right()) or any(
        len(source["alternatives"]) > 1
        for each in right()
        for op in each.get("ops", ())
        for source in op["sources"]
    )


def test_the_command_beside_an_answer_asks_the_same_question(answers: list[dict[str, Any]]) -> None:
    for question, wanted, found in zip(asked(), right(), answers):
        if "mistake" not in found:
            assert compared(_said_to_the_command_line(found["command"])) == compared(wanted), (
                question
            )


def _said_to_the_command_line(command: str) -> Any:
    words = shlex.split(command)[2:]
    given: dict[str, list[str]] = {}
    while words:
        option = words.pop(0)
        given.setdefault(option, []).append("" if option == "--inference" else words.pop(0))
    versions = {name: given.get(each.options[0], []) for name, each in VERSION_OPTIONS.items()}
    container, device, gpu = (given.get(name, [None])[0] for name in _SINGLE)
    place = options.EnvironmentOptions(
        versions, given.get("--with", []), container, device=device, gpu=gpu
    )
    asked = place.setup(real(), given.get("--fact"), "--inference" in given)
    assert asked is not None
    scope = given.get("--scope", ["run"])[0]
    answer = advise(real(), asked, options.read_ops(given.get("--ops")), scope)  # type: ignore[arg-type]
    return msgspec.json.decode(msgspec.json.encode(answer))


_SINGLE = ("--container", "--device", "--gpu")


@pytest.mark.parametrize(
    "name", ["env", "python", "dockerfile", "slurm", "megatron", "clara", "markdown"]
)
def test_every_block_is_the_one_that_the_command_line_writes(
    name: str, answers: list[dict[str, Any]]
) -> None:
    compared_blocks = 0
    for question, wanted, found in zip(asked(), right(), answers):
        if "mistake" in wanted or name not in found["blocks"]:
            continue
        compared_blocks += 1
        advice = msgspec.convert(wanted, Advice)
        shown = found["blocks"][name]
        block = _block(name, advice, found["command"], question)
        if name == "markdown":  # the page counts outcomes instead of a sentence
            shown, block = (text.partition("\n")[2] for text in (shown, block))
        assert shown == block
    assert compared_blocks


def _block(name: str, advice: Advice, command: str, question: dict[str, Any]) -> str:
    frameworks = tuple(
        each for package in advice.environment.packages for each in real().packages[package].imports
    )
    answer = Answer(advice, real(), command, frameworks, named_ops=bool(question["ops"]))
    body = render(name, answer).body
    assert isinstance(body, str)
    if name == "markdown":  # the page links records instead of naming their evidence
        own = {
            line
            for line in body.splitlines()
            if line.startswith("- ") and line.endswith(")") and "](" in line
        }
        return "\n".join(line for line in body.splitlines() if line not in own).rstrip() + "\n"
    return body


def test_the_grid_grows_with_the_packages_and_no_faster() -> None:
    tables = json.loads((built() / "assets/advisor/tables.json").read_bytes())
    grid = {
        name: tables[name]
        for name in ("cells", "lines", "rows", "tensors", "domains", "verdicts", "packages")
    }
    packed = gzip.compress(json.dumps(grid, separators=(",", ":")).encode(), 9, mtime=0)
    assert len(packed) < 1_060 * len(knowledge_base().packages)


def test_no_script_compares_versions() -> None:
    """Releases are opaque to the scripts: none splits one into numbers, none names a package but in
    a short form.
    """
    kb = real()
    names = {f'"{name}"' for name in kb.packages} - {
        '"tensorflow"',
        '"torch"',
        '"python"',
        '"cuda"',
    }
    for path in sorted((built() / "assets/advisor").glob("*.js")):
        text = path.read_text(encoding="utf-8")
        assert not {name for name in names if name in text}, path
        assert 'split(".").map' not in text, path


# --- the page itself ------------------------------------------------------------------


def _advised(path: str = "", **options: Any) -> Page:
    page = opened(path, **options)
    page.locator("#d9m-choice").focus()  # the tables come when somebody asks
    page.wait_for_selector("[data-ready=true]")
    return page


def test_the_address_asks_and_the_page_shows(answers: list[dict[str, Any]]) -> None:
    from pages import phrases

    good = [each for each in answers if "advice" in each and each["advice"]["ops"]][:SHOWN]
    for each in good:
        page = _advised(f"?{each['address']}")
        shown = page.locator(".d9m-answer .md-tag").inner_text()
        assert f">{shown}<" in phrases.chip(each["advice"]["outcome"])
        assert _settings(page.locator("#d9m-block code").text_content()) == _settings(
            each["blocks"]["env"]
        )
        ops = each["advice"]["ops"]
        outcomes = sum(len(op["sources"]) if op["query"] == "*" else 1 for op in ops)
        assert page.locator(".d9m-advice tbody tr").count() == outcomes
        assert page.locator(".d9m-advice details.note").count() == len(
            {source["id"] for op in each["advice"]["ops"] for source in op["sources"]}
        )
        page.close()


def _settings(block: str | None) -> list[str]:
    """A block without its stamp: the page names facts in the order of its form."""
    return (block or "").splitlines()[1:]


def test_every_record_that_an_answer_links_has_a_page() -> None:
    page = _advised("?tensorflow=2.0&ops=conv,bias_add,segment_sum")
    links = page.eval_on_selector_all(
        ".d9m-advice a", "links => links.map((link) => link.getAttribute('href'))"
    )
    assert len(links) > 5
    assert not [link for link in links if not (built() / link / "index.html").is_file()]


def test_typing_completes_names_and_arguments() -> None:
    page = _advised()
    page.select_option("#d9m-choice", "torch")
    field = page.locator("#d9m-ops")
    field.press_sequentially("interpol", delay=10)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert "interpolate" in field.input_value()
    field.press_sequentially("[mod", delay=10)
    options = page.locator("#d9m-names li").all_inner_texts()
    assert any("mode=bilinear" in each for each in options)


def test_the_whole_question_can_be_asked_by_keyboard() -> None:
    page = _advised()
    page.focus("#d9m-choice")
    page.keyboard.type("TensorFlow")
    page.keyboard.press("Tab")
    page.keyboard.type("2.9.1")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("bias_add")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_selector(".d9m-answer")
    assert "TensorFlow 2.9.1" in page.locator(".d9m-answer").inner_text()
    assert page.locator("[role=status]").inner_text()
    page.focus("[role=tab][aria-selected=true]")
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Python"
    assert "import tensorflow" in page.locator("#d9m-block code").inner_text()


def test_the_link_to_share_asks_the_same_again() -> None:
    page = _advised()
    page.select_option("#d9m-choice", "ngc-tensorflow")
    page.select_option("#d9m-version", "20.03-tf2-py3")
    page.locator("#d9m-ops").fill("conv[dtype=float16], bias_add:backward")
    page.keyboard.press("Enter")
    page.locator("summary", has_text="Facts about").click()
    page.select_option("#d9m-fact-xla", "true")
    first = page.locator("#d9m-block code").text_content()
    again = _advised("?" + page.url.partition("?")[2])
    assert again.locator("#d9m-block code").text_content() == first
    assert again.locator("#d9m-fact-xla").input_value() == "true"


def test_an_error_text_is_recognised_and_leads_to_its_op() -> None:
    page = _advised()
    page.select_option("#d9m-choice", "torch")
    field = page.locator("#d9m-ops")
    field.fill(
        "RuntimeError: index_add_cuda_ does not have a deterministic implementation, but you set "
        "'torch.use_"
    )
    page.wait_for_selector(".d9m-advice .admonition")
    assert page.locator(".d9m-advice a").get_attribute("href").startswith("errors/pytorch/")  # type: ignore[union-attr]
    page.locator(".d9m-advice button").first.click()
    page.wait_for_selector(".d9m-answer")


@pytest.mark.parametrize(("release", "said"), [("1.8", "prints this"), ("2.9", "does not print")])
def test_an_error_text_says_whether_the_release_prints_it(release: str, said: str) -> None:
    """index_add raises in PyTorch 1.7 and 1.8 (kb/errors/pytorch/index-add-cuda.yaml)."""
    page = _advised(f"?torch={release}")
    page.locator("#d9m-ops").fill(
        "index_add_cuda_ does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'."
    )
    page.wait_for_selector(".d9m-advice .admonition")
    assert said in page.locator(".d9m-advice strong").inner_text()


def test_what_is_unknown_is_refused_with_what_is_near() -> None:
    page = _advised("?torch=2.4&ops=no_such_op")
    assert "no record names" in page.locator(".d9m-advice [role=alert]").inner_text()
    page = _advised("?torch=99.9")
    assert "99.9" in page.locator(".d9m-advice [role=alert]").inner_text()


def test_a_symptom_in_unknown_words_leads_to_the_command_line() -> None:
    page = _advised("?torch=2.4&ops=my+model%27s+loss+wanders+from+day+to+day")
    box = page.locator(".d9m-advice [role=alert]")
    assert """d9m explain 'my model'"'"'s loss wanders from day to day'""" in box.inner_text()
    box.locator("a").click()
    page.wait_for_selector(".md-search-result__item", timeout=120_000)
    assert page.locator(".md-search__input").input_value() == (
        "my model's loss wanders from day to day"
    )
    page = _advised("?torch=2.4&ops=no_such_op,+conv")
    assert "d9m explain" not in page.locator(".d9m-advice [role=alert]").inner_text()


@pytest.mark.parametrize(
    ("typed", "near"), [("cumsm", "cumsum"), ("convv2", "conv2d"), ("tf.nn.bias_ad", "bias_add")]
)
def test_a_misspelt_op_gets_the_names_that_are_spelled_almost_so(typed: str, near: str) -> None:
    package = "tensorflow=2.9" if typed.startswith("tf.") else "torch=2.6"
    page = _advised(f"?{package}&ops={typed}")
    assert near in page.locator(".d9m-advice [role=alert]").inner_text()


ODD = {
    "?torch=2.6&device=banana": "unknown device “banana”",
    "?torch=2.6&scope=moon": "unknown scope “moon”",
    "?torch=2.6&fact=nonsense=1": "unknown fact “nonsense”",
    "?torch=2.6&fact=xla": "xla cannot be “”",
    "?torch=": "has no “”",
    "?container=ngc-pytorch:99.99": "has no “99.99”",
    "?container=nobody:1": "unknown framework “nobody”",
    "?torch=2.6&ops=conv[mode=": "never closed",
    "?torch=2.6&ops=<script>alert(1)</script>": "<script>alert(1)",
    "?torch=2.6&ops=tf.nn.bias_add": "an op of TensorFlow",
}
"""Addresses that somebody cut or mistyped -> what they are told."""


@pytest.mark.parametrize("address", ODD)
def test_an_address_that_asks_nonsense_is_told_what_is_wrong(address: str) -> None:
    page = _advised(address)
    assert ODD[address] in page.locator(".d9m-advice [role=alert]").inner_text()
    assert page.locator("#d9m-choice").input_value() in ("torch", "ngc-pytorch")


def test_an_address_without_a_framework_is_asked_of_the_first_in_the_list() -> None:
    page = _advised("?ops=cumsum&utm_source=mail")
    assert page.locator(".d9m-answer").inner_text()
    assert page.locator("#d9m-choice").input_value() == "torch"
    assert not _advised("?utm_source=mail").locator(".d9m-answer").count()


def test_the_form_begins_with_the_framework_that_has_most_sources() -> None:
    kb = real()
    homes = [kb.meta.folders[each.partition("/")[0]] for each in kb.sources]
    frameworks = [each for each in kb.packages if kb.packages[each].kind == "framework"]
    assert _advised().locator("#d9m-choice").input_value() == max(frameworks, key=homes.count)


def test_it_works_without_network_once_it_is_there() -> None:
    page = _advised(offline=False)
    page.context.set_offline(True)
    page.select_option("#d9m-choice", "torch")
    page.locator("#d9m-ops").fill("cumsum")
    page.keyboard.press("Enter")
    page.wait_for_selector(".d9m-answer")


def test_without_javascript_the_page_says_so_and_shows_no_form() -> None:
    page = opened(java_script_enabled=False)
    assert "needs JavaScript" in page.locator("main").inner_text()
    assert not page.locator(".d9m-advisor form").is_visible()
    assert page.locator(".d9m-advisor a").count() >= 3


def test_the_copy_button_copies_the_block() -> None:
    page = _advised("?torch=2.4&ops=cumsum", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#d9m-block .d9m-copy").first.click()
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == page.locator("#d9m-block code").text_content()
    )


def test_items_are_parted_as_on_the_command_line() -> None:
    page = _advised("?torch=2.4&ops=interpolate[mode=bilinear,ndim=4],cumsum")
    texts = page.locator(".d9m-advice tbody td:first-child").all_text_contents()
    asked = op_syntax.split("interpolate[mode=bilinear,ndim=4],cumsum")
    assert texts == asked[::-1]  # cumsum raises an error there: the worst comes first


# --- several packages -----------------------------------------------------------------


def test_packages_are_added_and_the_address_and_the_command_name_them() -> None:
    page = _advised("?torch=2.6&ops=cumsum")
    page.click(".d9m-add")
    page.locator(".d9m-added select").nth(0).select_option("deepspeed")
    page.locator(".d9m-added select").nth(1).select_option("any")
    page.click(".d9m-add")
    page.locator(".d9m-added select").nth(2).select_option("flash-attn")
    page.wait_for_function("location.search.includes('flash-attn')")
    command = page.locator(".d9m-share code").inner_text()
    assert command.startswith("d9m advise --torch 2.6.0 --with deepspeed=any --with flash-attn=")
    names = page.locator(".d9m-answer small").inner_text()
    assert "PyTorch 2.6" in names
    assert "FlashAttention" in names
    again = _advised("?" + page.url.partition("?")[2])
    assert again.locator(".d9m-share code").inner_text() == command
    assert again.locator(".d9m-added > div").count() == 2
    assert (
        again.locator("#d9m-block code").text_content()
        == page.locator("#d9m-block code").text_content()
    )


def test_a_package_that_is_removed_is_asked_about_no_more() -> None:
    page = _advised("?torch=2.6&deepspeed=any&ops=cumsum")
    assert "--with deepspeed=any" in page.locator(".d9m-share code").inner_text()
    page.get_by_role("button", name="Remove").click()
    page.wait_for_function("!location.search.includes('deepspeed')")
    assert "--with" not in page.locator(".d9m-share code").inner_text()
    assert page.evaluate("document.activeElement.className") == "d9m-add"


def test_an_image_takes_no_further_package() -> None:
    page = _advised("?container=ngc-pytorch:24.01-py3&deepspeed=any")
    assert "a container holds its packages" in page.locator("[role=alert]").inner_text()
    assert not page.locator(".d9m-add").is_visible()


def test_an_op_of_a_package_that_is_not_named_says_which_to_add() -> None:
    page = _advised("?torch=2.6&ops=flash_attn_func")
    assert "FlashAttention: add that package" in page.locator("[role=alert]").inner_text()
    page = _advised("?torch=2.6&flash-attn=any&ops=flash_attn_func")
    assert page.locator(".d9m-advice tbody tr").count() == 1
