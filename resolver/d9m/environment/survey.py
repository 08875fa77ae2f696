# pyright: basic
# ruff: noqa: E402, RUF005, S112, T201
"""The survey of a Python and its machine, from metadata: no framework is imported.

One text for any Python from 3.6 on, standard library only: `interpreter` and the workers of
`d9m check` run it where the framework is."""

import sys

sys.path[:] = [place for place in sys.path if place]  # not the modules of the current folder

import json
import os

try:
    from importlib.metadata import version
except ImportError:  # Python 3.6, 3.7

    def version(distribution_name):
        from pkg_resources import get_distribution

        return get_distribution(distribution_name).version


def survey(asked):
    """Return what is installed, set and free here, of what is asked for."""
    versions = {}
    for name in asked["distributions"]:
        try:
            versions[name] = version(name)
        except Exception:
            continue
    return {
        "versions": versions,
        "python": ".".join(map(str, sys.version_info[:3])),
        "variables": {name: os.environ[name] for name in asked["variables"] if name in os.environ},
        "drivers": [each for each in asked["drivers"] if os.path.exists(each)],
        "cores": usable_cores(),
        "memory": free_memory(),
    }


def usable_cores():
    """Return how many cores this process may run on, no more than its cgroups allow."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    for folder in cgroups("cpu"):
        quota, period = (
            _numbers(folder, "cpu.max")
            or (
                _numbers(folder, "cpu.cfs_quota_us")
                + _numbers(folder, "cpu.cfs_period_us")
                + [0, 0]
            )[:2]
        )
        if quota > 0 and period > 0:
            cores = min(cores, -(-quota // period))
    return max(1, cores)


def free_memory():
    """Return the bytes that the machine and the cgroups of this process have left, or None."""
    free = []
    try:
        with open("/proc/meminfo") as file:
            free = [int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable")]
    except (OSError, ValueError):
        pass
    for folder in cgroups("memory"):
        limit = _numbers(folder, "memory.max") or _numbers(folder, "memory.limit_in_bytes")
        used = _numbers(folder, "memory.current") or _numbers(folder, "memory.usage_in_bytes")
        if limit and used:
            free.append(max(0, limit[0] - used[0] + _reclaimable(folder)))
    return min(free) if free else None


def cgroups(controller):
    """Return the folders of this process's cgroups (versions 1 and 2), its own first."""
    found = []
    try:
        with open("/proc/self/cgroup") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return found
    for _number, controllers, path in (line for line in lines if len(line) == 3):
        if controllers and controller not in controllers.split(","):
            continue
        root = "/sys/fs/cgroup/" + controller if controllers else "/sys/fs/cgroup"
        parts = [each for each in path.split("/") if each and each != ".."]
        found += ["/".join([root] + parts[:count]) for count in range(len(parts), -1, -1)]
    return found


def _numbers(folder, name):
    """Return the numbers in a file of a cgroup; none where it is absent or sets no limit."""
    try:
        with open(folder + "/" + name) as file:
            return [int(each) for each in file.read().split()]
    except (OSError, ValueError):
        return []


RECLAIMABLE = ("inactive_file ", "total_inactive_file ")  # version 1 also counts its children


def _reclaimable(folder):
    """Return the bytes of files that the kernel keeps in memory until they are needed."""
    try:
        with open(folder + "/memory.stat") as file:
            lines = [line for line in file if line.startswith(RECLAIMABLE)]
        return max([int(line.split()[1]) for line in lines] or [0])
    except (OSError, ValueError):
        return 0


if __name__ == "__main__":
    print("d9m:" + json.dumps(survey(json.loads(sys.argv[1]))))
