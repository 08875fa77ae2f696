# pyright: basic
"""Records of ops: what each read, which arguments it had, what it wrote."""

from __future__ import annotations

from json.encoder import encode_basestring_ascii as quoted

from ..core.stream import compact
from . import settings
from .plan import Plan, plan
from .tensors import silent
from .zoom import Keep, Zoom

FAULTY_OPS = 20
"""Ops whose recording may fail before none is recorded any more."""


NUMBERS = (bool, int, float, complex)
"""Values that take the place of a tensor: `x * 2` calls an op that takes two tensors."""


class Ops:
    """Called by the mode around every op. A fault here never reaches the program."""

    def __init__(self, torch, session, memories, places) -> None:
        self.session = session
        self.plans: dict = {}
        self.working = True
        """Whether calls are recorded; `viewing`: whether views are noticed."""
        self.viewing = True
        self._torch = torch
        self._memories = memories
        self._places = places
        self._sites: dict = {}
        self._count = 0
        self._groups: dict = {}
        self._failed = 0
        self._updating = None
        """The run of torch's optimizer that called the last op; None: something else did."""
        self._place = None
        self._tensor = torch.Tensor
        self._cut = session.digester.cut
        self._silent = silent(torch)
        self._strided = torch.strided
        self._zoom = Zoom(torch, session) if session.settings.zoom else None
        self._keep = Keep(torch, session) if session.settings.keep else None
        self._modules = session.settings.modules
        self._capturing = None
        if torch.version.cuda or getattr(torch.version, "hip", None):
            self._capturing = getattr(torch.cuda, "is_current_stream_capturing", None)

    # Methods that the mode calls.

    def learn(self, function) -> Plan:
        try:
            found = plan(self._torch, function)
        except Exception as fault:
            self.session.fault(f"the schema of {function}", fault)
            found = Plan(str(function), "")
            found.passes = True
        self.plans[function] = found
        return found

    def passed(self, frame) -> None:
        try:
            self._places.view(frame)
        except Exception as fault:
            self.viewing = False
            self.session.fault("views", fault)

    def before(self, plan: Plan, args, kwargs, frame):
        """Return what `after` needs; None: this call is not recorded."""
        if not self.working:
            return None
        try:
            return self._before(plan, args, kwargs, frame)
        except Exception as fault:
            self._fail(plan, fault)
            return None

    def after(self, plan: Plan, about, found) -> None:
        try:
            if plan.collective:
                self._collected(plan, about, found)
            else:
                self._after(plan, about, found)
        except Exception as fault:
            self._fail(plan, fault)

    def _fail(self, plan: Plan, fault: Exception) -> None:
        """This op is not recorded any more; after many, none is."""
        plan.passes = True
        self._failed += 1
        self.working = self._failed < FAULTY_OPS
        self.session.fault(plan.name, fault)

    # Before.

    def _before(self, plan: Plan, args, kwargs, frame):
        if plan.makes and _is_empty(args):
            return None
        updating = self._places.update(frame)
        if updating is None or updating != self._updating:
            self._memories.moves_on()
            self._place = self._places.here(frame)
        self._updating = updating
        place = self._place
        if self._modules and not _is_within(place, self._modules):
            return None
        kind, read, shape = self._tensor, self._memories.read, self._shape
        inputs, shapes, overwritten, written, texts, left = [], [], [], [], [], []
        device = None
        for name, tensors, is_read, is_written, value, default in _given(plan, args, kwargs):
            if not tensors or isinstance(value, NUMBERS):
                if value is not default and (default is None or value != default):
                    text = _shown(value)
                    if text is not None:
                        texts.append(f"{name}={text}")
                continue
            for tensor in (value,) if isinstance(value, kind) else _tensors(value, kind):
                if device is None:
                    device = tensor.device
                if is_read:
                    inputs.append(read(tensor))
                    shapes.append(shape(tensor))
                else:
                    overwritten.append(shape(tensor))
                if is_written:
                    written.append(tensor)
                elif not is_read:
                    left.append(tensor)
        device = device or kwargs.get("device") or "cpu"
        if self._is_capturing(device):
            self.session.unseen("cuda-graph")
            return None
        generator = self._generator(kwargs, args, device) if plan.random else ""
        site = self._site(plan, (*shapes, *overwritten), device, place, frame)
        if self._zoom is not None:
            self._zoom.called(site, plan.random, args, kwargs, device)
        if self._keep is not None:
            self._keep.before(plan, place, args, kwargs)
        if plan.collective:
            left = _group(self._torch, plan, args, kwargs)
        return site, ", ".join(texts), inputs, generator, written, left

    def _shape(self, tensor):
        if tensor.is_nested:
            return tensor.dtype, None, None
        if tensor.layout is not self._strided or tensor.is_contiguous():
            return tensor.dtype, tensor.shape, None
        return tensor.dtype, tensor.shape, tensor.stride()

    def _is_capturing(self, device) -> bool:
        if self._capturing is None or not str(device).startswith("cuda"):
            return False
        return self._torch.cuda.is_initialized() and self._capturing()

    def _generator(self, kwargs, args, device) -> str:
        """Seed and state of the generator that the op will draw from, as the last item."""
        torch = self._torch
        generator = kwargs.get("generator")
        for value in args:
            if isinstance(value, torch.Generator):
                generator = value
        if generator is None:
            generator = settings.default_generator(torch, torch.device(device))
        if generator is None:
            return ""
        with self._silent():
            state = settings.state(generator, self.session.digester)
        return f',["{generator.initial_seed()}","{state}"]'

    def _site(self, plan: Plan, shapes: tuple, device, place, frame) -> int:
        phase, node, module, source = place
        led = self._places.callers(frame, place) if plan.random else ()
        key = plan, phase, node, module, source, shapes, device, led
        found = self._sites.get(key)
        if found is None:
            found = self._sites[key] = self._count
            self._count += 1
            file = None if source is None else [source[0], source[2], source[1]]
            shown = [_described(shape) for shape in shapes]
            if self._zoom is not None:
                self._zoom.learn(found, plan.name, plan.overload, phase, node, module)
            items = [
                "S", found, plan.name, plan.overload, phase, node, module, file, shown, str(device),
                led or self._places.callers(frame, place),
            ]  # fmt: skip
            self.session.add(compact(items) + "\n")
        return found

    # After.

    def _after(self, plan: Plan, about, found) -> None:
        site, arguments, inputs, generator, written, left = about
        memories = self._memories
        if self._updating is None:
            memories.moves_on()
        returned = _tensors(found, self._tensor)
        if written or left:
            known = {id(tensor) for tensor in (*written, *left)}
            returned = [tensor for tensor in returned if id(tensor) not in known]
        if plan.makes and not self._fills():
            outputs = [memories.blank(tensor) for tensor in returned]
        else:
            outputs = [memories.read(tensor, True) for tensor in returned]
        outputs += [memories.wrote(tensor) for tensor in written]
        if self._keep is not None:
            self._keep.after([*returned, *written])
        self.session.add(
            f'["o",{site},{quoted(self._cut(arguments))},{_listed(inputs)},{_listed(outputs)}'
            f"{generator}]\n"
        )
        if plan.value:
            self.session.record("v", site, repr(found))

    def _fills(self) -> bool:
        """Whether torch itself writes new memory, as it does in its deterministic mode."""
        torch = self._torch
        return torch.are_deterministic_algorithms_enabled() and settings.fills(torch)

    def _collected(self, plan: Plan, about, found) -> None:
        _site, _arguments, inputs, _generator, written, group = about
        number = self._groups.get(group, 0)
        self._groups[group] = number + 1
        new = [] if written else _tensors(found, self._tensor)
        numbers = [self._memories.collected(tensor) for tensor in (*written, *new)]
        storages = [storage for storage in numbers if storage is not None]
        self.session.record("k", plan.name, group, number, inputs, storages)


