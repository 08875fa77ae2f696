"""Processes of the program: a pool, a queue with tensors, a fork by hand."""

import os
import sys

import torch
import torch.multiprocessing as mp


def double(tensor):
    return (tensor * 2).sum().item()


def put(queue):
    queue.put(torch.arange(3.0))
    queue.get()


def main():
    with mp.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [torch.ones(2), torch.ones(3)]))
    context = mp.get_context("fork")
    queue, back = context.Queue(), context.SimpleQueue()
    process = context.Process(target=lambda: (queue.put(torch.arange(3.0)), back.get()))
    process.start()
    print(queue.get().tolist())
    back.put(None)
    process.join()
    print(process.exitcode)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        weight = torch.nn.Parameter(torch.ones(2))
        weight.sum().backward()
        torch.optim.SGD([weight], lr=0.1).step()
        os._exit(int(weight[0].item() * 10))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
