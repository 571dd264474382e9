/* SPDX-License-Identifier: MIT */
/* What the first session of a program costs that profiles itself, and the next ones:
 *
 *	PROTON_LIBRARY=.libs/libproton.so.0 bench/alone_start [PROGRAMS]
 *
 * A fork child is such a program each time; ms of the first start, of another one, and of finalize. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "proton/proton.h"

enum { FIRST, NEXT, FINALIZE, N_WHAT };

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void run(uint64_t ns[N_WHAT])
{
	uint64_t at = clock_monotonic_ns(), then;
	int session = proton_session_start("/tmp/proton-bench-first", NULL), next;

	then = clock_monotonic_ns();
	ns[FIRST] = then - at;
	next = proton_session_start("/tmp/proton-bench-next", NULL);
	at = clock_monotonic_ns();
	ns[NEXT] = at - then;
	if (session < 0 || next < 0 || proton_session_finalize(session, NULL) < 0)
		fprintf(stderr, "alone_start: %s\n", proton_session_error());
	ns[FINALIZE] = clock_monotonic_ns() - at;
}

/* One program's figures; false: it could not be started. */
static bool run_one(uint64_t ns[N_WHAT])
{
	int fds[2];
	pid_t pid;
	bool ok;

	if (pipe(fds) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		run(ns);
		exit(write(fds[1], ns, N_WHAT * sizeof(*ns)) < 0);
	}
	close(fds[1]);
	ok = pid > 0 && read(fds[0], ns, N_WHAT * sizeof(*ns)) == N_WHAT * sizeof(*ns);
	close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return ok;
}

int main(int argc, char **argv)
{
	static const char *const names[N_WHAT] = {"first start", "another", "finalize"};
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 50, i, k;
	uint64_t(*all)[N_WHAT] = calloc(n, sizeof(*all));
	uint64_t *one = calloc(n, sizeof(*one));

	for (i = 0; all && one && i < n; i++)
		if (!run_one(all[i]))
			return 1;
	for (k = 0; all && one && n && k < N_WHAT; k++) {
		for (i = 0; i < n; i++)
			one[i] = all[i][k];
		qsort(one, n, sizeof(*one), compare);
		printf("%-12s min %.3f median %.3f ms\n", names[k], (double)one[0] / 1e6,
		       (double)one[n / 2] / 1e6);
	}
	free(all);
	free(one);
	return 0;
}