def _given(plan: Plan, args, kwargs):
    """Name, holds tensors, is read, is written, value, default of each argument that was given."""
    if plan.higher:
        for value in (*args, *kwargs.values()):
            yield "", True, True, False, value, None
        return
    count = len(args)
    for index, (name, tensors, read, written, default) in enumerate(plan.arguments):
        if index < count:
            yield name, tensors, read, written, args[index], default
        elif name in kwargs:
            yield name, tensors, read, written, kwargs[name], default


def _is_within(place, modules) -> bool:
    """Whether a place is in one of the modules, or in what encloses one. Optimizers never are."""
    phase, _node, module, _source = place
    if phase == "opt":
        return False
    return any(
        not module or (module + ".").startswith(one + ".") or one.startswith(module + ".")
        for one in modules
    )


def _is_empty(args) -> bool:
    """Whether memory of no size is made, as each tensor that comes from a worker is at first: when,
    is chance.
    """
    return 0 in next((value for value in args if isinstance(value, (list, tuple))), ())


def _tensors(value, kind) -> list:
    """Return those in a value, however deep its lists are."""
    if isinstance(value, kind):
        return [value]
    found: list = []
    if isinstance(value, (list, tuple)):
        for element in value:
            if isinstance(element, kind):
                found.append(element)
            elif isinstance(element, (list, tuple)):
                found += _tensors(element, kind)
    return found


def _described(shape) -> str:
    kind, size, strides = shape
    text = f"{str(kind).replace('torch.', '')}{'[nested]' if size is None else list(size)}"
    return text if strides is None else f"{text} strides {list(strides)}"


def _shown(value) -> str | None:
    """A value that is not a tensor; None where its text changes from run to run."""
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_shown(element) or "?" for element in value) + "]"
    text = str(value)
    if " object at 0x" in text or "Generator" in type(value).__name__:
        return None
    return text.replace("torch.", "")


def _listed(texts: list) -> str:
    return '["' + '","'.join(texts) + '"]' if texts else "[]"


def _group(torch, plan: Plan, args, kwargs) -> str:
    """The name of a collective's group; empty if torch does not say."""
    for name, _tensors, _read, _written, value, _default in _given(plan, args, kwargs):
        if name == "group_name":
            return str(value)
        if name == "process_group":
            return str(torch.distributed.ProcessGroup.unbox(value).group_name)
    return ""
