# SPDX-License-Identifier: MIT
"""A training step whose operators launch kernels of their names (tests/mocks/torch_launch.c)."""
import ctypes, sys
import torch
import torch.nn as nn

cuda, launcher, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
driver = ctypes.CDLL(cuda)
driver.cuInit(0)
keep = ctypes.CDLL(None).strdup
keep.restype = ctypes.c_void_p
own = ctypes.c_void_p(keep(b"own"))


def launch():
    driver.cuLaunchKernel(own, 1, 1, 1, 1, 1, 1, 0, None, None, None)


for _ in range(2000):
    launch()


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.out(torch.softmax(q @ k.transpose(-1, -2), -1) @ v)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attention = Attention(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.mlp(x)


class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layers = nn.ModuleList([Block(d) for _ in range(2)])
        self.head = nn.Linear(d, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


if ctypes.CDLL(launcher).torch_launch_begin(cuda.encode()) < 0:
    sys.exit("no launches")
net = Net(8)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, foreach=False)
x = torch.randn(2, 4, 8)
for _ in range(steps):
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    launch()
