#!/bin/bash
# SPDX-License-Identifier: MIT
# fresh-root.sh DIR: the two commands of README.md on a machine with nothing on it.
#
# Makes a minimal Debian in DIR/root (debootstrap), lays HEAD into it without its history, and runs
# ./quickstart and ./quickstart test there, as root, with none of this machine's environment. What is
# not committed is not tried. The closing line is that of ./quickstart test.
#
# Nothing is left mounted, however this ends: the root is entered in a namespace of mounts (and of
# processes) of its own, which ends with its last process. So nothing of this machine is ever below
# DIR/root where it is removed.
#
# Packages come from where this machine's apt gets them, by its proxy and with its certificates.
# Exit status 77, with the reason, where there is no such root to be had.
set -euo pipefail

suite=bookworm
inside=
dir=$1
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
root=$dir/root

skip() {
	echo "skipped: $*"
	exit 77
}

# The address of the Debian archive that apt uses here; none of it when apt knows no such archive.
find_mirror() {
	# shellcheck disable=SC2016 # apt's words
	local format='$(ORIGIN) $(LABEL) $(REPO_URI)'
	apt-get indextargets --format "$format" 'Created-By: Packages' |
		awk '/^Debian Debian / && !n++ { print $3 }'
}

# apt's own settings of how to fetch, as lines of apt.conf.
fetch_settings() {
	apt-config dump | grep -E '^Acquire::(https?|Check-|ForceIPv|Retries)' || :
}

# wget, which debootstrap uses, has its proxy from the environment; apt's settings come first.
export_proxies() {
	local scheme proxy
	for scheme in http https; do
		proxy=$(apt-config dump --format '%v' "Acquire::$scheme::Proxy")
		case $proxy in
		''|DIRECT) ;;
		*) export "${scheme}_proxy=$proxy" ;;
		esac
	done
}

# remove_root: refuses where anything is mounted below it.
remove_root() {
	if grep -qF " $root" /proc/self/mountinfo; then
		echo "fresh-root.sh: something is mounted in '$root'" >&2
		exit 1
	fi
	rm -rf --one-file-system "$root"
}

make_root() {
	local file
	remove_root
	debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$dir/debootstrap.log" 2>&1 || {
		tail -n 20 "$dir/debootstrap.log"
		return 1
	}
	fetch_settings >"$root/etc/apt/apt.conf.d/99host"
	for file in /etc/resolv.conf /etc/hosts /etc/apt/auth.conf /etc/apt/auth.conf.d \
		/etc/ssl/certs/ca-certificates.crt; do
		[ -e "$file" ] || continue
		mkdir -p "$root${file%/*}"
		cp -rL "$file" "$root${file%/*}/"
	done
	mkdir "$root/proton"
	git archive HEAD | tar -x -C "$root/proton"
}

# in_root COMMAND...: with what a machine has mounted, and without our environment. In the background,
# so that clean_up() can end it; the shell ignores SIGINT there, which the tests must not inherit.
in_root() {
	# shellcheck disable=SC2016 # expanded in there
	env --default-signal=INT,QUIT unshare --mount --pid --fork --kill-child sh -euc '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		mount -t sysfs -o ro sysfs "$root/sys"
		mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
		mount -t tmpfs tmpfs "$root/dev/shm"
		exec chroot "$root" "$@"' - "$root" \
		env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
		${no_proxy:+no_proxy="$no_proxy"} \
		sh -c 'cd /proton && exec "$@"' - "$@" </dev/null &
	inside=$!
	wait "$inside"
	inside=
}

clean_up() {
	if [ -n "$inside" ] && kill "$inside" 2>/dev/null; then
		wait "$inside" || :
	fi
	remove_root
}

[ "$(id -u)" = 0 ] || skip "a root of its own needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork true 2>/dev/null || skip "no namespace of mounts can be made here"
git rev-parse -q --verify HEAD >/dev/null || skip "this is no checkout of git"
mirror=$(find_mirror)
if [ -z "$mirror" ]; then
	apt-get -q update >/dev/null 2>&1 || :
	mirror=$(find_mirror)
fi
[ -n "$mirror" ] || skip "apt knows no archive of Debian here"
export_proxies
wget -q --tries=1 --timeout=20 --spider "${mirror%/}/dists/$suite/Release" ||
	skip "no archive of packages is reached"

trap clean_up EXIT
make_root
echo "a root of $(du -sm "$root" | cut -f 1) MiB in $SECONDS s; $(git log -1 --format='HEAD is %h, %s')"
in_root ./quickstart
echo "./quickstart: done after $SECONDS s"
in_root ./quickstart test
