"""What the site serves beside its pages: every file is of its published type, and everything is
there.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from site_build import ROOT, SITE, built, generator, need_mkdocs, real, real_pages

from d9m.about import SCHEMA_VERSION
from d9m.kb import kinds

API = "api/v1"
ATOM = "{http://www.w3.org/2005/Atom}"


@functools.cache
def exported() -> dict[str, bytes]:
    """Every file of the API that the site serves."""
    return {
        path.relative_to(built()).as_posix(): path.read_bytes()
        for path in (built() / API).rglob("*.json")
    }


def _json(path: str) -> Any:
    return json.loads((built() / path).read_bytes())


@functools.cache
def _described() -> list[tuple[re.Pattern[str], str]]:
    """Addresses in the API's description, the most particular first, and the type behind each."""
    found: list[tuple[int, int, re.Pattern[str], str]] = []
    for address, about in _json(f"{API}/openapi.json")["paths"].items():
        schema = about["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        holes = re.sub(r"\{(\w+)\}", lambda hole: ".+" if hole[1] == "id" else "[^/]+", address)
        pattern = re.compile(holes.replace(".json", r"\.json"))
        found.append(
            (address.count("{"), -len(address), pattern, schema["$ref"].rpartition("/")[2])
        )
    return [
        (pattern, name)
        for _holes, _length, pattern, name in sorted(found, key=lambda each: each[:2])
    ]


def _type_of(path: str) -> str:
    """The type that the API's description gives a file, by its address."""
    address = path.removeprefix(API)
    return next(name for pattern, name in _described() if pattern.fullmatch(address))


def _validator(name: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/$defs/{name}", "$defs": _json(f"{API}/schema.json")["$defs"]}
    )


def test_every_file_of_the_api_is_of_the_type_that_its_description_gives() -> None:
    validators: dict[str, Any] = {}
    paths = [
        path
        for path in exported()
        if path.startswith(API) and not path.endswith(("schema.json", "openapi.json"))
    ]
    assert len(paths) > 1000
    for path in paths:
        name = _type_of(path)
        validators.setdefault(name, None if name in validators else _validator(name))
        content = json.loads(exported()[path])
        if not validators[name].is_valid(content):
            pytest.fail(
                f"{path} is no {name}: {str(next(validators[name].iter_errors(content)))[:500]}"
            )
    assert validators.keys() >= {
        "Index",
        "Listing",
        "SourceFile",
        "OpFile",
        "PackageFile",
        "ReleaseFile",
        "Everything",
    }


def test_the_schema_of_the_commands_is_served_under_the_address_that_it_names() -> None:
    found = _json(f"schema/{SCHEMA_VERSION}.json")
    assert found == json.loads((ROOT / f"schema/{SCHEMA_VERSION}.json").read_bytes())
    assert found["$id"].endswith(f"/d9m/schema/{SCHEMA_VERSION}.json")


def test_the_types_refuse_what_is_wrong() -> None:
    validator = _validator("SourceFile")
    right = _json(f"{API}/sources/tensorflow/bias-add.json")
    assert validator.is_valid(right)
    assert not validator.is_valid({**right, "record": {**right["record"], "timeline": "none"}})
    assert not validator.is_valid(
        {name: value for name, value in right.items() if name != "evidence"}
    )


def test_every_record_op_package_and_release_has_a_file() -> None:
    kb = real()
    for kind in (
        kinds.SOURCES,
        kinds.SOLUTIONS,
        kinds.INGREDIENTS,
        kinds.HELPERS,
        kinds.ERRORS,
        kinds.PULL_REQUESTS,
        kinds.ISSUES,
        kinds.MYTHS,
    ):
        assert {f"{API}/{kind.name}/{id_}.json" for id_ in kb.of(kind)} <= exported().keys()
    assert {f"{API}/packages/{name}.json" for name in kb.packages} <= exported().keys()
    for package in kb.meta.prefixes:
        assert {
            f"{API}/packages/{package}/{each}.json" for each in kb.releases(package)
        } <= exported().keys()
        assert _json(f"{API}/packages/{package}/latest.json")["version"] == kb.releases(package)[-1]
    assert _json(f"{API}/packages/torch/2.9.json")["version"] == "2.9.1"
    names = {key.partition(":")[2] for key in kb.ops}
    told = {
        entry["id"]
        for package in kb.meta.prefixes
        for entry in _json(f"{API}/ops/{package}/index.json")["entries"]
    }
    assert told == names


def test_one_file_holds_what_all_others_hold() -> None:
    everything = _json(f"{API}/all.json")
    assert everything["records"]["sources"]["tensorflow/bias-add"] == _json(
        f"{API}/sources/tensorflow/bias-add.json"
    )
    records = sum(len(each) for each in everything["records"].values())
    assert records == sum(
        len(_json(f"{API}/{kind}/index.json")["entries"]) for kind in everything["records"]
    )


def test_every_address_in_the_api_leads_to_a_file_of_the_site() -> None:
    generator()
    from exports.addresses import SITE as ADDRESS

    configured = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"site_url: {ADDRESS}" in configured
    dead: set[str] = set()
    for path, content in exported().items():
        if path.startswith(API) and not path.endswith("all.json"):
            found = set(re.findall(rf'"{re.escape(ADDRESS)}([^"#{{]*)', content.decode()))
            dead |= {each for each in found if not _is_there(each)}
    assert dead <= {"api/v1", f"{API}/badges/sources/"}


@functools.cache
def _is_there(address: str) -> bool:
    place = built() / address
    return place.is_file() or (place / "index.html").is_file()


def test_a_release_file_says_what_the_advice_says() -> None:
    from d9m.api import advise
    from d9m.environment.environment import Setup

    file = _json(f"{API}/packages/torch/2.4.0.json")
    advice = advise(real(), Setup((("torch", "2.4.0"),)))
    assert file["settings"]["env"] == advice.settings.env
    assert {name: each["outcome"] for name, each in file["ops"].items()} == {
        op.query: op.outcome for op in advice.ops if op.sources
    }


@pytest.mark.parametrize("name", ["all", "tensorflow", "torch"])
def test_a_feed_is_well_formed_dated_and_leads_to_pages(name: str) -> None:
    feed = ElementTree.fromstring((built() / f"feeds/{name}.xml").read_bytes())
    assert feed.findtext(f"{ATOM}updated") == f"{real().meta.date}T00:00:00Z"
    entries = feed.findall(f"{ATOM}entry")
    assert entries
    dates = [each.findtext(f"{ATOM}updated") for each in entries]
    assert dates == sorted(dates, reverse=True)  # type: ignore[type-var]
    ids = [each.findtext(f"{ATOM}id") for each in entries]
    assert len(set(ids)) == len(ids)
    for each in entries:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00Z", each.findtext(f"{ATOM}updated") or "")
        link = each.find(f"{ATOM}link")
        assert link is not None
        assert _is_there(link.attrib["href"].partition("/d9m/")[2])
        assert "->" in (each.findtext(f"{ATOM}summary") or "")


def test_a_badge_says_what_the_newest_release_does() -> None:
    badge = _json(f"{API}/badges/sources/tensorflow/bias-add.json")
    assert badge["schemaVersion"] == 1
    assert badge["message"].startswith("solved with")


def test_other_names_lead_on() -> None:
    for old in (
        "solutions/tdo",
        "settings/TF_DETERMINISTIC_OPS",
        "versions/pytorch",
        "ops/tensorflow/conv",
    ):
        text = (built() / old / "index.html").read_text(encoding="utf-8")
        target = re.search(r'url=([^"#]*)', text)
        assert target is not None
        assert (built() / old / target[1] / "index.html").resolve().is_file(), old


def test_every_page_has_a_twin_in_markdown() -> None:
    pages = {
        *real_pages(),
        *(path.relative_to(SITE / "docs").as_posix() for path in (SITE / "docs").rglob("*.md")),
    }
    for path in pages:
        twin = built() / path
        assert twin.is_file(), path
        text = twin.read_text(encoding="utf-8")
        assert not text.startswith("---"), path
        assert "<form" not in text, path
        assert "</script>" not in text, path


def test_the_list_for_language_models_leads_to_twins() -> None:
    text = (built() / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# d9m\n\n> ")
    links = re.findall(r"\]\(https://[^/]*/d9m/([^)]*)\)", text)
    assert len(links) > 100
    assert len(text) < 100_000
    assert "[about.md]" not in text
    assert not [each for each in links if not (built() / each).is_file()]


def test_the_site_map_names_every_page_by_its_canonical_address() -> None:
    text = (built() / "sitemap.xml").read_text(encoding="utf-8")
    mapped = re.findall(r"<loc>([^<]*)</loc>", text)
    assert len(mapped) == len(set(mapped))
    page = (built() / "sources/tensorflow/bias-add/index.html").read_text(encoding="utf-8")
    canonical = re.search(r'<link rel="canonical" href="([^"]*)"', page) or re.search(
        r"canonical href=(\S+?)>", page
    )
    assert canonical is not None
    assert canonical[1].strip('"') in mapped


def test_the_workflow_builds_as_the_tests_do() -> None:
    need_mkdocs()
    workflow = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert any("mkdocs build --strict" in step.get("run", "") for step in steps)
    assert any(step.get("uses", "").startswith("actions/deploy-pages@") for step in steps)
