#!/bin/bash
# A program that profiles itself, linked by pkg-config against an installation: below a DESTDIR, moved from
# there, with the folders of a distribution; a wheel's two files; a command by its name, and none at all.
. "${srcdir:-.}/tests/tools/cli_help.sh"
build=$(cd "$(dirname "$PROTON")" && pwd)
export TMPDIR=$work/tmp XDG_RUNTIME_DIR= PROTON_FAKE='kernel add 1000 3'
mkdir "$TMPDIR"
cc=$(command -v gcc || command -v clang || command -v cc) || { echo "skipped: no C compiler"; exit 77; }
grep -q 'define PROTON_SANITIZED 1' "$build/config.h" &&
	{ echo "skipped: a program without the sanitizer cannot have its library linked"; exit 77; }
cat >app.c <<'END'
#include <proton/proton.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int session = proton_session_start(argc > 1 ? argv[1] : "self", NULL);
	int status = session;

	proton_enter_scope("work");
	proton_exit_scope();
	if (session >= 0)
		status = proton_session_finalize(session, NULL);
	printf("%d %s\n", status, status < 0 ? proton_session_error() : "");
	return status < 0;
}
END

# install NAME ARGUMENT...: into $work/NAME
install_to() {
	local name=$1
	shift
	env -u MAKEFLAGS -u MFLAGS make -s -C "$build" install DESTDIR="$work/$name" "$@" >install.log 2>&1 ||
		{ tail -5 install.log; return 1; }
}
# build FOLDER: app against the proton.pc below it
build_with() {
	local pc
	pc=$(find "$1" -name proton.pc)
	rm -f app
	if command -v pkg-config >/dev/null; then
		# shellcheck disable=SC2046
		"$cc" app.c -o app $(PKG_CONFIG_LIBDIR=$(dirname "$pc") pkg-config --cflags --libs proton)
	else
		echo "skipped: pkg-config itself; no pkg-config is installed" >&2
		folder=$(dirname "$pc")
		eval "$(sed -n 's/^\([a-z]*\)=\(.*\)/\1="\2"/p' "$pc" | sed "s|\${pcfiledir}|$folder|")"
		"$cc" app.c -o app -I"$includedir" -L"$pkglibdir" -Wl,-rpath,"$pkglibdir" -Wl,--no-as-needed -lproton
	fi
}
# self: the app as linked, without a word of where anything is; what it says.
self() { env -u LD_LIBRARY_PATH -u PROTON_LIBRARY timeout 60 ./app "$@" 2>err; }
has_scope() { "$PROTON" export -f json "$1" | grep -q '"work"'; }

# ---- below a DESTDIR
install_to root || { echo "FAILED: make install"; exit 1; }
build_with "$work/root"
check "a program that is linked" "0 " "$(self)"
check "has its profile" yes "$(has_scope self.hatchet && echo yes)"
check "and says nothing" "" "$(cat err)"
rm -f self.hatchet
mv root moved
build_with "$work/moved"
check "moved" "0 " "$(self)"
rm -f self.hatchet
(mkdir -p elsewhere && cd elsewhere && ln -s ../moved link && env -u PROTON_LIBRARY timeout 60 ../app >out)
check "from another folder" "0 " "$(cat elsewhere/out)"
check "the file is there" yes "$(has_scope elsewhere/self.hatchet && echo yes)"

# ---- a wheel: the library and the command in one folder
mkdir -p wheel/_lib
cp -L "$(find moved -name libproton.so.0 | head -1)" wheel/_lib/libproton.so.0
cp "$(find moved -path '*bin/proton')" wheel/_lib/proton
cp app linked
"$cc" app.c -o app -I"$(find moved -type d -name include)" -ldl
check "a wheel's, by its name" "0 " "$(PROTON_LIBRARY=$work/wheel/_lib/libproton.so.0 timeout 60 ./app wheel)"
cd wheel/_lib
check "by one that is not absolute" "0 " "$(PROTON_LIBRARY=./libproton.so.0 timeout 60 ../../app ../../wheel 2>&1)"
cd ../..

# ---- no command
rm wheel/_lib/proton
export PROTON_LIBRARY=$work/wheel/_lib/libproton.so.0
installed=$(env -u MAKEFLAGS make -s -C "$build" -f Makefile -f - print-it <<<'print-it:;@echo $(bindir)/proton')
if [ -e "$installed" ]; then
	echo "skipped: no command at all; there is $installed"
else
	timeout 60 ./app none >out 2>err
	check "without a command: its status" 1 $?
	has "the program is told" "-1 there is no command 'proton': it is neither beside '$work/wheel/_lib/libproton.so.0'" out
	has "and whoever reads" "proton: no profile is written: there is no command 'proton'" err
	check "in one line" 1 "$(wc -l <err)"
	check "no file" no "$([ -e none.hatchet ] && echo yes || echo no)"
fi
check "PROTON_COMMAND" "0 " "$(PROTON_COMMAND=$PROTON timeout 60 ./app named 2>&1)"
PROTON_COMMAND=/nowhere/proton timeout 60 ./app nowhere >out 2>err
has "one that is not there" "-1 there is no command 'proton': PROTON_COMMAND names '/nowhere/proton', which is no program" out
PROTON_COMMAND=$work timeout 60 ./app folder >out 2>err
has "a folder" "which is no program" out
PROTON_COMMAND=$(type -P true) timeout 60 ./app other >out 2>err
has "another program" "ended without a word: is it of another version?" out
printf '#!/bin/sh\necho "proton: the disk is full" >&2\nexit 1\n' >liar
chmod +x liar
PROTON_COMMAND=$work/liar timeout 60 ./app liar >out 2>err
has "what it complains of is passed on" "-1 the disk is full" out
printf '#!/nowhere/sh\n' >liar
PROTON_COMMAND=$work/liar timeout 60 ./app liar >out 2>err
has "one that cannot be executed" "cannot start '$work/liar': No such file or directory" out
printf '#!/bin/sh\nmkdir -p %q\necho "session %q"\n' "$work/empty" "$work/empty" >liar
PROTON_COMMAND=$work/liar timeout 60 ./app liar >out 2>err
has "a directory without a session" "-1 the collector did not start" out
if [ "$(id -u)" = 0 ] && getent passwd nobody >/dev/null && [ "$(stat -f -c %T .)" != nfs ] && ! findmnt -nT . -o OPTIONS | grep -q nosuid; then
	cp linked setid
	chown nobody setid
	chmod u+s setid
	mkdir -m 777 open
	chmod a+rx "$work"
	cd open
	check "a set-id program reads no such variable" "0 " "$(PROTON_COMMAND=$work/liar timeout 60 ../setid 2>&1)"
	check "and goes on as who it is" nobody "$(stat -c %U self.hatchet)"
	cd ..
else
	echo "skipped: set-id programs; only root makes one of another user"
fi
finish
