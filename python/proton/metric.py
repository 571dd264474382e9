# SPDX-License-Identifier: MIT
"""Metrics that the program gives to a scope: what a Python value becomes.

    int                        a whole number, exact from -2^63 to 2^64 - 1
    float                      a number of floating point; NaN and infinities are left out, with a warning
    str                        a text, which describes and is never added up
    list, tuple, array         a vector of one to 64 of these numbers, which add up each for itself; those of an
                               array with more dimensions row by row. A list in a list is a TypeError
    tensor                     of one element: a number, else a vector. One on a device is copied to
                               the host, which waits for the device; the copy is hidden as launch
                               metadata. While a CUDA graph is captured its numbers are those of each time
                               that the graph runs; of a type that the kernel which reads them does not
                               know, or on a device that is not NVIDIA's, it is left out, with a warning

A metric has the type of its first value at a scope: another raises TypeMismatch; so do a number and a
vector of one name. "(exc)" behind a name makes the
metric exclusive, "(pty)" a property, whose last value holds. The file of a session has what was given under the
name without these; proton shows the elements of a vector as "name[0]", "name[1]", ..., and where a name was given
in several of these ways the later ones as "name (exc)", "name (pty)", "name (text)", "name (number)", and
fractions of one that began with whole numbers in a session before as "name (float)".
A name of what proton measures ("count", "time (ns)") is kept apart, as "user:count", and a note says so. A sum of
whole numbers stays at 2^64 - 1.
"""
import ctypes
import math
import numbers
import sys
import warnings

from . import _native
from .flags import triton_version

VECTOR_MAX = 64  # METRIC_VECTOR_MAX of src/core/metric.h
# Types of tensors that can be read while a graph is captured: what they are called, as enum cuda_value_kind has them.
DEVICE_KINDS = {
    "float64": 0,
    "float32": 1,
    "float16": 2,
    "bfloat16": 3,
    "int64": 4,
    "int32": 5,
    "int16": 6,
    "int8": 7,
    "uint8": 8,
    "bool": 8,
}
_FIRST_WHOLE = 4
NAMES_MAX = 65536  # that are known
NAME_LEN_MAX = 256
MIN_INT, MAX_INT, MAX_SIGNED = -(2**63), 2**64 - 1, 2**63 - 1

# The words that Triton's Proton has for types.
_INT, _FLOAT, _TEXT, _INTS, _FLOATS = (
    "int64_t",
    "double",
    "std::string",
    "std::vector<int64_t>",
    "std::vector<double>",
)
# What the collector itself knows the type of.
_FLOAT_NAMES = frozenset(("flops", "flops8", "flops16", "flops32", "flops64"))

_types = {}  # name -> (number, type) of metrics that add up, while sessions are live
_names = {}  # name -> what _name() makes of it
_warned = set()


_NOT_ASKED = object()
_made = [_NOT_ASKED]  # functions of the library


class TypeMismatch(TypeError, ValueError):
    """A value of another type than the first one of its metric."""


def forget():
    """In a fork child and when no session is left: types are the next session's to fix."""
    _types.clear()
    if _made[0] is not _NOT_ASKED and _made[0] is not None:
        _made[0][1]()


def _warn_once(name, what):
    if (name, what) in _warned:
        return
    if len(_warned) < 1000:
        _warned.add((name, what))
        # The caller of scope() or enter_scope() is at a depth that differs: the line is of no help.
        warnings.warn("metric %r %s" % (str(name)[:64], what), RuntimeWarning, stacklevel=2)


def _one_type(values):
    """Numbers of one type, and which."""
    if all(type(value) is int for value in values):
        return values, _INTS
    return [float(value) for value in values], _FLOATS


def _flat(values):
    """The elements of an array of any shape, row by row: as they lie in memory, from where Triton's Proton takes
    those of a tensor."""
    while values and isinstance(values[0], list):
        values = [element for row in values for element in row]
    return values


