/* SPDX-License-Identifier: MIT */
/* A program that captures in ways that few do, with the mock libcupti: collect_captures LIBCUDA. What it says while
 * no stream of the thread is captured has to count once. See tests/scripts/collect_captures.sh. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "programs/mock_graphs.h"
#include "proton/proton.h"

enum { BEGIN_CALL = 539, END_CALL = 497 };
enum { N_RUNS = 100000, N_NAMED = 20000, FIRST_NAMED = 1000000 };

static void begin(uint32_t stream)
{
	call(BEGIN_CALL, &(struct mock_op){.stream = stream});
}

static void end(uint32_t stream, uint32_t result)
{
	call(END_CALL, &(struct mock_op){.stream = stream, .result = result});
}

static void node(uint64_t id)
{
	call(KERNEL_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
					    .name = "node",
					    .captured = true,
					    .graph_node = id});
}

static void say(const char *scope)
{
	proton_enter_scope(scope);
	proton_scope_metric_u64("said", 1);
	proton_exit_scope();
}

static void *leave_captured(void *unused)
{
	begin(11);
	say("before a node");
	(void)unused;
	return NULL;
}

static void *leave_with_node(void *unused)
{
	begin(12);
	node(50);
	(void)unused;
	return NULL;
}

static void *say_in_thread(void *scope)
{
	say(scope);
	return NULL;
}

static void *end_13(void *unused)
{
	end(13, ABI_CALL_WRONG_THREAD);
	(void)unused;
	return NULL;
}

static void *end_14(void *unused)
{
	end(14, ABI_CALL_OK);
	(void)unused;
	return NULL;
}

static void in_thread(void *(*what)(void *), const char *scope)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, what, (void *)(uintptr_t)scope))
		exit(2);
	pthread_join(thread, NULL);
}

static void fork_captured(void)
{
	pid_t child;

	begin(15);
	node(51);
	child = fork();
	if (!child) {
		say("child");
		exit(0);
	}
	waitpid(child, NULL, 0);
	end(15, ABI_CALL_OK);
	say("after fork");
}

static void two_streams(void)
{
	begin(16);
	node(52);
	begin(17);
	end(16, ABI_CALL_OK);
	say("second of two"); /* of node 52, which never runs */
	end(99, ABI_CALL_OK); /* of which nobody knows */
	say("second of two");
	end(17, ABI_CALL_OK);
	say("after two");
}

/* A stream that is destroyed is not captured any more, and another has its address. */
static void same_stream(void)
{
	begin(18);
	node(53);
	begin(18);
	node(54);
	end(18, ABI_CALL_OK);
	say("after the same");
}

/* Numbers that nobody takes, for their launch never comes, do not keep those of others from them. */
static void untaken(const char *cuda)
{
	int (*device)(const char *, uint64_t, int, size_t, void *);
	void (*instantiate)(void), (*run)(void);
	static double many[16];
	double one = 1, none = NAN;
	char name[32];
	void *stream = (void *)1;

	*(void **)&instantiate = find(cuda, "mock_graph_instantiate");
	*(void **)&run = find(cuda, "mock_graph_launch");
	*(void **)&device = find(getenv("PROTON_LIBRARY"), "proton_api_metric_device");
	begin(1);
	proton_enter_scope("numbers");
	proton_launch_begin("never launched");
	device("untaken", (uintptr_t)many, 0, ARRAY_SIZE(many), stream);
	proton_launch_end();
	device("taken", (uintptr_t)&one, 0, 1, stream);
	device("not a number", (uintptr_t)&none, 0, 1, stream);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "too long %d", i);
		device(name, (uintptr_t)many, 0, 65, stream);
	}
	proton_exit_scope();
	end(1, ABI_CALL_OK);
	instantiate();
	for (int i = 0; i < N_RUNS; i++)
		run();
}

/* Each launch of many is named, and measured. */
static void named(void)
{
	proton_enter_scope("many");
	for (uint64_t id = FIRST_NAMED; id < FIRST_NAMED + N_NAMED; id++) {
		proton_launch_begin("named");
		proton_scope_metric_u64("said", 1);
		node(id);
		proton_launch_end();
	}
	proton_exit_scope();
	for (uint64_t id = FIRST_NAMED; id < FIRST_NAMED + N_NAMED; id++)
		call(GRAPH_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
						   .name = "node",
						   .graph = 9,
						   .graph_node = id});
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	start(argv[1]);
	say("begin");
	in_thread(leave_captured, NULL);
	in_thread(say_in_thread, "next thread");
	in_thread(leave_with_node, NULL);
	in_thread(say_in_thread, "thread after that");
	begin(13);
	in_thread(end_13, NULL);
	node(55);
	say("not ended"); /* of node 55 */
	end(13, ABI_CALL_OK);
	begin(14);
	node(56);
	in_thread(end_14, NULL);
	say("ended elsewhere");
	fork_captured();
	two_streams();
	same_stream();
	named();
	untaken(argv[1]);
	begin(19);
	say("at the end");
	return 0;
}
