/* SPDX-License-Identifier: MIT */
/* A program that is run again and again, with the mock libcupti: replayed LIBCUDA FILE [RUN WHAT]. FILE gets a line a run, with the
 * first word of standard input. Nested ranges of NVTX, and two threads with a range of the same name; in run number RUN something
 * else, WHAT:
 *
 *   more    one kernel more in "inner"      another  a range that no other run has
 *   moved   "late" has a range less         waits    "FILE.waits" is made, and a signal waited for
 *   fails   status 3                        killed   by itself
 *   obeys   as waits, and ends well by SIGINT or SIGTERM */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/mock_graphs.h"
#include "programs/nvtx_core.h"
#include "programs/symbols.h"

static const char *what = "";
static int (*push)(const char *);
static int (*pop)(void);

static bool is(const char *word)
{
	return !strcmp(what, word);
}

static void kernel(const char *name)
{
	call(KERNEL_CALL,
	     &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL, .name = name, .stream = 7});
}

static void range(const char *name, const char *of)
{
	push(name);
	kernel(of);
	pop();
}

static void nest(void)
{
	push("outer");
	kernel("add");
	kernel("add");
	push("inner");
	kernel("mul");
	if (is("more"))
		kernel("add");
	pop();
	kernel("add");
	pop();
	range("late", "mul");
	if (!is("moved"))
		range("late", "mul");
	if (is("another"))
		range("another", "add");
}

static void *work(void *arg)
{
	range("worker", arg);
	return NULL;
}

static void threads(void)
{
	pthread_t one, two;

	pthread_create(&one, NULL, work, (void *)"add");
	pthread_join(one, NULL);
	pthread_create(&two, NULL, work, (void *)"mul");
	pthread_join(two, NULL);
}

/* Which run is it? */
static int note_run(const char *path)
{
	char word[32] = "-";
	FILE *f = fopen(path, "a+");
	int n = 1, c;

	if (!f)
		exit(2);
	rewind(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	if (scanf("%31s", word) != 1)
		strcpy(word, "-");
	fprintf(f, "%s\n", word);
	fclose(f);
	return n;
}

static void wait_for_signal(const char *file)
{
	char path[4096];
	sigset_t ends;
	FILE *f;
	int sig;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	if (is("obeys"))
		sigprocmask(SIG_BLOCK, &ends, NULL);
	snprintf(path, sizeof(path), "%s.waits", file);
	f = fopen(path, "w");
	if (f)
		fclose(f);
	while (!is("obeys"))
		pause();
	sigwait(&ends, &sig);
}

int main(int argc, char **argv)
{
	if (argc < 3 || !getenv("PROTON_CUPTI_PATH"))
		return 2;
	if (note_run(argv[2]) == (argc > 4 ? atoi(argv[3]) : 0))
		what = argv[4];
	start(argv[1]);
	nvtx_init();
	push = (int (*)(const char *))core[NVTX_CORE_RANGE_PUSH_A];
	pop = (int (*)(void))core[NVTX_CORE_RANGE_POP];
	nest();
	threads();
	if (is("waits") || is("obeys"))
		wait_for_signal(argv[2]);
	if (is("killed"))
		raise(SIGKILL);
	return is("fails") ? 3 : 0;
}
