"""Which qualified name a call has."""

from __future__ import annotations

import ast

import pytest

from d9m.scan.reading.names import Names

TABLE = {
    "import torch\nZ = torch.histc(x)": "torch.histc",
    "import torch.nn.functional as F\nF.pad(x)": "torch.nn.functional.pad",
    "from torch import nn as n\nn.Linear(1)": "torch.nn.Linear",
    "from .seed import set_seed\nset_seed(1)": ".seed.set_seed",
    "from .. import seed\nseed.set_seed(1)": "..seed.set_seed",
    "try:\n    import a as b\nexcept ImportError:\n    b = None\ndef f():\n    b.c()": "a.c",
    "try:\n    import a.x as b\nexcept ImportError:\n    import c as b\nb.d()": "a.x.d",
    "def f(torch):\n    torch.histc(1)": None,
    "import torch\na = torch.nn\nb = a.functional\nb.pad(x)": "torch.nn.functional.pad",
    "x = 1\nx = x\nx.a()": None,
    "import numpy as np\nnp = 3\nnp.a()": None,
    "import numpy as np\nnp.a()\nnp = 3": "numpy.a",
    "class Model:\n    def run(self): ...\nModel.run(1)": ":Model.run",
    "import a\ndef f():\n    global a\n    import b as a\n    a.x()": "b.x",
    "def f():\n    import a\n    def g():\n        nonlocal a\n        a.x()": "a.x",
    "class A:\n    import a\n    def f(self):\n        a.x()": None,
    "class A:\n    import a\n    a.x()": "a.x",
    "sorted(x)": "builtins.sorted",
    "def sorted(x): ...\nsorted(x)": ":sorted",
    "import importlib\nm = importlib.import_module('torch')\nm.histc(x)": "torch.histc",
    "import torch\nm = getattr(torch, 'nn')\nm.Linear(1)": "torch.nn.Linear",
    "import torch\nwith torch as t:\n    t.a()": None,
    "import torch\nfor torch in x:\n    torch.a()": None,
    "import torch\nmatch x:\n    case [torch, *rest]:\n        torch.a()": None,
    "import os.path\nos.listdir(x)": "os.listdir",
    "a = b\nb = a\na.x()": None,
    "x.y.z()": None,
}


@pytest.mark.parametrize("text", TABLE)
def test_the_qualified_name_of_the_last_call(text: str) -> None:
    tree = ast.parse(text)
    names = Names(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    last = max(calls, key=lambda call: (call.lineno, call.end_col_offset or 0))
    scope = 0
    for node, number in names.numbers.items():
        assert isinstance(node, ast.FunctionDef | ast.ClassDef)
        if node.lineno < last.lineno <= (node.end_lineno or 0):
            scope = max(scope, number)
    assert names.resolve(scope, last.func, last.lineno) == TABLE[text]