def _plain(value):
    """A Python number, text or list for what may be of NumPy or the like; TypeError for the rest."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if hasattr(value, "tolist"):  # an array, or a scalar of NumPy
        value = value.tolist()
        if not isinstance(value, list):
            return _plain(value)
        value = _flat(value)
    if isinstance(value, (list, tuple)):
        if any(isinstance(element, (list, tuple)) for element in value):
            raise TypeError("a vector is a list of numbers, not of lists: a metric has no shape")
        values = [_plain(element) for element in value]
        if all(isinstance(element, (int, float)) for element in values):
            return values
        raise TypeError("a vector has numbers alone as its elements")
    raise TypeError(
        "a metric is a number, a text, or a list of numbers, not %s" % type(value).__name__
    )


def is_tensor(value):
    """Is this a tensor (torch.Tensor and its like)?"""
    return hasattr(value, "data_ptr") and hasattr(value, "tolist")


def _is_on_host(tensor):
    device = getattr(tensor, "device", None)
    return getattr(device, "type", "cpu") == "cpu"


def _is_capturing():
    torch = sys.modules.get("torch")
    try:
        return torch is not None and torch.cuda.is_current_stream_capturing()
    except (AttributeError, RuntimeError):
        return False


def _host_value(tensor):
    value = tensor.tolist()
    if not isinstance(value, list):
        return value
    value = _flat(value)
    return value[0] if len(value) == 1 else value


def from_tensor(tensor):
    """The number or the list of a tensor that no graph computes."""
    from .state import metadata_state

    if _is_on_host(tensor):
        return _host_value(tensor)
    with metadata_state():
        return _host_value(tensor)


def is_captured(value):
    """Is it a tensor on a device, which a graph that is being captured computes?"""
    return is_tensor(value) and not _is_on_host(value) and _is_capturing()


def _is_plain(tensor):
    """Is what lies in its memory its numbers, one behind the other?"""
    return (
        tensor.device.type == "cuda"
        and tensor.is_contiguous()
        and not getattr(tensor, "is_nested", False)
        and not (hasattr(tensor, "is_neg") and tensor.is_neg())
    )


def _device_numbers(tensor):
    import torch

    kind = DEVICE_KINDS.get(str(tensor.dtype).rpartition(".")[2])
    if kind is None or not _is_plain(tensor) or not 1 <= tensor.numel() <= VECTOR_MAX:
        return None
    memory = int(tensor.data_ptr())
    stream = torch.cuda.current_stream(tensor.device).cuda_stream
    # A tensor of torch.compile's, say, has no memory.
    return (memory, kind, int(tensor.numel()), int(stream)) if memory else None


def device_numbers(tensor):
    """Where the numbers of a tensor are, for the library to read them when the graph runs: (memory, kind, how many,
    stream), or None where it cannot."""
    try:
        return _device_numbers(tensor)
    except Exception:  # a subclass may raise what it likes: it is no tensor whose memory can be read
        return None


def _add_captured(name, encoded, is_property, tensor):
    """Numbers that are there when the graph runs: the collector takes them each time."""
    numbers = device_numbers(tensor) if _native.has("metric_device") else None
    if numbers is None:
        _warn_once(name, "is a tensor that cannot be read in a capture: left out")
        return
    memory, kind, n, stream = numbers
    wants = _wants(name)
    whole = kind >= _FIRST_WHOLE if wants is None else wants is not float
    if not is_property and n == 1:
        _check_number(name, _INT if whole else _FLOAT)
    elif not is_property:
        _check_type(name, _INTS if whole else _FLOATS)
    if _native.metric_device(encoded, memory, kind, n, stream) != _native.OK:
        _warn_once(name, "is a tensor that cannot be read in this capture: left out")


def _word(kind):
    return "uint64_t" if kind is _INT and triton_version() < (3, 7) else kind


def _mismatch(name, number, known, kind):
    return TypeMismatch(
        "Metric value type mismatch for valueId %d (%s): current=%s, new=%s"
        % (number, name, _word(known), _word(kind))
    )


def _check_number(name, kind):
    """Whole numbers and others do not mix at one scope, as in Triton's Proton; where the library cannot tell
    scopes apart, of one name."""
    if _made[0] is _NOT_ASKED:
        _made[0] = _native.made_functions("fits_here", "forget_types")
    if _made[0] is None:
        _check_type(name, kind)
        return
    known = _types.get(name)
    if known is None:
        _fix_type(name, kind)
    elif known[1] in (_INTS, _FLOATS):
        raise _mismatch(name, known[0], known[1], kind)
    if not _made[0][0](name, kind is _FLOAT):
        raise _mismatch(name, 0, _INT if kind is _FLOAT else _FLOAT, kind)


def _check_type(name, kind):
    known = _types.get(name)
    if known is None:
        _fix_type(name, kind)
    elif known[1] is not kind:
        raise _mismatch(name, known[0], known[1], kind)


def _fix_type(name, kind):
    if len(_types) < NAMES_MAX:
        _types[name] = (len(_types), kind)


def _check_range(name, value):
    if not MIN_INT <= value <= MAX_INT:
        raise OverflowError("metric %r: %d needs more than 64 bits" % (name, value))


def _put_float(encoded, value, is_property):
    """Where the first value of the name was a whole number, in the session before or at another scope of the run,
    this one is kept beside it."""
    if _native.has("metric_float"):
        _native.metric_float(encoded, value)
    elif is_property:
        _native.property_f64(encoded, value)
    else:
        _native.metric_f64(encoded, value)


def _add_int(encoded, value, is_property):
    if value < 0:
        _put_float(encoded, float(value), is_property)
    elif is_property:
        _native.property_u64(encoded, value)
    else:
        _native.metric_u64(encoded, value)


def _add_float(name, encoded, value, is_property):
    if not math.isfinite(value):
        _warn_once(name, "is %r: left out" % value)
    else:
        _put_float(encoded, value, is_property)


def _check_vector(name, values, kind):
    if not 1 <= len(values) <= VECTOR_MAX:
        raise ValueError(
            "metric %r: a vector has 1 to %d elements, not %d" % (name, VECTOR_MAX, len(values))
        )
    for value in values if kind is _INTS else ():
        _check_range(name, value)
        if value > MAX_SIGNED:
            raise OverflowError("metric %r: %d needs more than 63 bits" % (name, value))


def _add_vector(name, encoded, values, kind):
    if kind is _INTS:
        array = (ctypes.c_int64 * len(values))(*values)
        status = _native.metric_vector_i64(encoded, array, len(values))
    else:
        if not all(map(math.isfinite, values)):
            _warn_once(name, "has elements that are not finite: left out")
        array = (ctypes.c_double * len(values))(*values)
        status = _native.metric_vector(encoded, array, len(values))
    if status == _native.INVALID:
        raise ValueError("metric %r: the name of a vector has at most 200 bytes" % name[:64])


def _add_text(name, encoded, value):
    if not _native.has("property_text"):
        _warn_once(name, "is a text, which this libproton does not keep: left out")
        return
    _native.property_text(encoded, _native.encode(value))


def _wants(name):
    return float if name in _FLOAT_NAMES else _whole_bytes if name == "bytes" else None


def _name(name):
    """What a name is made of: its bytes, whether it is a property, and the type that it asks for."""
    if not isinstance(name, str):
        raise TypeError("the name of a metric is a str, not %s" % type(name).__name__)
    made = (_native.encode(name), name.endswith("(pty)"), _wants(name))
    if len(_names) < NAMES_MAX and len(name) <= NAME_LEN_MAX:
        _names[name] = made
    return made


def _whole_bytes(value):
    """Bytes are whole, whatever they were computed with."""
    return int(round(value)) if isinstance(value, float) and math.isfinite(value) else value


def _value(value, wants):
    """What is to be added: an int, a float, a text, or a list of numbers of one type."""
    kind = type(value)
    if kind is not int and kind is not float:
        value = _plain(from_tensor(value) if is_tensor(value) else value)
    if wants is None or type(value) is str:
        return value
    return [wants(v) for v in value] if type(value) is list else wants(value)


def add(name, value):
    """Add one metric to what this thread is in: its innermost scope and state, or the launch that
    has begun. Raises TypeError, ValueError, OverflowError or TypeMismatch; nothing is added then."""
    encoded, is_property, wants = _names.get(name) or _name(name)
    if type(value) is not int and type(value) is not float and is_captured(value):
        _add_captured(name, encoded, is_property, value)
        return
    value = _value(value, wants)
    kind = type(value)
    if kind is str:
        _add_text(name, encoded, value)
    elif kind is list:
        value, kind = _one_type(value)
        _check_vector(name, value, kind)
        if not is_property:
            _check_type(name, kind)
        _add_vector(name, encoded, value, kind)
    elif kind is int:
        _check_range(name, value)
        if not is_property:
            _check_number(name, _INT)
        _add_int(encoded, value, is_property)
    else:
        if not is_property:
            _check_number(name, _FLOAT)
        _add_float(name, encoded, value, is_property)


def set_metric_kernels():
    """Nothing: in Triton's Proton they bring values of tensors out of CUDA graphs, for which the library has a
    kernel of its own."""


def transform_tensor_metrics(metrics):
    """Metrics as add() takes them, and those of tensors that are there when a graph has run, which it takes, too.
    For hooks that compute them before the launch that they are of."""
    values, tensors = {}, {}
    for name, value in metrics.items():
        if is_captured(value):
            tensors[name] = value
        else:
            values[name] = _value(value, (_names.get(name) or _name(name))[2])
    return values, tensors


def add_all(metrics):
    """add() each of a dictionary. Any thread; belongs to the caller."""
    for name, value in metrics.items():
        add(name, value)
