# pyright: basic
# ruff: noqa: UP004, UP032, S102, S110, SIM105, N807
"""Set what the plan names in this process, and watch who changes it.

Runs inside other people's programs: Python 3.5 and newer, standard library only. The plan is the
launcher's; no name of a framework is written here.
"""

import atexit
import json
import os
import sys
import time

MOST_EVENTS = 200
"""Changes that a process reports; a loop that sets a flag in each step makes no long file."""

OURS = os.path.abspath(__file__)
LIBRARY = os.path.dirname(os.__file__) + os.sep
INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

WORKERS = "multiprocessing.util"
ENDED_BY_PARENT = "multiprocessing.popen_fork"
"""Modules of Python by which workers end without `atexit`."""

ABOUT_DETERMINISM = "determinis"
"""In every warning that an op has no deterministic version."""


def locate(dotted):
    """Return the object that holds the last part of a dotted name, and that part. No import."""
    parts = dotted.split(".")
    for end in range(len(parts) - 1, 0, -1):
        owner = sys.modules.get(".".join(parts[:end]))
        if owner is not None:
            for part in parts[end:-1]:
                owner = getattr(owner, part)
            return owner, parts[-1]
    raise AttributeError(dotted)


def read(dotted):
    """Return the value of a dotted name, called if it is a function; None where it is absent."""
    try:
        owner, name = locate(dotted)
        value = getattr(owner, name)
        return value() if callable(value) else value
    except Exception:
        return None


