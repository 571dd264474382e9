#!/bin/sh
# SPDX-License-Identifier: MIT
# Sourced by tests that drive a browser: $srcdir, $proton, $browser, and a scratch folder as the
# current one. Without Python or a browser the test is skipped.
# shellcheck disable=SC2034 # used by who sources this
srcdir=$(cd "${srcdir:-.}" && pwd)
proton=${PROTON:-$PWD/proton}
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
for name in chromium chromium-browser google-chrome; do
	browser=$(command -v $name) && break
done
[ -n "$browser" ] || { echo "skipped: no chromium is installed"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/proton-browser-XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
