"""A page answers before it explains, says how to get d9m, and shows text, not the signs that make
it.
"""

from __future__ import annotations

import json
import re

import pytest
from browser import blank, opened, site
from site_build import Html, built, generator, real, real_pages

from d9m.about import REPOSITORY
from d9m.model.versions import minor

SITE_ADDRESS = "https://d9m.github.io/d9m/"

PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("every", [21, pytest.param(7, marks=pytest.mark.nightly)])
def test_an_error_page_says_what_to_do_on_the_first_screen_of_a_phone(every: int) -> None:
    page = blank(viewport=PHONE)
    below: list[str] = []
    for id_ in sorted(real().errors)[::every]:
        page.goto(f"{site()}errors/{id_}/")
        box = page.locator(".admonition.tip").first.bounding_box()
        assert box is not None, id_
        if box["y"] > PHONE["height"] * 0.6:
            below.append(id_)
    assert not below
    page.close()


def test_every_wording_of_an_error_is_on_its_page_and_all_but_one_are_folded_away() -> None:
    several = [id_ for id_, error in real().errors.items() if len(error.texts) > 1]
    page = opened(f"errors/{several[0]}/")
    blocks = page.locator("article .language-text")
    assert blocks.count() == len(real().errors[several[0]].texts)
    assert [each.is_visible() for each in blocks.all()].count(True) == 1
    page.close()


def test_no_two_headings_of_an_error_page_say_the_same() -> None:
    for id_ in real().errors:
        text = (built() / "errors" / id_ / "index.html").read_text(encoding="utf-8")
        found = re.findall(r"<h[1-4][^>]*>(.*?)(?:<a class=\"headerlink|</h)", text, re.DOTALL)
        plain = [re.sub("<[^>]+>", "", each).strip() for each in found]
        assert len(plain) == len(set(plain)), id_


def test_the_repository_and_the_way_to_install_are_in_sight() -> None:
    page = opened(viewport={"width": 1280, "height": 900})
    link = page.locator("header a.md-source")
    assert link.get_attribute("href") == REPOSITORY
    assert link.is_visible()
    install = page.get_by_text(f"pip install git+{REPOSITORY}").bounding_box()
    assert install is not None
    assert install["y"] < 900
    page.close()


def test_the_page_of_a_setting_begins_with_the_line_to_copy() -> None:
    page = opened("settings/pytorch/cublas-workspace-config/", viewport=PHONE)
    line = page.locator("article .highlight code").first
    assert "export CUBLAS_WORKSPACE_CONFIG=:4096:8" in line.inner_text()
    place = line.bounding_box()
    assert place is not None
    assert place["y"] < PHONE["height"] / 2
    assert page.get_by_text("Do I need it?").is_visible()
    page.close()


def test_no_page_shows_the_signs_of_markdown() -> None:
    """Tables that were not made, code in backticks, escapes inside code."""
    faults: list[str] = []
    for path in sorted(built().rglob("index.html")):
        text = path.read_text(encoding="utf-8")
        article = text.partition("<article")[2].partition("</article>")[0]
        outside = re.sub(r"<pre.*?</pre>|<code.*?</code>|<h1.*?</h1>", "", article, flags=re.DOTALL)
        if re.search(r"\|---\||^\| ", outside, re.MULTILINE):
            faults.append(f"{path}: a table")
        if re.search(r"<code>[^<]*\\\\[_*`]", article):
            faults.append(f"{path}: an escape")
        if re.search(r"<h1[^>]*>[^<]*`", article):
            faults.append(f"{path}: a backtick in the title")
    assert not faults


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("sources/tensorflow/bias-add/", "Look up"),
        ("errors/pytorch/cublas-config/", "Look up"),
        ("releases/torch/2.6/", "Status"),
        ("scan/unused-ignore/", "Reference"),
    ],
)
def test_the_section_of_a_record_is_lit(path: str, section: str) -> None:
    page = opened(path, viewport={"width": 1280, "height": 800})
    assert page.locator(".md-tabs__item--active").inner_text().strip() == section
    page.close()


def test_lists_begin_with_the_framework_that_most_is_known_of() -> None:
    page = opened("sources/")
    assert page.locator("h2").first.inner_text().startswith("PyTorch")
    page.close()


def test_steps_are_numbered_from_one_on() -> None:
    text = (built() / "contributing" / "index.html").read_text(encoding="utf-8")
    steps = text.partition('id="add-a-record"')[2].partition('id="compare-the-records')[0]
    (first,) = re.findall(r"<ol>.*?</ol>", steps, re.DOTALL)
    assert first.count("<li>") >= 4


