#!/bin/bash
# SPDX-License-Identifier: MIT
# check-banned.sh: functions that nobody may call, and those that only the commands may.
set -euo pipefail
cd "${srcdir:-$(dirname "$0")/..}"
failed=0

# No bound, no error, hidden state, or a race.
everywhere='strcpy|strcat|strncat|sprintf|vsprintf|gets|strtok|alloca|mktemp|tmpnam|tempnam|system|popen|asctime|ctime|rand|srand|strdupa|usleep|bcopy|bzero'
# They cannot tell a wrong number from 0.
numbers='atoi|atol|atoll|atof'
# Only the commands end the process; they, a run and what makes text for people print.
ends='exit|abort'
prints='printf|vprintf|puts|putchar|perror|errx|warnx|psignal'
# The collector lives in somebody else's process: nor there what allocates behind our back, takes
# stdio's locks on the program's streams, or changes what the program sees.
guest='fflush|setenv|putenv|unsetenv|setlocale|chdir|umask|sigprocmask|assert|xmalloc|xcalloc|xrealloc|xstrdup|setvbuf|freopen|srandom|random'

# complain_about FUNCTIONS REASON FILE...
complain_about() {
	local functions=$1 reason=$2
	shift 2
	[ $# -gt 0 ] || return 0
	if awk -f scripts/strip.awk "$@" | grep -E "(^|[^A-Za-z0-9_>.])($functions)[[:space:]]*\(" |
	   grep -vE '__attribute__|_printf_\(|:[[:space:]]*#[[:space:]]*define'; then
		echo "^ $reason"
		failed=1
	fi
}

shopt -s nullglob
complain_about "$everywhere" "banned everywhere" src/*/*.[ch] include/proton/*.h examples/*.[ch]
complain_about "$numbers" "users type what they like: strtol() and its like tell errors" src/cmd/*.[ch]
# launch_die_like() ends the process as the target ended: that is its purpose.
mapfile -t files < <(printf '%s\n' src/*/*.[ch] | grep -vE '^src/(cmd/|launch/launch_status\.c$)')
complain_about "$ends" "only the commands (src/cmd) end the process" "${files[@]}"
mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -vE '^src/(live|report)/')
complain_about "$prints" "only src/cmd, src/live and src/report print" "${files[@]}"
complain_about "$guest" "banned in what runs inside the user's process" \
	src/collect/*.[ch] src/backends/*.[ch]
exit $failed
