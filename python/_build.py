# SPDX-License-Identifier: MIT
"""Builds wheels of the package: what pip asks for (PEP 517, PEP 660), and `make wheel`.

A wheel is a zip with a list of what is in it. That of pip is the package alone (py3-none-any), which uses the
`proton` that is installed; that of `make wheel` has the command, the library and the manual pages in it:

    python3 _build.py OUTPUT-FOLDER --command PROTON --library LIBPROTON MANUAL-PAGE...
"""
import argparse
import base64
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "proton-profiler"
BASE = "proton_profiler"
# What is not ours is older than any machine: the same files make the same wheel.
DATE = (1980, 1, 1, 0, 0, 0)


def read(*path):
    with open(os.path.join(HERE, *path), "rb") as f:
        return f.read()


def version():
    """That of the package, which a test holds against configure's."""
    text = read("proton", "__init__.py").decode()
    return re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE).group(1)


def beside(*names):
    """The first of these files that is there: in the sources, or in a source distribution."""
    for name in names:
        if os.path.exists(os.path.join(HERE, name)):
            return read(name)
    raise SystemExit("_build.py: %s is not there" % names[0])


def metadata():
    return (
        "Metadata-Version: 2.1\n"
        "Name: %s\n"
        "Version: %s\n"
        "Summary: Sessions, scopes and metrics for the GPU profiler proton\n"
        "License: MIT\n"
        "Requires-Python: >=3.7\n"
        "Classifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Programming Language :: Python :: 3\n"
        "Provides-Extra: pandas\n"
        'Requires-Dist: pandas ; extra == "pandas"\n'
        "Description-Content-Type: text/markdown\n"
        "\n" % (NAME, version())
    ).encode() + read("README.md")


def entry_points(has_command):
    """The script `proton` comes only with the command: it would take the place of an installed one."""
    scripts = ["proton"] if has_command else []
    scripts.append("proton-profiler")
    return "".join(
        ["[console_scripts]\n"] + ["%s = proton.__main__:main\n" % name for name in scripts]
    ).encode()


def package_files():
    """(name in the wheel, its bytes) of the package."""
    for folder, folders, files in os.walk(os.path.join(HERE, "proton")):
        folders[:] = sorted(set(folders) - {"__pycache__", "_lib"})
        for file in sorted(files):
            if file.endswith(".py") and file != "_installed.py":
                path = os.path.relpath(os.path.join(folder, file), HERE)
                yield path.replace(os.sep, "/"), read(path)
    for file in sorted(os.listdir(HERE)):
        if file.endswith(".py") and file != "_build.py":
            yield file, read(file)
    yield "proton/peaks.txt", beside("../data/peaks.txt", "peaks.txt")


class Wheel:
    """A wheel that is being written. tag: for what machines it is."""

    def __init__(self, folder, tag, purelib):
        self.tag, self.purelib = tag, purelib
        self.name = "%s-%s-%s.whl" % (BASE, version(), tag)
        self.info = "%s-%s.dist-info" % (BASE, version())
        self.data = "%s-%s.data" % (BASE, version())
        self.zip = zipfile.ZipFile(os.path.join(folder, self.name), "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, DATE)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
        self.record.append("%s,sha256=%s,%d\n" % (name, digest.decode(), len(data)))

    def close(self, has_command=False):
        """The last files, which say what the others are. Returns the wheel's name."""
        self.add(self.info + "/METADATA", metadata())
        self.add(self.info + "/entry_points.txt", entry_points(has_command))
        self.add(self.info + "/LICENSE", beside("../LICENSE", "LICENSE"))
        self.add(
            self.info + "/WHEEL",
            (
                "Wheel-Version: 1.0\nGenerator: %s\nRoot-Is-Purelib: %s\nTag: %s\n"
                % (NAME, "true" if self.purelib else "false", self.tag)
            ).encode(),
        )
        record = self.info + "/RECORD"
        self.record.append(record + ",,\n")
        entry = zipfile.ZipInfo(record, DATE)
        entry.external_attr = 0o100644 << 16
        self.zip.writestr(entry, "".join(self.record))
        self.zip.close()
        return self.name


# ---- what pip asks for ----


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The package alone."""
    wheel = Wheel(wheel_directory, "py3-none-any", True)
    for name, data in package_files():
        wheel.add(name, data)
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A pointer to the sources."""
    wheel = Wheel(wheel_directory, "py3-none-any", True)
    wheel.add("__editable__.%s.pth" % BASE, (HERE + "\n").encode())
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    """The sources of the package, without those of the command."""
    top = "%s-%s" % (BASE, version())
    files = dict(package_files())
    files["peaks.txt"] = files.pop("proton/peaks.txt")
    files["LICENSE"] = beside("../LICENSE", "LICENSE")
    files["PKG-INFO"] = metadata()
    for name in ("pyproject.toml", "README.md", "_build.py"):
        files[name] = read(name)
    with tarfile.open(os.path.join(sdist_directory, top + ".tar.gz"), "w:gz") as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo("%s/%s" % (top, name))
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return top + ".tar.gz"


# ---- make wheel ----


def glibc_needed(*files):
    """The oldest glibc that these programs run with, as their symbols say: (2, 34)."""
    needed = {(2, 17)}
    for file in files:
        symbols = subprocess.check_output(["objdump", "-T", file], universal_newlines=True)
        for digits in re.findall(r"\bGLIBC_([0-9.]+)", symbols):
            needed.add(tuple(map(int, digits.split(".")[:2])))
    return max(needed)


def libraries_needed(*files):
    """Names of the libraries that these load."""
    names = set()
    for file in files:
        headers = subprocess.check_output(["objdump", "-p", file], universal_newlines=True)
        names.update(re.findall(r"^\s*NEEDED\s+(\S+)", headers, re.MULTILINE))
    return names


# All of these are glibc's.
GLIBC = re.compile(r"(lib(c|m|dl|rt|pthread|util)\.so\.[0-9]+|ld-linux.*)$")


def build_full(folder, command, library, manuals):
    """The wheel of `make wheel`. Exits where it would not run elsewhere."""
    foreign = sorted(n for n in libraries_needed(command, library) if not GLIBC.match(n))
    if foreign:
        raise SystemExit("_build.py: a wheel must need nothing but glibc, not %s" % foreign)
    tag = "py3-none-manylinux_%d_%d_%s" % (glibc_needed(command, library) + (platform.machine(),))
    wheel = Wheel(folder, tag, False)
    for name, data in package_files():
        wheel.add(name, data)
    for path, name in ((command, "proton"), (library, "libproton.so.0")):
        with open(path, "rb") as f:
            wheel.add("proton/_lib/" + name, f.read(), 0o755)
    for path in manuals:
        name = os.path.basename(path)
        with open(path, "rb") as f:
            wheel.add(
                "%s/data/share/man/man%s/%s" % (wheel.data, name.rsplit(".", 1)[1], name), f.read()
            )
    return wheel.close(has_command=True)


def main():
    parser = argparse.ArgumentParser(description="build the wheel with everything in it")
    parser.add_argument("folder")
    parser.add_argument("--command", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("manuals", nargs="*")
    options = parser.parse_intermixed_args()
    print(build_full(options.folder, options.command, options.library, options.manuals))


if __name__ == "__main__":
    sys.exit(main())
