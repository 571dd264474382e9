#!/bin/bash
# SPDX-License-Identifier: MIT
# packages.sh: sourced. install_missing PACKAGE...: apt-get install what is not there yet.
#
# Nothing is asked of the network when everything is there, and apt-get update runs at most once,
# only when a package cannot be found or fetched without it.

# Is what the package would bring there already, by whatever way it came?
package_probe() {
	case $1 in
	libc6-dev) test -f /usr/include/stdio.h ;;
	libtool) command -v libtoolize ;;
	libncurses-dev) pkg-config --exists ncursesw ;;
	libyajl-dev) pkg-config --exists yajl ;;
	zlib1g-dev) pkg-config --exists zlib ;;
	libsqlite3-dev) pkg-config --exists sqlite3 ;;
	check) pkg-config --exists check ;;
	libiberty-dev) test -f /usr/include/libiberty/demangle.h ;;
	ocl-icd-opencl-dev) pkg-config --exists OpenCL ;;
	opencl-headers) test -f /usr/include/CL/cl_layer.h ;;
	pocl-opencl-icd) compgen -G '/etc/OpenCL/vendors/*pocl*.icd' ;;
	xz-utils) command -v xz ;;
	universal-ctags) ctags --version | grep -q 'Universal Ctags' ;;
	golang-go) command -v go ;;
	python3-venv) python3 -c 'import ensurepip, venv' ;;
	gcc-multilib) echo 'int main(void) { return 0; }' | gcc -m32 -x c -o /dev/null - ;;
	lib*|python3-*) false ;;
	*) command -v "$1" ;;
	esac >/dev/null 2>&1
}

# Print the packages that are missing, one a line.
packages_missing() {
	local installed package

	installed=" $(dpkg-query -W -f '${db:Status-Status}=${binary:Package} ' "$@" 2>/dev/null || :) "
	for package; do
		case $installed in
		*" installed=$package "*|*" installed=$package:"*) ;;
		*) package_probe "$package" || echo "$package" ;;
		esac
	done
}

# Run as root: directly, or by sudo, which may ask for a password only where somebody can answer.
if [ -t 0 ]; then
	sudo=(sudo)
else
	sudo=(sudo -n)
fi
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		"${sudo[@]}" "$@"
	fi
}

apt_install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 \
		install --no-install-recommends "$@" </dev/null
}

install_missing() {
	local missing
	mapfile -t missing < <(packages_missing "$@")

	[ ${#missing[@]} -gt 0 ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "missing: ${missing[*]}" >&2
		echo "This is no Debian machine (apt-get is not found): install what these packages" >&2
		echo "hold by other means, then run this again." >&2
		return 1
	fi
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		echo "missing: ${missing[*]}" >&2
		echo "You are not root and there is no sudo: have an administrator run" >&2
		echo "    apt-get install ${missing[*]}" >&2
		return 1
	fi
	# apt-cache knows every package only after an update; a fetch fails when lists are old.
	if apt-cache show "${missing[@]}" >/dev/null 2>&1 && apt_install "${missing[@]}"; then
		return 0
	fi
	as_root apt-get -q update </dev/null && apt_install "${missing[@]}"
}