def test_titles_hold_no_escapes_but_those_of_html() -> None:
    index = json.loads((built() / "search" / "search_index.json").read_text(encoding="utf-8"))
    titles = [each["title"] for each in index["docs"]]
    assert not [each for each in titles if "&#x27;" in each or "\\_" in each]
    listed = (built() / "llms.txt").read_text(encoding="utf-8")
    assert not re.findall("&(?:amp|quot|#x?[0-9a-f]+|lt|gt);", listed)
    assert Html(built() / "sources" / "index.html").text


def test_large_files_are_loaded_on_demand() -> None:
    page = blank()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site())
    page.wait_for_load_state("networkidle")
    large = ("search_index.json", "tables.json", "advisor/page.js", "advisor/resolver.js")
    assert not [each for each in asked if each.endswith(large)]
    assert len(asked) < 25
    with page.expect_request("**/tables.json"):
        page.locator("#d9m-choice").focus()
    with page.expect_request("**/search_index.json"):
        page.locator(".md-search__input").click()
    page.close()


def test_the_first_screen_answers_before_it_asks() -> None:
    """A worked answer stands next to the form, and gives way to a real one."""
    page = opened(viewport={"width": 1280, "height": 900})
    worked = page.locator(".d9m-worked pre")
    place = worked.bounding_box()
    assert place is not None
    assert place["y"] < 450
    assert "torch.use_deterministic_algorithms(True)" in worked.inner_text()
    page.locator(".d9m-worked a").click()
    page.wait_for_selector(".d9m-answer")
    assert not worked.is_visible()
    shown = page.locator(".d9m-answer strong").inner_text()
    assert shown.startswith("2 ops: 1 deterministic with these settings")
    page.close()


def test_the_picture_says_in_words_what_its_colours_say_and_every_cell_leads_on() -> None:
    generator()
    from pages import grid, heatmap, phrases

    page = Html(built() / "index.html")
    links = [each.attributes for each in page.elements if "aria-label" in each.attributes]
    labels = {each["aria-label"]: each.get("href", "") for each in links}
    (table,) = [each for each in grid.grids(real(), "torch") if each.device == "cuda"]
    rows = heatmap.heat_rows(table)
    assert len(rows) == heatmap.MOST
    for row in rows:
        cell = next(each for each in row.cells if not isinstance(each, int))
        said = cell.branches or phrases.WORDS[cell.outcome]
        (label,) = [
            each for each in labels if each.startswith(f"{row.ops[0]}, PyTorch {cell.first.name}")
        ]
        assert label.endswith(f": {said}")
        assert (built() / labels[label] / "index.html").is_file()


def test_an_upgrade_between_any_two_releases_says_what_the_status_table_says() -> None:
    """cumsum raises up to PyTorch 2.5 and repeats from 2.6 on (tests/facts/torch_api.md), and with
    it multinomial with replacement. flex_attention of 2.5 asserts that no tensor that it captures
    needs a gradient ("not yet supported").
    """
    page = opened("upgrade/torch/?from=2.5&to=2.6")
    assert page.locator(".d9m-sentence").inner_text() == (
        "Between 2.5 and 2.6, 3 ops changed: 2 for the better, 1 known on one side only."
    )
    # Flex attention came with 2.5, that gradient with 2.6: whether they got worse cannot be said.
    page.select_option("[name=from]", "2.3")
    page.wait_for_function("document.querySelectorAll('.d9m-upgraded tbody tr').length > 1")
    assert page.locator(".d9m-sentence").inner_text() == (
        "Between 2.3 and 2.6, 4 ops changed: 2 for the better, 2 known on one side only."
    )
    page.select_option("[name=from]", "2.0")
    page.wait_for_function("document.querySelectorAll('.d9m-upgraded tbody tr').length > 1")
    shown = page.locator(".d9m-upgraded tbody tr td:first-child").all_inner_texts()
    assert "from=2.0&to=2.6" in page.url
    assert set(shown) == _changed("torch", "2.0", "2.6")
    page.select_option("[name=to]", "2.0")
    assert "Pick two" in page.locator(".d9m-sentence").inner_text()
    page.close()