def places(inside):
    """Return the nearest frame outside the changed package, and the nearest of the program."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        file = frame.f_code.co_filename
        is_python = file.startswith("<") or (file.startswith(LIBRARY) and not _installed(file))
        name = frame.f_globals.get("__name__") or ""
        is_inside = inside and name.split(".")[0] == inside
        if os.path.abspath(file) != OURS and not is_python and not is_inside:
            if not found or not _installed(file):
                found.append([_short(file), frame.f_lineno])
            if not _installed(file):
                break
        frame = frame.f_back
    return found[:2]


def raised_at(trace):
    """Return the last frame of the program in a traceback, else the first frame."""
    found = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not found or not (_installed(file) or file.startswith((LIBRARY, "<"))):
            found = [_short(file), trace.tb_lineno]
        trace = trace.tb_next
    return [found] if found else []


def _short(file):
    try:
        folder = os.getcwd() + os.sep
    except OSError:  # the folder was deleted
        return file
    return file[len(folder) :] if file.startswith(folder) else file


def _installed(file):
    return any(part in file for part in INSTALLED)


class ProcessLog(object):
    """A file for each process: begun at its start, a line for each event."""

    def __init__(self, folder, header):
        self.folder, self.header = folder, header
        self.process, self.path = None, ""

    def __call__(self, **event):
        if self.process != os.getpid():
            self.process, moment = os.getpid(), int(time.time() * 1e6)
            self.path = os.path.join(self.folder, "{}-{}.jsonl".format(self.process, moment))
            self._append(dict(self.header(), kind="start", pid=self.process))
        if event:
            self._append(event)

    def _append(self, record):
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            file = os.open(self.path, flags, 0o600)
            try:
                os.write(file, (json.dumps(record) + "\n").encode())
            finally:
                os.close(file)
        except OSError:
            return  # the run is over, or the disk is full


class Hook(object):
    """Settings of one process. `plan` has `statements`, `watched`, `variables`; see plan.py.

    With `watches` false, what it sets can be restored: nothing is wrapped.
    """

    def __init__(self, plan, log, watches=True):
        self.plan, self.log, self.watches = plan, log, watches
        self.expected, self.last, self.before, self.events = {}, {}, {}, 0
        named = [each["module"] for each in plan["statements"] + plan["watched"]]
        self.waiting = {WORKERS, ENDED_BY_PARENT}.union(named)
        self.searched, self.ended_in = set(), None

    def begin(self):
        for name, rule in sorted(self.plan["variables"].items()):
            value = os.environ.get(name)
            if value != rule["expected"]:  # the command's: env NAME=value python
                expected = suits(rule, value)
                self.log(kind="changed", name=name, value=value, expected=expected, places=None)
        if self.watches:
            self._watch_variables()
        if self.plan["collects"]:
            self._collect_warnings()
        sys.meta_path.insert(0, self)
        for name in sorted(self.waiting):
            if name in sys.modules:
                self.imported(name)

    # Imports: found by the other finders, seen when they end.

    def find_spec(self, name, path=None, target=None):
        if name not in self.waiting or name in self.searched:
            return None
        self.searched.add(name)  # another finder that asks all finders asks this one, too
        try:
            return self._found(name, path, target)
        finally:
            self.searched.discard(name)

    def _found(self, name, path, target):
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            if not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    self._see_end(spec.loader, name)
                return spec
        return None

    def _see_end(self, loader, name):
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)
            execute(module)
            self.imported(name)

        try:
            loader.exec_module = exec_module
        except AttributeError:  # built in: such a module runs no code
            pass

    def imported(self, name):
        """Run the statements for a module that was imported, once, then watch its settings."""
        if name not in self.waiting:
            return
        self.waiting.discard(name)
        if name == WORKERS:
            self._see_workers()
            return
        if name == ENDED_BY_PARENT:
            self._see_ended_by_parent()
            return
        self.log(kind="imported", module=name)
        watched = [each for each in self.plan["watched"] if each["module"] == name]
        self.before.update((each["name"], read(each["current"])) for each in watched)
        for each in self.plan["statements"]:
            if each["module"] == name:
                self._run(each)
        for each in watched:
            self.last[each["name"]] = self.expected[each["name"]] = read(each["current"])
            if self.watches:
                self._watch(each)

    def restore(self):
        """Give settings the values that they had, an argument of a setting before the setting."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for each in sorted(self.plan["watched"], key=lambda each: "(" not in each["name"]):
            value = self.before.get(each["name"])
            if value is not None and each["restore"] and read(each["current"]) != value:
                lines = each["restore"].format(value=repr(value))
                self._run({"name": each["name"], "lines": [lines]})

    def _run(self, each):
        try:
            exec("\n".join(each["lines"]), {})
            self.log(kind="set", name=each["name"])
        except Exception as fault:
            text = "{}: {}".format(type(fault).__name__, fault)
            self.log(kind="failed", name=each["name"], why=text[:300])

    def _watch(self, each):
        for setter in each["setters"]:
            self._wrap(setter, each)
        try:
            owner, attribute = locate(each["current"])
            if isinstance(owner, type(sys)) and not callable(getattr(owner, attribute)):
                self._watch_module(owner, attribute, each)
        except Exception:  # another release has no such name
            pass

    def _wrap(self, dotted, each):
        try:
            owner, attribute = locate(dotted)
            original = getattr(owner, attribute)
        except AttributeError:
            return

        def changed(*arguments, **named):
            result = original(*arguments, **named)
            self.look(each)
            return result

        changed.__name__ = attribute
        changed.__doc__ = getattr(original, "__doc__", None)
        setattr(owner, attribute, changed)

    def _watch_module(self, module, attribute, each):
        kind, look = module.__class__, self.look

        def setattr_(self, name, value):
            kind.__setattr__(self, name, value)
            if name == attribute:
                look(each)

        namespace = {"__setattr__": setattr_, "__module__": kind.__module__}
        module.__class__ = type(kind.__name__, (kind,), namespace)

    def look(self, each):
        """Note a value that has changed. A setter of one flag may change others, too."""
        try:
            self._look(each)
        except Exception:  # the program goes on, whatever is wrong here
            pass

    def _look(self, each):
        for other in self.plan["watched"]:
            if other["module"] == each["module"] and other["name"] in self.last:
                value = read(other["current"])
                if value != self.last[other["name"]]:
                    self.last[other["name"]] = value
                    is_expected = value == self.expected[other["name"]]
                    self._note(other["name"], value, is_expected, each["module"])

    def _note(self, name, value, is_expected, inside):
        self.events += 1
        if self.events <= MOST_EVENTS:
            value = None if value is None else str(value)
            places_ = places(inside)
            self.log(kind="changed", name=name, value=value, expected=is_expected, places=places_)

    # Variables.

    def _watch_variables(self):
        kind, variables = type(os.environ), self.plan["variables"]
        set_, delete = kind.__setitem__, kind.__delitem__

        def note(name, before):
            value = os.environ.get(name)
            if name in variables and value != before:
                self._note(name, value, suits(variables[name], value), None)

        def __setitem__(environ, name, value):
            before = os.environ.get(name) if name in variables else None
            set_(environ, name, value)
            note(name, before)

        def __delitem__(environ, name):
            before = os.environ.get(name) if name in variables else None
            delete(environ, name)
            note(name, before)

        kind.__setitem__, kind.__delitem__ = __setitem__, __delitem__  # pyright: ignore

    # Warnings.

    def _collect_warnings(self):
        import warnings

        show, log = warnings.showwarning, self.log

        def showwarning(message, category, filename, lineno, file=None, line=None):
            if ABOUT_DETERMINISM in str(message).lower():
                log(kind="warned", why=str(message)[:1000], places=places(None))
            else:
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = showwarning

    # Ends.

    def _see_workers(self):
        """A forked worker ends by os._exit, after it has run what it was told to."""
        util = sys.modules[WORKERS]

        def began(_hook):
            util.Finalize(None, self.ended, exitpriority=-100)

        util.register_after_fork(self, began)

    def _see_ended_by_parent(self):
        """A pool ends its workers by a signal: that is no fault."""
        kind = sys.modules[ENDED_BY_PARENT].Popen

        def seen(original):
            def end(popen):
                self.log(kind="terminated", process=popen.pid)
                return original(popen)

            return end

        for name in ("terminate", "kill"):
            if hasattr(kind, name):
                setattr(kind, name, seen(getattr(kind, name)))

    def ended(self):
        if self.ended_in == os.getpid():
            return
        self.ended_in = os.getpid()
        fault = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        error, at = None, []
        if isinstance(fault, Exception):
            error = "{}: {}".format(type(fault).__name__, fault)[:1000]
            at = raised_at(fault.__traceback__)
        imports = [name for name in self.plan["imports"] if name in sys.modules]
        self.log(kind="end", imports=imports, values=self.values(), error=error, places=at)

    def values(self):
        """Return what differs now from what was set: flags by name."""
        now = {each["name"]: read(each["current"]) for each in self.plan["watched"]}
        return {
            name: None if now[name] is None else str(now[name])
            for name in self.expected
            if now[name] != self.expected[name]
        }


def suits(rule, value):
    """Return whether a variable's value does what it is set for."""
    if value is None:
        return rule.get("absent", False)
    if rule.get("absent"):
        return False
    if rule.get("separator") is not None:
        return set(rule["accepts"]) <= set(value.split(rule["separator"]))
    if rule.get("any_value"):
        return bool(value) and value not in rule["refuses"]
    return not rule["accepts"] or value in rule["accepts"]


RANKS = {
    "RANK": ["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"],
    "LOCAL_RANK": ["LOCAL_RANK"],
    "LOCAL_WORLD_SIZE": ["LOCAL_WORLD_SIZE", "LOCAL_SIZE"],
}
"""Name -> how launchers write it; the first one wins."""


def begin(folder):
    """Begin in this process, as the launcher asked."""
    with open(os.path.join(folder, "plan.json")) as file:
        plan = json.load(file)

    def header():
        ranks = {}
        for name, written in RANKS.items():
            values = [os.environ[each] for each in written if each in os.environ]
            if values:
                ranks[name] = values[0]
        return {"python": ".".join(map(str, sys.version_info[:3])), "ranks": ranks}

    log = ProcessLog(folder, header)
    log()
    hook = Hook(plan, log)

    atexit.register(hook.ended)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=log)
    hook.begin()
