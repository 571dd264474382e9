# SPDX-License-Identifier: MIT
# pythons: paths of the interpreters that the package is for, one of each version: python3, what is in
# PROTON_TEST_PYTHONS, and what else the system and pyenv have.
pythons() {
	local p
	for p in python3 ${PROTON_TEST_PYTHONS:-} /usr/bin/python3.? /usr/bin/python3.?? \
		"${HOME:-/nowhere}"/.pyenv/versions/3.*/bin/python3; do
		[[ $p == *[*?]* ]] || "$p" -c 'import sys
if sys.version_info >= (3, 7):
    print("%d.%02d" % sys.version_info[:2], sys.executable)' 2>/dev/null
	done | sort -u -k1,1 | cut -d' ' -f2-
}
