# SPDX-License-Identifier: MIT
"""Decoding tokens as servers of language models do: one CUDA graph for each size of a batch.

    proton record -o run.hatchet python3 decode_graphs.py && proton report --tree --by line run.hatchet

A step of decoding launches many small kernels, so it is captured once for each batch size and replayed from
then on. Each kernel of a replay is recorded, below the line that replays its graph, and there below the modules and
operators that it was captured in.
"""
import argparse

import torch
from torch import nn


class Decoder(nn.Module):
    """Attention over a cache of keys and values, and a small net behind it."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))
        self.length = length

    def forward(self, x, keys, values, at):
        batch, width = x.shape
        q, k, v = self.qkv(x).view(batch, 3, self.heads, -1).unbind(1)
        keys.index_copy_(1, at, k.unsqueeze(1))
        values.index_copy_(1, at, v.unsqueeze(1))
        scores = torch.einsum("bhd,blhd->bhl", q, keys) / (width // self.heads) ** 0.5
        unseen = torch.arange(self.length, device=x.device) > at
        weights = scores.masked_fill(unseen, float("-inf")).softmax(-1)
        x = x + self.out(torch.einsum("bhl,blhd->bhd", weights, values).reshape(batch, width))
        return x + self.mlp(x)


class Model(nn.Module):
    def __init__(self, words, width, heads, layers, length):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Decoder(width, heads, length) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens, caches, at):
        x = self.embedding(tokens)
        for layer, (keys, values) in zip(self.layers, caches):
            x = layer(x, keys, values, at)
        return self.head(x).argmax(-1)


class Runner:
    """A captured step for one size of a batch."""

    def __init__(self, model, batch, width, heads, length, device):
        shape = (batch, length, heads, width // heads)
        self.caches = [tuple(torch.zeros(shape, device=device) for _ in "kv") for _ in model.layers]
        self.tokens = torch.zeros(batch, dtype=torch.long, device=device)
        self.at = torch.zeros(1, dtype=torch.long, device=device)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):  # what is made once is made before the capture
            model(self.tokens, self.caches, self.at)
        stream.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.next = model(self.tokens, self.caches, self.at)

    def decode(self, n_tokens):
        for i in range(n_tokens):
            self.at.fill_(i)
            self.graph.replay()
            self.tokens.copy_(self.next)


def main(n_tokens, layers):
    width, heads, length = 512, 8, 256
    model = Model(1000, width, heads, layers, length).cuda().eval()
    with torch.no_grad():
        runners = [Runner(model, batch, width, heads, length, "cuda") for batch in (1, 8, 32)]
        for runner in runners:
            runner.decode(min(n_tokens, length))
    torch.cuda.synchronize()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this needs a GPU: CUDA graphs are captured and replayed")
    main(options.tokens, options.layers)
    print("%d tokens for batches of 1, 8 and 32" % options.tokens)