def _changed(package: str, one: str, other: str) -> set[str]:
    """Rows of the status table that say two things of two lines of releases; of a call with an
    argument, only where the op itself does not say the same two.
    """
    generator()
    from pages import grid

    (table,) = [each for each in grid.grids(real(), package) if each.device == "cuda"]
    names = [each.name for each in table.lines]
    found: dict[tuple[str, str], list[object]] = {}
    for row in table.rows:
        states: list[object] = []
        for cell in row.cells:
            width = cell if isinstance(cell, int) else cell.width
            state = (
                None
                if isinstance(cell, int)
                else (cell.outcome, cell.by if cell.outcome == "solved" else (), cell.branches)
            )
            states += [state] * width
        before, after = states[names.index(one)], states[names.index(other)]
        if before != after:
            found[row.op, row.arguments] = [before, after]
    return {
        f"{op}({arguments})" if arguments else op
        for (op, arguments), pair in found.items()
        if not arguments or found.get((op, "")) != pair
    }


def test_frameworks_are_compared_by_what_each_answers() -> None:
    """cumsum repeats with settings in PyTorch's newest release (tests/facts/torch_api.md)."""
    generator()
    from pages import versions

    text = (built() / "compare" / "index.html").read_text(encoding="utf-8")
    heads = re.findall(r"<th><a [^>]*>(.*?)</a>", text)
    assert heads == [real().packages[each].title for each in versions.frameworks(real())]
    row = text.partition("<code>cumsum</code>")[2].partition("</tr>")[0]
    assert "d9m-solved" in row.split("<td>")[1 + heads.index("PyTorch")]


def test_the_page_for_programs_names_files_that_exist() -> None:
    page = Html(built() / "reference" / "data" / "index.html")
    named = [each.attributes.get("href", "") for each in page.elements if each.tag == "a"]
    files = [
        each.removeprefix(SITE_ADDRESS).removeprefix("../../")
        for each in named
        if each.startswith((SITE_ADDRESS, "../../feeds/"))
    ]
    data = [each for each in files if each.startswith(("api/", "feeds/", "llms"))]
    assert len(data) > 5
    assert not [each for each in data if not (built() / each).is_file()]


def test_a_table_about_gpus_says_that_none_was_measured() -> None:
    measured = any(run.device != "cpu" for run in real().runs.values())
    for path in ("", "status/torch/", "compare/", "upgrade/torch/"):
        text = Html(built() / path / "index.html").text
        assert ("we have not run it on a GPU" in text) == (not measured), path


def test_one_click_asks_the_same_of_another_framework() -> None:
    page = opened("?torch=2.4&ops=cumsum")
    page.wait_for_selector(".d9m-answer")
    page.get_by_role("button", name="TensorFlow", exact=True).click()
    assert "TensorFlow" in page.locator(".d9m-answer").inner_text()
    assert page.locator("#d9m-ops").input_value() == "cumsum"
    pressed = page.locator(".d9m-quick [aria-pressed=true]")
    assert pressed.all_inner_texts() == ["TensorFlow"]
    page.close()


def test_only_facts_are_asked_that_a_record_of_the_packages_uses() -> None:
    """XLA decides nothing in PyTorch, nor does TorchScript in TensorFlow."""
    page = opened("?torch=2.4&ops=cumsum")
    page.wait_for_selector(".d9m-answer")
    page.locator("summary", has_text="Facts about").click()
    assert page.locator("#d9m-fact-torchscript").is_visible()
    assert not page.locator("#d9m-fact-xla").is_visible()
    page.get_by_role("button", name="TensorFlow", exact=True).click()
    assert page.locator("#d9m-fact-xla").is_visible()
    assert not page.locator("#d9m-fact-torchscript").is_visible()
    page.close()


def test_the_advisor_knows_settings_by_their_names() -> None:
    page = opened("?torch=2.4&ops=CUBLAS_WORKSPACE_CONFIG")
    page.wait_for_selector(".d9m-advice .admonition")
    link = page.locator(".d9m-advice a").get_attribute("href")
    assert link == "settings/pytorch/cublas-workspace-config/"
    page.close()


def test_the_advisor_leads_a_complaint_to_the_search_among_symptoms() -> None:
    page = opened("?torch=2.4&ops=all seeds set, still different results")
    page.wait_for_selector(".d9m-advice .admonition")
    links = page.locator(".d9m-advice a").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    assert links == ["?q=all%20seeds%20set%2C%20still%20different%20results&in=symptoms"]
    page.close()


