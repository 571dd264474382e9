#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ranks.py [--steps N] [--seconds S] [--slow RANK] [--link RANK] ddp|fsdp|pipe, by torchrun: a job of several ranks.

ddp: a model on each rank, gradients added up. fsdp: parameters sharded. pipe: stages that send and receive.
--slow RANK: that rank has four times the work in its forward pass. --link RANK: what that rank sends goes through its
host (pipe only). --seconds: as many steps as begin in S seconds, at least 20. --progress FILE: each rank writes the number
of steps that it has ended to FILE.RANK.
Rank 0 prints `result step_us=X`, the median of the last three quarters of the steps."""
import argparse
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.cuda import nvtx

WIDTH, ROWS = 1024, 512


def model(layers=6):
    return nn.Sequential(*[m for _ in range(layers) for m in (nn.Linear(WIDTH, WIDTH), nn.GELU())])


class Trainer:
    """Data parallel or sharded: the same step."""

    def __init__(self, args, rank, device):
        self.model = model().to(device)
        if args.mode == "fsdp":
            from torch.distributed.fsdp import fully_shard
            for layer in self.model:
                if isinstance(layer, nn.Linear):
                    fully_shard(layer)
            fully_shard(self.model)
        else:
            self.model = nn.parallel.DistributedDataParallel(self.model, device_ids=[device.index])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.x = torch.randn(ROWS, WIDTH, device=device)
        self.extra = torch.randn(2 * WIDTH, 2 * WIDTH, device=device) if rank == args.slow else None

    def step(self):
        with nvtx.range("forward"):
            if self.extra is not None:
                with nvtx.range("planted"):
                    for _ in range(12):
                        self.extra @ self.extra
            loss = self.model(self.x).square().mean()
        with nvtx.range("backward"):
            loss.backward()
        with nvtx.range("optimizer"):
            self.optimizer.step()
            self.optimizer.zero_grad()


class Stage:
    """A stage of a pipeline: receives, works, sends."""

    def __init__(self, args, rank, device):
        self.rank, self.last = rank, dist.get_world_size() - 1
        self.model = model(3).to(device)
        self.x = torch.randn(ROWS, WIDTH, device=device)
        self.detour = torch.empty(64 << 20, device="cpu").pin_memory() if rank == args.link else None
        self.far = torch.empty(64 << 20, device=device) if rank == args.link else None

    def step(self):
        with torch.no_grad():
            if self.rank > 0:
                with nvtx.range("receive"):
                    dist.recv(self.x, self.rank - 1)
            with nvtx.range("work"):
                y = self.model(self.x)
            if self.rank < self.last:
                with nvtx.range("send"):
                    if self.far is not None:
                        self.detour.copy_(self.far, non_blocking=True)
                        self.far.copy_(self.detour, non_blocking=True)
                    dist.send(y, self.rank + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--slow", type=int, default=-1)
    parser.add_argument("--link", type=int, default=-1)
    parser.add_argument("--progress")
    parser.add_argument("mode", choices=("ddp", "fsdp", "pipe"))
    args = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    rank = dist.get_rank()
    job = (Stage if args.mode == "pipe" else Trainer)(args, rank, device)
    for _ in range(5):
        job.step()
    torch.cuda.synchronize()
    dist.barrier()
    if rank == 0:
        print("it runs", flush=True)
    began, ends = time.perf_counter(), []
    # Each rank runs as many steps as the others: the first says how many.
    n = torch.tensor([args.steps], device=device)
    if args.seconds:
        for _ in range(20):
            job.step()
        torch.cuda.synchronize()
        n[0] = max(1, int(args.seconds * 20 / (time.perf_counter() - began)))
    dist.broadcast(n, 0)
    progress = open(f"{args.progress}.{rank}", "wb", buffering=0) if args.progress else None
    for i in range(int(n)):
        with nvtx.range(f"step {i}"):
            job.step()
            torch.cuda.synchronize()
        ends.append(time.perf_counter())
        if progress:
            os.pwrite(progress.fileno(), b"%d\n" % len(ends), 0)
    if rank == 0:
        late = ends[len(ends) // 4:]
        print(f"result step_us={statistics.median(b - a for a, b in zip(late, late[1:])) * 1e6:.1f}")
        print(f"expect steps={len(ends)}", flush=True)
    dist.destroy_process_group()


main()
