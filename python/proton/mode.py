# SPDX-License-Identifier: MIT
"""Modes of a session, as objects: str(mode) is what start(mode=...) takes as text."""


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


class InstrumentationMode(BaseMode):
    """Profiling within kernels of Triton: its backend "instrumentation" takes these. Options are kept as they were given,
    and looked at by who takes them."""

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
_OPTIMIZATIONS = ("time_shift", "sched_stores", "sched_barriers", "clock32")


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
        value = options[key] = value.rpartition(".")[2]
        if value and value not in words:
            raise ValueError("Unknown %s: %s" % (key, value))
    options["optimizations"] = [
        word.strip() for word in options["optimizations"].split(",") if options["optimizations"]
    ]
    for word in options["optimizations"]:
        if word not in _OPTIMIZATIONS:
            raise ValueError("Unknown optimization: %s" % word)
    if name not in ("default", "mma"):
        raise ValueError("Unknown mode: %s" % text)
    return options


class Default(InstrumentationMode):
    """Profiling within kernels, all of it."""

    name = "default"


class MMA(InstrumentationMode):
    """Profiling within kernels: matrix instructions."""

    name = "mma"
