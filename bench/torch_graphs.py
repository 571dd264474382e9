#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch in CUDA graphs: torch_graphs.py decode|train [N] [LAYERS]

decode: a model of LAYERS blocks captured once with torch.cuda.graph, replayed and waited for once a token; train: a
whole training step (forward, backward, optimizer) likewise. Prints `result tokens_per_s=` or `result steps_per_s=`,
and `expect replays=`."""
import sys, time, torch


class Block(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(n), torch.nn.Linear(n, 2 * n), torch.nn.Linear(2 * n, n)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Model(torch.nn.Module):
    def __init__(self, layers, n):
        super().__init__()
        self.layers = torch.nn.ModuleList(Block(n) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def captured(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def decode(model, x):
    def step():
        with torch.no_grad():
            model(x)
    return step


def train(model, x):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, capturable=True)
    target = torch.randn_like(x)

    def step():
        optimizer.zero_grad(set_to_none=False)
        torch.nn.functional.mse_loss(model(x), target).backward()
        optimizer.step()
    return step


def main():
    how = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    layers = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    model, x = Model(layers, 256).cuda(), torch.randn(8, 256, device="cuda")
    graph = captured({"decode": decode, "train": train}[how](model, x))
    for i in range(-20, n):
        if i == 0:
            start = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
    print("result %s=%.1f" % ({"decode": "tokens_per_s", "train": "steps_per_s"}[how],
                              n / (time.perf_counter() - start)))
    print("expect replays=%d" % (n + 20))


main()
