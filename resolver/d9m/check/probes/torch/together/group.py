# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""The meeting of the ranks' workers in PyTorch. Sent as text: standard library and torch only,
Python 3.6.
"""

import datetime
import os

import torch
import torch.distributed as dist


class Group:
    """The ranks of one launch: they share a store, and a process group for collectives."""

    def __init__(self, framework, job):
        self.rank, self.size = job["rank"], job["size"]
        patience = datetime.timedelta(seconds=job["patience"])
        agent = (
            os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
        )  # torchrun already serves one
        # Each meeting has a separate port, where rank 0 serves: the last one may still be
        # closing.
        port = int(os.environ["MASTER_PORT"]) + (0 if agent else job["meeting"])
        store = dist.TCPStore(
            os.environ["MASTER_ADDR"],
            port,
            None if agent else self.size,
            not agent and self.rank == 0,
            patience,
        )
        self.store = dist.PrefixStore("d9m/{}".format(job["meeting"]), store)
        self.say("here", "")
        self.heard("here")
        # From here on all ranks go at one pace: who is silent for longer than a probe may take is
        # gone.
        pace = datetime.timedelta(seconds=job["limit"] + 10)
        self.store.set_timeout(pace)
        self.names = {"all_reduce": self.all_reduce, "reduce_scatter": self.reduce_scatter}
        self.names.update(all_gather=self.all_gather, size=self.size)
        if job["probes"]:
            backend = "nccl" if framework.device == "cuda" else "gloo"
            dist.init_process_group(
                backend, store=self.store, rank=self.rank, world_size=self.size, timeout=pace
            )

    def say(self, name, text):
        self.store.set(f"{name} {self.rank}", text)

    def heard(self, name):
        """Return what every rank said, by rank."""
        return [self.store.get(f"{name} {rank}").decode() for rank in range(self.size)]

    def leave(self):
        """No rank leaves before all are done: the store lives in one of these processes."""
        self.say("done", "")
        self.heard("done")
        self.say("gone", "")
        if self.rank == 0:
            self.heard("gone")

    @staticmethod
    def all_reduce(value):
        found = value.clone()
        dist.all_reduce(found)
        return found

    def reduce_scatter(self, value):
        found = value.new_empty(value.numel() // self.size)
        dist.reduce_scatter_tensor(found, value)
        return found

    def all_gather(self, value):
        found = [torch.empty_like(value) for _ in range(self.size)]
        dist.all_gather(found, value)
        return torch.cat(found)
