/* SPDX-License-Identifier: MIT */
/* Kernels in scopes, in ranges of NVTX, on threads and in graphs: collect_ranges LIBCUDA [killed|sessions|phases|cancelled|waits], with the mock libcupti.
 * What each scope has is in tests/scripts/record_ranges.sh. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/mock_graphs.h"
#include "programs/nvtx_core.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { MANY = 3000 };

static pthread_barrier_t turn;
static uint32_t (*begin_capture)(void *, int), (*end_capture)(void *, void **);

static void kernel(const char *name)
{
	call(KERNEL_CALL,
	     &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL, .name = name, .stream = 7});
}

static void nest(void)
{
	kernel("mul"); /* in no scope */
	proton_enter_scope("outer");
	kernel("add");
	kernel("add");
	proton_enter_scope("inner");
	kernel("mul");
	proton_exit_scope();
	proton_enter_scope("empty");
	proton_exit_scope();
	kernel("add");
	proton_exit_scope();
	kernel("mul");
}

static void nvtx(void)
{
	int (*push)(const char *) = (int (*)(const char *))core[NVTX_CORE_RANGE_PUSH_A];
	int (*pop)(void) = (int (*)(void))core[NVTX_CORE_RANGE_POP];
	uint64_t (*begin)(const char *) = (uint64_t(*)(const char *))core[NVTX_CORE_RANGE_START_A];
	void (*end)(uint64_t) = (void (*)(uint64_t))core[NVTX_CORE_RANGE_END];
	uint64_t range;

	push("pushed");
	kernel("mul");
	proton_enter_scope("within");
	kernel("add");
	proton_exit_scope();
	pop();
	range = begin("started"); /* of no thread */
	kernel("add");
	end(range);
}

static void *right(void *unused)
{
	(void)unused;
	proton_enter_scope("right");
	pthread_barrier_wait(&turn);
	kernel("mul");
	pthread_barrier_wait(&turn);
	proton_exit_scope();
	pthread_barrier_wait(&turn);
	return NULL;
}

/* Two threads launch by turns. */
static void threads(void)
{
	pthread_t other;

	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&other, NULL, right, NULL);
	proton_enter_scope("left");
	kernel("add");
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	kernel("add");
	pthread_barrier_wait(&turn);
	proton_exit_scope();
	pthread_join(other, NULL);
}

static void *adopted(void *unused)
{
	(void)unused;
	kernel("mul");
	proton_exit_scope(); /* another thread's */
	return NULL;
}

static void crossed(void)
{
	pthread_t other;

	proton_enter_scope("crossed");
	kernel("add");
	pthread_create(&other, NULL, adopted, NULL);
	pthread_join(other, NULL);
	kernel("add");
	proton_exit_scope();
}

static void graphs(void)
{
	const struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
				   .name = "node",
				   .n_records = 5,
				   .stream = 7,
				   .graph = 9};
	void *captured;

	proton_enter_scope("graph");
	call(GRAPH_CALL, &op);
	call(GRAPH_CALL, &op);
	proton_exit_scope();
	proton_enter_scope("captured");
	begin_capture(handle(6), 0);
	kernel("mul"); /* into another stream */
	capture_node(1, ABI_KIND_CONCURRENT_KERNEL, "mul", 0);
	end_capture(handle(6), &captured);
	proton_exit_scope();
}

static void forks(void)
{
	pid_t child;

	proton_enter_scope("forks");
	kernel("add");
	child = fork();
	if (child == 0) {
		proton_enter_scope("child");
		proton_exit_scope();
		proton_exit_scope();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	kernel("add");
	proton_exit_scope();
}

/* One session after another; the last is open when the program ends. */
static void sessions(void)
{
	int session = proton_session_start("first", NULL);

	proton_enter_scope("early");
	kernel("add");
	kernel("add");
	proton_exit_scope();
	if (proton_session_finalize(session, NULL) != PROTON_OK)
		exit(3);
	proton_session_start("second", NULL);
	proton_enter_scope("later");
	kernel("mul");
	proton_exit_scope();
}

/* A session that is written phase by phase. */
static void phases(void)
{
	static const char *const names[] = {"p0", "p1", "p2"};
	int session = proton_session_start(
		"phased",
		&(struct proton_session_options){.size = sizeof(struct proton_session_options),
						 .mode = "periodic_flushing"});

	for (int i = 0; i < 3; i++) {
		proton_enter_scope(names[i]);
		kernel("add");
		proton_exit_scope();
		proton_phase_advance(session);
		usleep(700000);
	}
}

static void *launch_cancelled(void *unused)
{
	(void)unused;
	proton_enter_scope("cancelled");
	pthread_cancel(pthread_self());
	kernel("add");
	pthread_testcancel();
	return NULL;
}

/* A thread is cancelled while it launches; others go on. */
static void cancelled(void)
{
	pthread_t thread;
	void *end;

	proton_enter_scope("before");
	kernel("add");
	proton_exit_scope();
	pthread_create(&thread, NULL, launch_cancelled, NULL);
	pthread_join(thread, &end);
	proton_enter_scope("after");
	kernel("mul");
	proton_exit_scope();
	exit(end == PTHREAD_CANCELED ? 0 : 3);
}

/* Until somebody who has seen what was launched makes this file. */
static void waits(void)
{
	proton_enter_scope("waits");
	for (int i = 0; i < 5; i++)
		kernel("add");
	while (access("go", F_OK) != 0)
		usleep(10000);
	proton_exit_scope();
}

int main(int argc, char **argv)
{
	if (argc < 2 || !getenv("PROTON_CUPTI_PATH"))
		return 2;
	start(argv[1]);
	*(void **)&begin_capture = find(argv[1], "cuStreamBeginCapture_v2");
	*(void **)&end_capture = find(argv[1], "cuStreamEndCapture");
	if (argc > 2 && !strcmp(argv[2], "sessions")) {
		sessions();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[2], "phases")) {
		phases();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[2], "waits")) {
		waits();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[2], "cancelled"))
		cancelled();
	nvtx_init();
	nest();
	nvtx();
	threads();
	crossed();
	graphs();
	forks();
	for (int i = 0; i < MANY; i++) {
		proton_enter_scope("many");
		kernel("add");
		proton_exit_scope();
	}
	proton_enter_scope("open");
	kernel("add");
	if (argc > 2)
		raise(SIGKILL);
	return 0;
}
