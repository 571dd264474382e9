#!/bin/bash
# SPDX-License-Identifier: MIT
# Where files are written: links, shared folders, full disks, readers who leave, writers that are killed.
# shellcheck disable=SC2016
shim=$PWD/tests/mocks/.libs/protect.so
. "${srcdir:-.}/tests/tools/cli_help.sh"
umask 022

refused() { # refused "what" "text" ARGUMENTS…: before the program runs, in a line
	local what=$1 text=$2; shift 2
	"$PROTON" record "$@" -- touch "$work/ran" >"$work/out" 2>"$work/err"; check "$what: status" 125 $?
	has "$what: said" "$text" "$work/err"
	check "$what: one line" 1 "$(wc -l <"$work/err")"
	check "$what: before the run" no "$([ -e "$work/ran" ] && echo yes || echo no)"
	rm -f "$work/ran"
}
leftovers() { find . -name '.proton*' | wc -l; }
content() { "$PROTON" report "$1" >/dev/null 2>&1 && echo whole || head -c 20 "$1"; }

# ---- refused before the run
ln -s nowhere/x dangling; ln -s loop loop; mkdir folder; ln -s folder to-folder
refused "a link to a folder that is not there" "cannot write 'dangling': No such file or directory" -o dangling
refused "a link in circles" "cannot write 'loop': Too many levels of symbolic links" -o loop
refused "a link to a folder" "cannot write 'to-folder': Is a directory" -o to-folder
refused "no name" "cannot write 'folder/': Is a directory" -o folder/
mkdir gone
(cd gone && rmdir ../gone && refused "a deleted working folder" "cannot write a profile in this folder"
	refused "a deleted working folder, a name" "cannot write 'x': No such file or directory" -o x
	exit $n_failed); n_failed=$?
check "nothing is left" 0 "$(leftovers)"

# ---- too few descriptors: run whole or refused
for n in 4 5 6 7 8 9 10 12; do
	rm -f ran few.hatchet
	(ulimit -n $n && exec "$PROTON" record -q -o few.hatchet -- touch ran) 2>err; status=$?
	ran=$([ -e ran ] && echo yes || echo no)
	case $status in
	0) check "$n descriptors: run, and saved" "yes whole" "$ran $(content few.hatchet)" ;;
	*) check "$n descriptors: refused in a line" "125 1 no" "$status $(grep -c 'Too many open files' err) $ran" ;;
	esac
done
rm -f ran
check "few descriptors: nothing is left" 0 "$(leftovers)"

# ---- links are followed, and what they name is replaced
ln -s ../real/x folder/link; mkdir real
"$PROTON" record -q -o folder/link -- true; check "a link to a new file" whole "$(content real/x)"
before=$(stat -c %i real/x)
"$PROTON" record -q -o folder/link -- true; check "a link to a file" whole "$(content real/x)"
check "in one piece" other "$([ "$before" = "$(stat -c %i real/x)" ] && echo same || echo other)"
check "the link stays" "symbolic link" "$(stat -c %F folder/link)"
echo old >one; ln one two
"$PROTON" record -q -o two -- true; check "one name of two: replaced" whole "$(content two)"
check "one name of two: the other" old "$(cat one)"
ln -s /dev/stdout to-stdout; echo before >log
"$PROTON" export -f folded -o to-stdout real/x >>log; check "a link to standard output" before "$(head -1 log)"
echo before >log
"$PROTON" record -q --tape /dev/stdout -o x -- true >>log; check "a tape on standard output" before "$(head -c 6 log)"

