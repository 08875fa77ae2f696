"""Code that looks at results or shows them, as its names say: nothing is trained on what it
computes.
"""

from __future__ import annotations

import re

from d9m.scan.facts import FileFacts, Order, WrittenCall

_NAMES = re.compile(
    r"(?i)metric|evaluat|(^|_)eval(_|\b)|visuali[sz]|plot|explain|analy[sz]|inspect|bootstrap"
    r"|(^|[-_ ])(demo|infer|inference|interactive|latency|predict|profile|report|reward|server"
    r"|statistics|summary)(_|\b)|(^|_)(colou?rs|vis|viz)(_|\.|\b)|^untitled|playground|sandbox|scratch"
    r"|^tests?[-_ ].*\.ipynb$"
)
_SHOWS = re.compile(r"(?i)summary|plot|visuali[sz]|(^|_)(show|display|report)(_|$)|(^|_)log_")
_ASIDE = re.compile(
    r"(?i)(^|[_/])(demos?|visuali[sz]ations?|analysis|analysis_tools|benchmark|deploy\w*|serving"
    r"|server|inference)(/|$)"
)
"""Folders of code that shows or serves."""
_RETIRED = re.compile(r"(?i)(^|/)_?(archived?|deprecated|legacy|obsolete|old|outdated)(/|$)")
"""Folders of code that is kept and no longer used."""
_VENDORED = re.compile(
    r"(?i)(^|/)(externals?|extern|third_?part(y|ies)|3rd_?party|vendor(ed)?|submodules?|papers)(/|$)"
)
"""Folders of copies of other projects."""
_TRAINS = re.compile(r"(?i)(^|_|\.)(pre|re)?(train|fit|finetune)(er|_|\.|\b)")


_OF_DATA = re.compile(
    r"(?i)(^|_)(augment\w*|preprocess\w*|collate\w*|datasets?|transforms)(_|\.|\b)"
)


_LOADS_DATA = re.compile(r"Data[Ss]ets?(_?[A-Z0-9]\w*)?\.|(?i:collate)")
_OF_WEIGHTS = re.compile(
    r"(?i)state_dict|checkpoint|ckpt|pretrained|load_\w*(weight|model|param)|(resi[sz]e|interpolate)_pos"
)


def prepares(facts: FileFacts, found: WrittenCall) -> bool:
    """Whether the name of a file, or of the function around, says that it prepares data: what a
    model is given has no gradient.
    """
    function = facts.scopes[found.scope].name
    return any(_OF_DATA.search(name) for name in (facts.path.rpartition("/")[2], function))


def loads_weights(facts: FileFacts, found: WrittenCall) -> bool:
    """Whether the name of the function around says that it loads weights: those have no gradient
    yet.
    """
    return bool(_OF_WEIGHTS.search(facts.scopes[found.scope].name.rpartition(".")[2]))


def is_in_loader(facts: FileFacts, found: WrittenCall) -> bool:
    """Whether the name of the class or function around says that it loads data: a dataset, or what
    puts a batch together.
    """
    return bool(_LOADS_DATA.search(facts.scopes[found.scope].name))


def measures(facts: FileFacts, found: WrittenCall | Order) -> bool:
    """Whether the name of a file, or of the function around, says that it measures or draws."""
    function = facts.scopes[found.scope].name
    for name in (facts.path.rpartition("/")[2], function):
        if _NAMES.search(name) and not _TRAINS.search(name):
            return True
    return False


def shows(name: str) -> bool:
    """Whether the name of a function says that it shows or notes what it gets.

    >>> shows("save_summary_training"), shows("save_model")
    (True, False)
    """
    return bool(_SHOWS.search(name))


def is_aside(path: str) -> bool:
    """Whether the folders of a file say that it shows, measures or serves."""
    return bool(_ASIDE.search(path.rpartition("/")[0]))


def is_retired(path: str) -> bool:
    """Whether a folder of a file says that it is kept and no longer used.

    >>> is_retired("archived/train.py"), is_retired("threshold/old.py")
    (True, False)
    """
    return bool(_RETIRED.search(path.rpartition("/")[0]))


def is_vendored(path: str) -> bool:
    """Whether a folder of a file says that it is a copy of another project.

    >>> is_vendored("external/YOLOX/train.py"), is_vendored("internal/train.py")
    (True, False)
    """
    return bool(_VENDORED.search(path.rpartition("/")[0]))
