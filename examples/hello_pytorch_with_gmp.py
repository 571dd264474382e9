# SPDX-License-Identifier: MIT
"""GMP's interface around parts of a PyTorch program: what the kernels in each range took.

    python3 hello_pytorch_with_gmp.py

Ranges nest, functions can be ranges, and the results are printed at the end and appended to
output/result.csv; output/gmp.hatchet is the same as a profile (`proton view output/gmp.hatchet`).
"""
import torch
from torch import nn

import gmp_python

profiler = gmp_python.create_profiler()


def matrix_operations(device):
    x, y = (torch.randn(1024, 1024, device=device) for _ in range(2))
    with profiler.profile_range("gemm"):
        z = x @ y
    with profiler.profile_range("element_wise"):
        return torch.relu(z) + x


@profiler.profile_function("reductions")
def reductions(x):
    return x.sum().item(), x.max().item(), x.mean().item()


def forward(device):
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 16 * 16, 10)
    ).to(device)
    images = torch.randn(32, 3, 32, 32, device=device)
    with torch.no_grad(), profiler.profile_range("network"):
        for layer in net:
            with profiler.profile_range(type(layer).__name__):
                images = layer(images)
    return images


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    profiler.init()
    with profiler.profile_range("matrix_operations"):
        x = matrix_operations(device)
    reductions(x)
    forward(device)
    for reduction in ("SUM", "MAX", "MEAN"):
        profiler.print_profiler_ranges(reduction)


if __name__ == "__main__":
    main()