# ---- shared folders: the kernel says what is followed, and what is written
mkdir -m 1777 shared
echo precious >precious; chmod 600 precious
ln -s ../precious shared/theirs-link; echo theirs >shared/theirs-file; mkfifo shared/theirs-fifo
ln -s ../new shared/theirs-new; ln -s ../precious shared/ours
protected() { LD_PRELOAD=$shim refused "$@"; }
protected "another's link" "cannot write 'shared/theirs-link': Permission denied" -o shared/theirs-link
protected "another's link to nothing" "cannot write 'shared/theirs-new': Permission denied" -o shared/theirs-new
protected "another's file" "cannot write 'shared/theirs-file': Permission denied" -o shared/theirs-file
check "what it named" precious "$(cat precious)"; check "its own" theirs "$(cat shared/theirs-file)"
check "what it would have made" no "$([ -e new ] && echo yes || echo no)"
# Whoever guesses the default name: it has the pid, so it is seen only at the end.
ln -s "$(command -v sh)" theirs
LD_PRELOAD=$shim "$PROTON" record -o 'shared/%e-link' -- ./theirs -c 'exit 3' >out 2>err
check "a name known at the end: status" 3 $?
has "a name known at the end: said" "cannot write 'shared/theirs-link': Permission denied" err
check "a name known at the end: unharmed" precious "$(cat precious)"
LD_PRELOAD=$shim WHO=theirs-link protected "a name of a variable" "cannot write 'shared/theirs-link': Permission denied" -o 'shared/%q{WHO}'
LD_PRELOAD=$shim "$PROTON" export -f json -o shared/theirs-link real/x 2>err
check "export: unharmed" precious "$(cat precious)"
LD_PRELOAD=$shim timeout 20 "$PROTON" export -f json -o shared/theirs-fifo real/x 2>err
check "another's FIFO" 1 $?; has "is no file to wait for" "Permission denied" err
LD_PRELOAD=$shim "$PROTON" record -q -o shared/ours -- true; check "a link of ours" whole "$(content precious)"
check "nothing is left in shared folders" 0 "$(leftovers)"
# The same by the kernel itself, where it does so and we may make a link of another user.
if [ "$(cat /proc/sys/fs/protected_symlinks 2>/dev/null)" = 1 ] && [ "$(id -u)" = 0 ]; then
	echo precious >precious; chown -h 65534 shared/theirs-link
	refused "another's link, by the kernel" "Permission denied" -o shared/theirs-link
	check "what it named, by the kernel" precious "$(cat precious)"
fi

# ---- a saver that is killed leaves nothing, and has saved nothing
cat >killer.py <<'PY'
import glob, os, signal, sys, time
end = time.monotonic() + 30
while time.monotonic() < end:
    for name in glob.glob(".proton-*.tmp"):
        pid = int(name.split("-")[1])
        try:
            os.kill(pid, signal.SIGSTOP)
            while open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] not in "TZ":
                pass
            if os.path.exists(name):  # and it is not going to be renamed any more
                os.kill(pid, signal.SIGKILL)
                while os.path.exists(name) and time.monotonic() < end:
                    os.sched_yield()
                sys.exit()
            os.kill(pid, signal.SIGCONT)
        except (ProcessLookupError, FileNotFoundError):
            pass
sys.exit("no saver was met")
PY
# In a session of its own: see cli_jobs.sh.
PROTON_FAKE='many 20000 kern 10;pause 50;repeat 100000' setsid -w "$PROTON" record -v --no-follow --save-interval 0.05 -o k.hatchet -- \
	sh -c 'python3 killer.py && exit 3' >out 2>err
check "a killed saver: status" 3 $?
has "a killed saver: counted" "; 1 failed" err
check "a killed saver: nothing is left" 0 "$(leftovers)"
check "a killed saver: the profile" whole "$(content k.hatchet)"

# ---- readers who leave
head_of() { # head_of "what" STATUS COMMAND…: its reader takes one byte
	local what=$1 status=$2; shift 2
	"$@" 2>err | head -c 1 >/dev/null
	check "$what: status" "$status" "${PIPESTATUS[0]}"
	check "$what: nothing is left" 0 "$(leftovers)"
}
mkdir run; export XDG_RUNTIME_DIR=$PWD/run; chmod 700 run
many='many 30000 kern 10;pause 200;many 30000 kern 10'
PROTON_FAKE=$many head_of "a tape" 3 "$PROTON" record --no-follow --tape /dev/stdout -o r.hatchet -- sh -c 'sleep 0.5; exit 3'
check "a tape: the profile" whole "$(content r.hatchet)"
has "a tape: said" "the reader of the tape has left" err
PROTON_FAKE=$many head_of "a tape, strict" 3 "$PROTON" record --strict --no-follow --tape /dev/stdout -o r.hatchet -- \
	sh -c 'sleep 0.5; exit 3'
