"""Lighthouse on a page of each kind: `python tests/benchmarks/lighthouse.py [KIND...]`, after
`mkdocs build`.

Serves build/site as a static host does, compressed, and asks for all four categories on a phone and
on a desktop. Lighthouse is not a package of Python's: `npm install -g lighthouse`, beside a
Chromium that it may drive."""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import json
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SITE = Path(__file__).parents[2] / "build" / "site"
BASE = "/d9m"
LEAST = 95

KINDS = {
    "start": "",
    "advice": "?torch=2.6&ops=conv,interpolate",
    "prose": "recipe/",
    "statuses": "status/",
    "status": "status/torch/",
    "release": "releases/torch/2.6/",
    "sources": "sources/",
    "source": "sources/tensorflow/bias-add/",
    "ops": "ops/",
    "catalogue": "ops/torch/",
    "solution": "solutions/pytorch/uda/",
    "setting": "settings/pytorch/cublas-workspace-config/",
    "ingredient": "ingredients/seeds/",
    "helper": "helpers/transformers/enable-full-determinism/",
    "errors": "errors/",
    "error": "errors/pytorch/cublas-config/",
    "containers": "containers/",
    "container": "containers/ngc-pytorch/24.12-py3/",
    "package": "versions/torch/",
    "threads": "pull-requests/",
    "run": "runs/torch-2.13.0-cpu/",
    "runs": "runs/",
    "documents": "documents/",
    "myths": "myths/",
    "corrections": "corrections/",
    "reference": "reference/records/",
    "rule": "lint/",
    "rule of the scan": "scan/unused-ignore/",
}
"""A page of each kind."""

CATEGORIES = ("performance", "accessibility", "best-practices", "seo")


class _Host(SimpleHTTPRequestHandler):
    """A static host: compresses what is text, keeps connections open, and says nothing."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = self.path.partition("?")[0]
        place = Path(self.directory) / address.removeprefix(BASE).strip("/")
        if place.is_dir():
            place /= "index.html"
        found = address.startswith(BASE) and place.is_file()
        place = place if found else Path(self.directory) / "404.html"
        body = _compressed(place)
        self.send_response(200 if found else 404)
        self.send_header(
            "Content-Type",
            self.guess_type(str(place)) + "; charset=utf-8" * (place.suffix == ".html"),
        )
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):  # a browser that has left the page
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the library
        """Say nothing."""


@functools.cache
def _compressed(place: Path) -> bytes:
    return gzip.compress(place.read_bytes(), 6, mtime=0)


def report(program: str, address: str, chromium: str, desktop: bool) -> dict[str, Any]:
    """What Lighthouse says of one page."""
    command = [
        program,
        address,
        "--quiet",
        "--output=json",
        "--output-path=stdout",
        f"--chrome-path={chromium}",
        "--chrome-flags=--headless=new --no-sandbox",
        f"--only-categories={','.join(CATEGORIES)}",
        *(["--preset=desktop"] if desktop else []),
    ]
    return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=300).stdout)


def best(program: str, address: str, chromium: str, desktop: bool, runs: int) -> dict[str, Any]:
    """The best of up to so many reports, at once if it leaves nothing to wish: what else a machine
    does only slows.
    """
    found: list[dict[str, Any]] = []
    while len(found) < runs and (not found or min(scores(found[-1])) < LEAST):
        found.append(report(program, address, chromium, desktop))
    return max(found, key=scores)


def scores(found: dict[str, Any]) -> list[int]:
    """Of each category, out of a hundred."""
    return [round(found["categories"][each]["score"] * 100) for each in CATEGORIES]


def faults(found: dict[str, Any]) -> list[str]:
    """What keeps a page's categories from all they could have, with the first places."""
    told: list[str] = []
    for category in CATEGORIES:
        if found["categories"][category]["score"] * 100 >= LEAST:
            continue
        for each in found["categories"][category]["auditRefs"]:
            audit = found["audits"][each["id"]]
            if each["weight"] and audit["score"] is not None and audit["score"] < 0.9:
                places = [
                    item["node"]["selector"]
                    for item in audit.get("details", {}).get("items", [])
                    if "node" in item
                ]
                told.append(
                    (
                        f"{category}: {audit['title']} {audit.get('displayValue', '')} "
                        f"{'; '.join(places[:3])}"
                    ).rstrip()
                )
    return told


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Lighthouse on a page of each kind of the built site."
    )
    parser.add_argument("kind", nargs="*", help="kinds of pages; all of them if none is named")
    parser.add_argument(
        "--runs", type=int, default=3, help="reports of a page that scores low; the best one counts"
    )
    parser.add_argument("--site", type=Path, default=SITE, help="the built site")
    asked = parser.parse_args()
    program, chromium = (
        shutil.which("lighthouse"),
        shutil.which("chromium") or shutil.which("google-chrome"),
    )
    if not program or not chromium:
        sys.stderr.write(
            "Lighthouse is not installed: npm install -g lighthouse; apt-get install chromium\n"
        )
        return 2
    if not (asked.site / "index.html").is_file():
        sys.stderr.write(f"{asked.site}: no built site; mkdocs build --strict\n")
        return 2
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Host, directory=str(asked.site))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    low = 0
    print(f"{'':<26}" + "".join(f"{each:>16}" for each in CATEGORIES))
    for kind in asked.kind or KINDS:
        for desktop in (False, True):
            address = f"http://127.0.0.1:{server.server_port}{BASE}/{KINDS[kind]}"
            found = best(program, address, chromium, desktop, asked.runs)
            low += min(scores(found)) < LEAST
            row = f"{kind + (', desktop' if desktop else ', phone'):<26}"
            print(row + "".join(f"{each:>16}" for each in scores(found)))
            print("".join(f"    {each}\n" for each in faults(found)), end="", flush=True)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
