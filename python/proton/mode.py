# SPDX-License-Identifier: MIT
"""Modes of a session, as objects: str(mode) is what start(mode=...) takes as text."""
import enum


class BaseMode:
    """A mode by its name alone."""

    name = ""

    def __init__(self, name=None):
        if name is not None:
            self.name = name

    def options(self):
        """Pairs of option and value, in the order in which they are written."""
        return []

    def __str__(self):
        return ":".join([self.name] + ["%s=%s" % pair for pair in self.options()])

    def __repr__(self):
        return "%s(%s)" % (
            type(self).__name__,
            ", ".join("%s=%r" % pair for pair in self.options()),
        )

    def __eq__(self, other):
        return type(self) is type(other) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class PCSampling(BaseMode):
    """Samples of the code that kernels run. interval: ValueError below 1; how often is what the run says (record
    --pc-sampling), as Triton's Proton, too, has a period of its own."""

    name = "pcsampling"

    def __init__(self, interval=1000):
        super().__init__()
        if interval <= 0:
            raise ValueError("the interval is a positive number of cycles, not %r" % (interval,))
        self.interval = interval

    def options(self):
        return [("interval", self.interval)]


class PeriodicFlushing(BaseMode):
    """Phases that are complete are written to files of their own, and forgotten.
    format: "hatchet", "hatchet_msgpack" or "chrome_trace"."""

    name = "periodic_flushing"

    def __init__(self, format="hatchet"):
        super().__init__()
        self.format = format

    def options(self):
        return [("format", self.format)]


class Optimize(enum.Enum):
    """What makes records cheaper, or times truer."""

    TIMESHIFT = "time_shift"  # what records cost is taken out of times
    SCHED_STORES = "sched_stores"  # a scope is written where it ends: nothing is between its clocks but what it is of
    SCHED_BARRIERS = "sched_barriers"  # of AMD: its compiler moves nothing out of scopes
    CLOCK32 = "clock32"  # of clocks the lower 32 bits

    def __str__(self):
        return self.value


class InstrumentationMode(BaseMode):
    """Profiling within kernels of Triton: its backend "instrumentation" takes these. Options are kept as they were given.
    ValueError: one has a value that there is not."""

    OPTIONS = (
        ("metric_type", "cycle"),
        ("sampling_strategy", "none"),
        ("sampling_options", ""),
        ("granularity", "warp"),
        ("buffer_strategy", "circular"),
        ("buffer_type", "shared"),
        ("buffer_size", 0),
        ("optimizations", ""),
    )

    def __init__(self, **options):
        super().__init__()
        unknown = set(options) - {name for name, _ in self.OPTIONS}
        if unknown:
            raise TypeError("no such option: %s" % ", ".join(sorted(unknown)))
        for name, usual in self.OPTIONS:
            setattr(self, name, options.get(name, usual))
        instrumentation_options(str(self))

    def options(self):
        values = []
        for name, _ in self.OPTIONS:
            value = getattr(self, name)
            if isinstance(value, (list, tuple)):
                value = ",".join(map(str, value))
            values.append((name, value))
        return values


_WORDS = {
    "metric_type": ("cycle",),
    "buffer_type": ("shared", "global"),
    "buffer_strategy": ("circular", "flush"),
    "granularity": ("cta",) + tuple(
        kind + size for kind in ("warp", "warp_group") for size in ("", "_2", "_4", "_8")
    ),
    "sampling_strategy": ("none", "selective"),
}
_OTHER_WORDS = {"shared_mem": "shared"}  # of the tutorial for Triton's Proton
_OPTIMIZATIONS = tuple(word.value for word in Optimize)


_BLOCK_WARPS = 32


def _warp_range(word):
    """The warps of "3" or "4-7"."""
    first, dash, last = (part.strip() for part in word.partition("-"))
    ends = [first, last if dash else first]
    if not all(end.isascii() and end.isdigit() for end in ends) or not int(ends[0]) <= int(ends[1]) < _BLOCK_WARPS:
        raise ValueError(
            "Unknown sampling_options: '%s' is no warp of a block (0 to 31) and no range of them (4-7)" % word
        )
    return range(int(ends[0]), int(ends[1]) + 1)


def warp_ids(text):
    """The warps of sampling_options, "0,4-7"; ValueError: it names none."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    return sorted({warp for word in words for warp in _warp_range(word)})


def without_ranges(text):
    """A mode as text, in which each warp is listed: Triton's compiler takes "4-7" for warp 4."""
    options = []
    for option in text.split(":"):
        key, equals, value = option.partition("=")
        if key == "sampling_options" and "-" in value:
            option = key + equals + ",".join(map(str, warp_ids(value)))
        options.append(option)
    return ":".join(options)


def instrumentation_options(text):
    """The options of such a mode as text, as a dictionary: "default:granularity=warp", or with words of Triton's compiler
    for it, "GRANULARITY.WARP". ValueError, in the words of Triton's Proton: it has none that it knows."""
    name, *given = (text or "default").split(":")
    options = dict(InstrumentationMode.OPTIONS)
    for option in given:
        key, equals, value = option.partition("=")
        if not equals:
            raise ValueError("Malformed instrumentation option: '%s'" % option)
        options[key] = value
    options["buffer_size"] = int(options["buffer_size"])
    for key, words in _WORDS.items():
        value = options[key].lower() if "." in options[key] else options[key]
        value = value.rpartition(".")[2]
        value = options[key] = _OTHER_WORDS.get(value, value)
        if value and value not in words:
            raise ValueError("Unknown %s: %s" % (key, value))
    options["optimizations"] = [
        word.strip() for word in options["optimizations"].split(",") if options["optimizations"]
    ]
    for word in options["optimizations"]:
        if word not in _OPTIMIZATIONS:
            raise ValueError("Unknown optimization: %s" % word)
    warp_ids(options["sampling_options"])
    if options["buffer_size"] < 0:
        raise ValueError("Unknown buffer_size: %d" % options["buffer_size"])
    if name not in ("default", "mma", ""):
        raise ValueError("Unknown mode: %s" % text)
    return options


class Default(InstrumentationMode):
    """Profiling within kernels, all of it."""

    name = "default"


class MMA(InstrumentationMode):
    """Profiling within kernels: matrix instructions."""

    name = "mma"