# a reader of the tape who is slow: the program's end is not
mkfifo slow
{ for i in {1..40}; do head -c 4096; read -r -t 0.05 _ <> <(:); done; cat; } <slow >slow.tape &
reader=$!
PROTON_FAKE='many 20000 kern 10' "$PROTON" record -q --no-follow --tape slow -o r.hatchet -- sh -c 'exit 3' 2>err
check "a slow reader of the tape: status" 3 $?
wait $reader
check "a slow reader of the tape: nothing is lost" "20000 20000" \
	"$("$PROTON" export -f csv r.hatchet | grep -c ,kern) $("$PROTON" export -f csv slow.tape | grep -c ,kern)"
check "a slow reader of the tape: nothing is said" "" "$(cat err)"
mkfifo still; exec 9<>still # a reader who reads nothing
PROTON_FAKE=$many "$PROTON" record --no-follow --tape still -o r.hatchet -- sh -c 'sleep 0.5; exit 3' 2>err
check "a reader of the tape who stands still: status" 3 $?
has "a reader of the tape who stands still: said" "the reader of the tape stands still: the tape is not complete" err
exec 9<&-
check "a reader of the tape who stands still: the profile" whole "$(content r.hatchet)"
PROTON_FAKE=$many head_of "a profile" 3 "$PROTON" record --no-follow -o /dev/stdout -- sh -c 'exit 3'
has "a profile: said" "cannot write '/dev/stdout': Broken pipe" err
PROTON_FAKE=$many head_of "a profile, strict" 125 "$PROTON" record --strict --no-follow -o /dev/stdout -- sh -c 'exit 3'
check "no session folder is left" "" "$(ls run/proton)"
head_of "an export to a file" 0 "$PROTON" export -f json -o e.json r.hatchet
check "an export to a file: whole" 0 "$(python3 -m json.tool e.json >/dev/null; echo $?)"

# ---- a full disk: each told once, as what it is
mkdir small
full() { # full STATUS OPTIONS…
	unshare -rm sh -c 'mount -t tmpfs -o size=4m none small && echo precious >small/x && echo on >mounted || exit
		mkdir -m 700 small/run; export XDG_RUNTIME_DIR=$PWD/small/run
		"$@" -o small/x --tape small/tape --trace -- sh -c "head -c 9000000 /dev/zero >small/fill 2>/dev/null
			PROTON_FAKE=\"many 500 a 10;kernel a 100 50000\" sleep 0.2; exit 3" 2>err
		echo $? >status; cat small/x >x; find small -name ".proton*" -o -name "proton-*" >left' sh "$PROTON" record "$@" 2>/dev/null
}
full
if [ -e mounted ]; then
	check "a full disk: status" 3 "$(cat status)"
	check "a full disk: the file" precious "$(cat x)"
	check "a full disk: nothing is left" "" "$(cat left)"
	check "a full disk: the tape is told once" 1 "$(grep -c "cannot write 'small/tape': No space left" err)"
	check "a full disk: the profile is told once" 1 "$(grep -c "cannot write 'small/x': No space left" err)"
	check "a full disk: the trace is told once" 1 "$(grep -c 'not in the trace (disk full?)' err)"
	check "a full disk: and nothing else" 3 "$(grep -cE 'cannot|lost|note|beyond' err)"
	full --strict; check "a full disk, strict: status" 125 "$(cat status)"
else
	echo "a disk that is full: no file system can be mounted here"
fi
# Nothing is asked for, or there is nothing to list: that is said.
printf '[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": []}]' >none.hatchet
"$PROTON" list none.hatchet >out 2>err
check "list: no metrics" "0 no context has a metric " "$? $(cat out) $(cat err)"
for command in report "view --text"; do
	"$PROTON" ${command% *} -m '' none.hatchet >out 2>err; check "$command: no columns" "2 0 1" \
		"$? $(wc -c <out) $(wc -l <err)"
done
"$PROTON" diff -m '' none.hatchet none.hatchet >out 2>err; check "diff: no metric" "2 0 1" \
	"$? $(wc -c <out) $(wc -l <err)"
finish
