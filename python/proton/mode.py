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
    """Profiling within kernels, which is Triton's own: its backend "instrumentation" takes these. Options
    are kept as they were given, and looked at by who takes them."""

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


class Default(InstrumentationMode):
    """Profiling within kernels, all of it."""

    name = "default"


class MMA(InstrumentationMode):
    """Profiling within kernels: matrix instructions."""

    name = "mma"
