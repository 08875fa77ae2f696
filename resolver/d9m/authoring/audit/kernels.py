"""CUDA functions that add in any order: has a record each of them?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9m.authoring.audit.operators import sources_of_name
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.model.kernel_facts import KernelUse
from d9m.model.versions import in_order
from d9m.model.wheel_facts import spans

_AFFIXES = re.compile(r"^launch_|(?:_out)?(?:_cuda)?(?:_kernel|_impl|_template)?$")


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`kernel-without-record`: no op with a source has the name of the function or of its alert."""
    tables: dict[str, dict[str, list[KernelUse]]] = {}
    for table in shipped.kernels:
        tables.setdefault(table.package, {})[table.version] = table.uses
    for package, versions in tables.items():
        releases = in_order(versions)
        found: dict[tuple[str, str], set[str]] = {}
        for version in releases:
            for use in versions[version]:
                if not any(any(sources_of_name(known, package, name)) for name in _names(use)):
                    subject = f"{package}:{use.file.rpartition('/')[2]}:{use.function}"
                    found.setdefault((subject, use.how), set()).add(version)
        for (subject, how), those in found.items():
            span = spans(list(releases), [each in those for each in releases])
            yield AuditDifference(
                "kernel-without-record",
                f"{subject}:{how}",
                span,
                "no op with a source is called so",
            )


def _names(use: KernelUse) -> set[str]:
    """Of the function, as ATen and the public namespaces would call it, and of its alerts."""
    short = _AFFIXES.sub("", use.function)
    return {
        *use.alert.split(", "),
        use.function,
        short,
        f"torch.ops.aten.{short}",
        f"torch.{short}",
    }