def test_the_headline_is_about_the_settings_that_are_printed() -> None:
    """The setting makes cumsum raise in PyTorch 2.4 (tests/facts/torch_api.md): not advised."""
    page = opened("?torch=2.4&ops=cumsum")
    headline = page.locator(".d9m-answer").inner_text()
    assert "cumsum: raises an error." in headline
    assert "use_deterministic_algorithms" not in page.locator(".d9m-steps").inner_text()
    page.close()


def test_settings_are_in_the_order_of_the_work_and_ops_the_worst_first() -> None:
    """cumsum raises in PyTorch 2.4, and index_add repeats (tests/facts/torch_api.md)."""
    page = opened("?torch=2.4&ops=index_add,cumsum")
    page.wait_for_selector(".d9m-answer")
    assert page.locator(".d9m-steps h3").all_inner_texts() == [
        "1. Shell, before Python starts",
        "2. Top of the program",
    ]
    program = page.locator(".d9m-steps pre").last.inner_text()
    assert "torch.use_deterministic_algorithms(True)" in program
    assert page.locator(".d9m-advice tbody td:first-child").all_text_contents() == [
        "cumsum",
        "index_add",
    ]
    page.close()


def test_a_click_before_the_tables_are_there_is_answered_when_they_are() -> None:
    page = opened()
    page.get_by_role("button", name="Everything known").click()
    page.wait_for_selector(".d9m-answer")
    assert page.locator(".d9m-more summary").first.inner_text().endswith("more")
    page.close()


def test_the_timeline_says_how_many_ops_of_each_release_are_deterministic() -> None:
    generator()
    from pages import grid, timeline

    (table,) = [each for each in grid.grids(real(), "torch") if each.device == "cuda"]
    mark = next(each for each in timeline.points(real(), table) if each.line == "2.6")
    text = (built() / "history" / "index.html").read_text(encoding="utf-8")
    said = f"PyTorch 2.6, 2025-01-29: {mark.deterministic} of {mark.known} ops are deterministic"
    assert f'aria-label="{said}"' in text
    assert 0.5 < mark.share < 1
    assert f'aria-label="{mark.deterministic} deterministic,' in (
        built() / "releases" / "torch" / "2.6" / "index.html"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "words"),
    [("settings/", "cublas"), ("sources/", "grid_sample"), ("errors/", "index_add")],
)
def test_a_list_of_records_can_be_filtered(path: str, words: str) -> None:
    page = opened(path)
    rows = """what => [...document.querySelectorAll(`article ${what}`)]
        .filter((each) => getComputedStyle(each).display !== "none")
        .map((each) => each.textContent.toLowerCase())"""
    before, heads = (page.evaluate(rows, what) for what in ("tbody tr", "h2"))
    page.get_by_label("Filter").fill(words)
    shown = page.evaluate(rows, "tbody tr")
    assert 0 < len(shown) < len(before) / 10
    assert all(words in each for each in shown)
    assert page.locator("article output").text_content() == f"{len(shown)} of {len(before)} rows"
    assert 0 < len(page.evaluate(rows, "h2")) <= min(len(shown), len(heads))
    page.get_by_label("Filter").fill("")
    assert page.evaluate(rows, "h2") == heads
    page.close()


def test_settings_that_fix_the_most_sources_come_first() -> None:
    page = opened("settings/")
    first = page.locator("article table").first.locator("tbody tr td:first-child")
    assert first.nth(0).text_content() in ("CUBLAS_WORKSPACE_CONFIG", "TF_DETERMINISTIC_OPS")
    page.close()


def test_the_button_of_the_form_is_visible_in_dark_mode() -> None:
    page = opened(color_scheme="dark")
    button, ground = (
        page.locator(place).evaluate("each => getComputedStyle(each).backgroundColor")
        for place in (".md-button--primary", "body")
    )
    bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (button, ground)]
    assert bright[0] > 2 * bright[1]
    page.close()


def test_what_is_printed_is_the_answer() -> None:
    page = opened("?torch=2.4&ops=index_add,cumsum")
    page.wait_for_selector(".d9m-answer")
    page.emulate_media(media="print")
    assert page.locator(".d9m-answer").is_visible()
    assert page.locator(".d9m-steps").is_visible()
    assert not page.locator(".d9m-advisor form").is_visible()
    assert not page.locator(".d9m-copy:visible").count()
    assert not page.locator(".d9m-heat:visible").count()
    page.close()


