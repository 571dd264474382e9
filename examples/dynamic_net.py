# SPDX-License-Identifier: MIT
"""A net that is another one at each step, with the parts of a step named by the program.

    proton record -o run.hatchet python3 dynamic_net.py && proton report --tree run.hatchet

Between one and four times the same middle layer is used, as chance has it, so that no two steps need do the
same work; what a step costs is seen by its parts. Metrics beside the names make rates of them.
"""
import argparse
import random

import torch

import proton


class DynamicNet(torch.nn.Module):
    """A first layer, a middle one used 1 to 4 times, a last one."""

    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.first = torch.nn.Linear(n_in, n_hidden)
        self.middle = torch.nn.Linear(n_hidden, n_hidden)
        self.last = torch.nn.Linear(n_hidden, n_out)

    def forward(self, x, times):
        x = self.first(x).relu()
        for i in range(times):
            with proton.scope("middle_%d" % i, {"flops": 2 * x.shape[0] * self.middle.weight.numel()}):
                x = self.middle(x).relu()
        return self.last(x)


def train(device, steps, batch):
    net = DynamicNet(1024, 512, 64).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)
    x, y = torch.randn(batch, 1024, device=device), torch.randn(batch, 64, device=device)
    chance = random.Random(0)
    for _ in range(steps):
        with proton.scope("forward"):
            predicted = net(x, chance.randint(1, 4))
        with proton.scope("loss"):
            loss = torch.nn.functional.mse_loss(predicted, y)
        with proton.scope("backward"):
            optimizer.zero_grad()
            loss.backward()
        with proton.scope("optimizer"):
            optimizer.step()
    return loss.item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=1024)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print("loss %.3f after %d steps on %s" % (train(device, options.steps, options.batch), options.steps, device))
