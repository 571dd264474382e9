/* SPDX-License-Identifier: MIT */
/* A program with a profiler of its own inside: collect_rival LIBCUDA TOOL WHAT, with the mock libcupti. See
 * tests/scripts/collect_rival.sh for what each WHAT is there for. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "base/util.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"

enum { KERNEL_CALL = 307, N_THREADS = 8, N_TURNS = 5, N_FORKS = 100 };

static mock_call_fn *call;
static mock_counters_fn *counters;
static uint32_t (*start)(void), (*leave)(void), (*finalize)(void), (*again)(void), (*records)(void);
static void (*stop)(void);
static unsigned long (*count)(unsigned long *);
static uint32_t (*init)(uint32_t);
static mock_resource_fn *resource;

static void run(const char *name, unsigned n)
{
	const struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL, .name = name, .stream = 7};

	for (unsigned i = 0; i < n; i++)
		call(KERNEL_CALL, &op);
}

static void nap(void)
{
	const struct timespec ms = {0, 1000000};

	nanosleep(&ms, NULL);
}

/* Until proton has CUPTI: a copy is recorded, which the tool does not ask for. */
static void await_proton(void)
{
	struct mock_counters now;

	for (int i = 0; i < 60000; i++) {
		counters(&now);
		if (now.subscribed && now.n_kinds_enabled > 3 && now.n_callbacks_enabled > 20)
			return;
		nap();
	}
	fprintf(stderr, "proton did not come back\n");
	exit(3);
}

static void say(const char *what, unsigned long n)
{
	printf("%s %lu\n", what, n);
}

/* What the tool sees of n launches, and of a context. */
static void theirs(const char *name, unsigned n)
{
	unsigned long n_calls;

	say("start", start());
	run(name, n);
	resource(2);
	stop();
	say("records", count(&n_calls));
	say("calls", n_calls);
}

/* As torch.profiler does: it stays subscribed. */
static void steps(void)
{
	run("before", 100);
	theirs("theirs", 50);
	await_proton();
	run("after", 70);
	theirs("theirs", 30);
	theirs("theirs", 20); /* before proton has come back */
	await_proton();
	run("end", 20);
	stop(); /* what it has not */
	run("end", 5);
}

static void leaves(uint32_t (*how)(void))
{
	run("before", 10);
	theirs("theirs", 5);
	say("left", how());
	await_proton();
	run("after", 7);
	theirs("theirs", 3);
	say("left", how());
	await_proton();
	run("end", 2);
}

/* What it unsubscribes is not its own any more. */
static void twice(void)
{
	theirs("theirs", 5);
	say("left", leave());
	await_proton();
	run("after", 7);
	say("again", again());
	run("after", 3);
}

/* It has never subscribed. */
static void unsubscribed(void)
{
	unsigned long n_calls;

	run("before", 10);
	for (unsigned i = 0; i < 3; i++) {
		say("start", records());
		run("theirs", 5 + i);
		stop();
		say("records", count(&n_calls));
		await_proton();
		run("after", 2);
	}
}

/* It was there before the driver was. */
static void first(void)
{
	unsigned long n_calls;

	say("start", start());
	init(0);
	run("theirs", 10);
	stop();
	say("records", count(&n_calls));
	await_proton();
	run("end", 5);
}

static void stays(void)
{
	run("before", 10);
	theirs("theirs", 5);
	run("end", 5);
}

/* What runs does not end. */
static void endless(void)
{
	mock_auto_fn *automatic;
	*(void **)&automatic = find(getenv("PROTON_CUPTI_PATH"), "mock_auto");

	run("before", 10);
	automatic(false);
	run("endless", 1);
	automatic(true);
	theirs("theirs", 5);
	await_proton();
	run("end", 5);
}

static void child(void)
{
	pid_t pid;

	run("before", 10);
	say("start", start());
	pid = fork();
	if (!pid) {
		stop();
		_exit(leave() == ABI_OK ? 0 : 1);
	}
	waitpid(pid, NULL, 0);
	stop();
	await_proton();
	run("end", 5);
}

static atomic_bool over;
static atomic_ulong n_launched;

static void *toggler(void *unused)
{
	while (!atomic_load(&over)) {
		start();
		stop();
	}
	return unused;
}

/* The tool is in the midst of a call when the program forks: children use it, too. */
static void forks(void)
{
	pthread_t thread;
	unsigned long n_ended = 0;
	int status;

	pthread_create(&thread, NULL, toggler, NULL);
	for (unsigned i = 0; i < N_FORKS; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(4); /* less than anybody waits for a turn */
			stop();
			_exit(0);
		}
		n_ended += waitpid(pid, &status, 0) == pid && !status;
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	say("ended", n_ended);
}

static void *launcher(void *name)
{
	while (!atomic_load(&over)) {
		run("meanwhile", 10);
		atomic_fetch_add(&n_launched, 10);
		sched_yield();
	}
	run(name, 100);
	return NULL;
}

static void threads(void)
{
	static const char *const names[N_THREADS] = {"t0", "t1", "t2", "t3",
						     "t4", "t5", "t6", "t7"};
	pthread_t thread[N_THREADS];
	unsigned long n_calls, sum = 0;

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&thread[i], NULL, launcher, (void *)(uintptr_t)names[i]);
	for (int i = 0; i < N_TURNS; i++) {
		if (start() != ABI_OK)
			say("refused", 1);
		for (int k = 0; k < 5; k++)
			nap();
		stop();
		sum += count(&n_calls);
		await_proton();
	}
	atomic_store(&over, true);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(thread[i], NULL);
	say("theirs", sum > 0);
	say("launched", atomic_load(&n_launched));
}

int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH"), *what = argc == 4 ? argv[3] : "";
	void *tool = argc == 4 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!cupti || !tool) {
		fprintf(stderr, "%s\n", tool ? "no PROTON_CUPTI_PATH" : dlerror());
		return 2;
	}
	*(void **)&start = dlsym(tool, "tool_start");
	*(void **)&stop = dlsym(tool, "tool_stop");
	*(void **)&leave = dlsym(tool, "tool_leave");
	*(void **)&finalize = dlsym(tool, "tool_finalize");
	*(void **)&again = dlsym(tool, "tool_again");
	*(void **)&records = dlsym(tool, "tool_records");
	*(void **)&count = dlsym(tool, "tool_count");
	*(void **)&init = find(argv[1], "cuInit");
	*(void **)&call = find(cupti, "mock_call");
	*(void **)&resource = find(cupti, "mock_resource");
	*(void **)&counters = find(cupti, "mock_counters");
	if (strcmp(what, "first") != 0)
		init(0);
	if (!strcmp(what, "steps"))
		steps();
	else if (!strcmp(what, "leave"))
		leaves(leave);
	else if (!strcmp(what, "finalize"))
		leaves(finalize);
	else if (!strcmp(what, "twice"))
		twice();
	else if (!strcmp(what, "unsubscribed"))
		unsubscribed();
	else if (!strcmp(what, "first"))
		first();
	else if (!strcmp(what, "stays"))
		stays();
	else if (!strcmp(what, "endless"))
		endless();
	else if (!strcmp(what, "child"))
		child();
	else if (!strcmp(what, "forks"))
		forks();
	else if (!strcmp(what, "threads"))
		threads();
	else
		return 2;
	return 0;
}