def test_no_empty_form_is_printed_and_pictures_fit_the_sheet() -> None:
    page = opened(viewport={"width": 700, "height": 900})
    page.emulate_media(media="print")
    assert not page.locator(".d9m-advisor").is_visible()
    wide = "all => all.filter((each) => each.getBoundingClientRect().right > innerWidth).length"
    assert page.locator(".d9m-heat").evaluate_all(wide) == 0
    assert page.locator(".d9m-heat:visible").count() == 3
    low = "all => all.filter((each) => each.scrollHeight > each.clientHeight + 1).length"
    assert page.locator(".tabbed-block").evaluate_all(low) == 0  # or one covers the next
    page.close()


def test_an_upgrade_shows_both_of_its_answers_on_a_phone() -> None:
    page = opened("upgrade/torch/?from=2.14&to=2.15", viewport={"width": 390, "height": 844})
    clipped = "place => place.scrollWidth > place.clientWidth"
    assert page.locator(".d9m-upgraded tbody tr").count() == 2
    assert page.locator(".d9m-upgraded .d9m-wide").evaluate(clipped) is False
    page.close()


@pytest.mark.parametrize("path", ["sources/", "ops/", "ops/torch/", "settings/", "errors/"])
def test_a_table_next_to_the_menu_shows_all_of_its_columns(path: str) -> None:
    page = opened(path, viewport={"width": 1280, "height": 900})
    page.wait_for_selector(".md-typeset__scrollwrap")
    clipped = "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    assert page.locator(".md-typeset__scrollwrap").evaluate_all(clipped) == 0
    page.close()


def test_a_record_leads_to_those_before_and_after_it_in_its_folder() -> None:
    ids = [id_ for id_ in real().sources if id_.startswith("pytorch/")]
    foot = real_pages()[f"sources/{ids[1]}.md"].partition("\nSee also: ")[2].splitlines()[0]
    assert re.findall(r"\]\((.*?)\.md\)", foot) == [
        each.removeprefix("pytorch/") for each in (ids[0], ids[2])
    ]
    alone = next(
        id_
        for id_ in real().sources
        if sum(each.startswith(id_.split("/")[0] + "/") for each in real().sources) == 1
    )
    assert "See also" not in real_pages()[f"sources/{alone}.md"]


def test_lists_and_guides_say_when_they_were_last_changed() -> None:
    """Where the history is there to say it: an export of the files has none."""
    import changed

    for path, day in (
        ("sources", changed.newest("sources")),
        ("documents", changed.newest("documents")),
        ("recipe", changed.of_folder(changed.GUIDES).get("recipe.md", "")),
    ):
        text = Html(built() / path / "index.html").text
        assert (f"Last changed {day}" in text) if day else ("Last changed" not in text)


def test_pages_count_the_same_ops_and_say_which() -> None:
    """Of the newest release: on its page, in the list of ops, and in the history."""
    generator()
    from pages import differences, grid, timeline

    newest = real().releases("torch")[-1]
    ops = differences.answers(grid.answer(real(), "torch", newest, "cuda"))
    said = f"{len(ops)} ops have a known source"
    line = minor(newest)
    assert said in Html(built() / f"releases/torch/{line}/index.html").text
    (row,) = re.findall(r"\| \[PyTorch\].*", real_pages()["ops/index.md"])
    counts = [int(each) for each in row.split("|")[3:-2]]
    assert sum(counts) == len(ops)
    (table,) = [each for each in grid.grids(real(), "torch") if each.device == "cuda"]
    assert timeline.points(real(), table)[-1].known == len(ops)


def test_a_setting_that_a_solution_needs_with_others_names_them() -> None:
    """Megatron-LM 0.8 to 0.18 stop without NCCL_ALGO (kb/solutions/megatron/mdm.yaml)."""
    text = Html(built() / "settings/megatron/deterministic-mode/index.html").text
    assert "Set with it, depending on the release: NCCL_ALGO" in text
    assert "only with Transformer Engine" not in text.partition("Do I need it")[0]


def test_names_of_settings_break_only_after_their_signs() -> None:
    page = opened("settings/", viewport={"width": 1440, "height": 900})
    broken = page.locator(".d9m-cards td:first-child a").evaluate_all("""links => links
        .flatMap((link) => [...link.childNodes].filter((each) => each.nodeType === 3))
        .flatMap((text) => [...text.data.matchAll(/[^\\s-]+/g)].filter(({ 0: word, index }) => {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            const lines = new Set([...range.getClientRects()].map((each) => each.top)).size;
            return lines > 1 && word.length <= 20; // a longer one fits no column
        }).map(([word]) => word))""")
    page.close()
    assert not broken
