# SPDX-License-Identifier: MIT
"""What devices could do at most. The table is peaks.txt, which the command has, too.

For the devices that Triton's Proton knows, the answers are its own: operations of 8 bits divided by
(width / 8), also where the hardware does better or worse. For others they are the table's.
"""
import os

from . import _find

# Those that Triton's Proton knows.
_BY_WIDTH = {"CUDA": ("80", "89", "90", "100"), "HIP": ("gfx90a", "gfx942", "gfx950")}
_WIDTHS = (8, 16, 32, 64)
_UNITS = {"T": 1e12, "G": 1e9}

_table = {}


def _find_table():
    """In a wheel and an installed package; beside it under PREFIX/share/proton; in the sources."""
    top = os.path.dirname(os.path.dirname(_find.HERE))
    for path in (
        os.path.join(_find.HERE, "peaks.txt"),
        os.path.join(top, "peaks.txt"),
        os.path.join(top, "data", "peaks.txt"),
    ):
        if os.path.exists(path):
            return path
    raise FileNotFoundError("the table of peaks, peaks.txt, is not beside the package")


def _peaks():
    """(type, arch) -> the five words of a line."""
    if not _table:
        with open(_find_table(), encoding="utf-8") as f:
            rows = [line.split("#")[0].split() for line in f]
        _table.update({(row[0], row[1]): row[2:7] for row in rows if len(row) >= 7})
    return _table


def _row(device_type, arch):
    row = _peaks().get((device_type, str(arch)))
    if row is not None:
        return row
    if not any(known == device_type for known, _ in _peaks()):
        raise ValueError("Unsupported device type: %s" % device_type)
    raise ValueError("Unsupported architecture: %s" % arch)


def max_flops(device_type, arch, width, num_sms, clock_rate):
    """Operations of a width that a device does in a second at most.

    device_type  "CUDA", "HIP"
    arch         "90" is compute capability 9.0; "gfx942"
    width        bits: 8, 16, 32, 64
    num_sms      SMs, or CUs
    clock_rate   kHz
    errors       ValueError: the device or the width is not known
    thread       any
    """
    row = _row(device_type, arch)
    if width not in _WIDTHS:
        raise ValueError("Unsupported width: %s" % width)
    by_width = str(arch) in _BY_WIDTH.get(device_type, ())
    word = row[0 if by_width else _WIDTHS.index(width)]
    if word == "-":
        raise ValueError("Unsupported width for architecture %s: %s" % (arch, width))
    if word[-1] in _UNITS:
        peak = float(word[:-1]) * _UNITS[word[-1]]
    else:
        peak = float(word) * num_sms * clock_rate * 1e3
    return peak / (width / 8) if by_width else peak


def max_bps(device_type, arch, bus_width, memory_clock_rate):
    """Bytes that a device's memory moves in a second at most.

    bus_width          bits
    memory_clock_rate  kHz
    errors             ValueError: the device is not known
    thread             any
    """
    if device_type == "CUDA":
        return 2 * bus_width * memory_clock_rate * 1e3 / 8
    word = _row(device_type, arch)[4]
    if word == "-":
        raise ValueError("Unsupported architecture: %s" % arch)
    return float(word[:-1]) * _UNITS[word[-1]]
