/* SPDX-License-Identifier: MIT */
/* Phases of a program's sessions: collect_phases LIBCUDA WHAT [ARGUMENT]. See tests/scripts/collect_phases.sh for
 * what each WHAT is there for. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "programs/session_app.h"
#include "proton/proton.h"

/* A phase into a file, as it is. */
static int save(int session, int phase, const char *format, const char *path)
{
	char *data = NULL;
	size_t size = 0;
	int r = proton_session_data(session, phase, format, &data, &size);
	FILE *f = r == PROTON_OK ? fopen(path, "we") : NULL;

	if (f) {
		fwrite(data, 1, size, f);
		fclose(f);
	}
	proton_data_free(data);
	return r;
}

/* Until all of it is there; a minute is for a machine that does something else. */
static bool await_complete(int session, int phase)
{
	const struct timespec ms = {0, 1000000};

	for (int i = 0; i < 60000; i++) {
		if (proton_phase_is_complete(session, phase) != 0)
			return proton_phase_is_complete(session, phase) == 1;
		nanosleep(&ms, NULL);
	}
	return false;
}

/* Phase 0: 3 of add, 4 of mul below "step"; 1: 5 of add; 2: 7 of mul. */
static void three(const char *argument)
{
	int a = proton_session_start("a", NULL), other = proton_session_start("b", NULL);

	say("complete", proton_phase_is_complete(a, 0));
	run("add", 3);
	proton_enter_scope("step");
	run("mul", 4);
	proton_scope_metric("flops", 100);
	say("depth", proton_context_depth());
	say("advance", proton_phase_advance(a));
	proton_exit_scope();
	run("add", 5);
	say("advance", proton_phase_advance(a));
	run("mul", 7);
	say("complete", await_complete(a, 0) && await_complete(a, 1));
	say("now", proton_phase_is_complete(a, 2));
	say("data", save(a, 0, NULL, "0.json"));
	say("data", save(a, 1, "HATCHET", "1.json"));
	say("data", save(a, 0, "hatchet_msgpack", "0.msgpack"));
	say("clear", proton_phase_clear(a, 0, 0));
	say("cleared", proton_phase_is_complete(a, 0));
	say("data", save(a, 0, NULL, "cleared.json"));
	say("deactivate", proton_session_deactivate(a, 1));
	say("data", save(a, 2, NULL, "2.json"));
	run("mul", 1);
	say("a", proton_session_finalize(a, argument));
	say("b", proton_session_finalize(other, NULL));
	run("add", 2);
}

static void wrong(const char *argument)
{
	const struct proton_session_options odd = {.size = sizeof(odd), .mode = argument};
	char *data = (char *)"untouched";
	size_t size = 1;
	int a = proton_session_start("a", NULL);

	say("no session", proton_phase_advance(a + 1));
	say("no session", proton_phase_is_complete(-1, 0));
	say("no session", proton_phase_clear(-1, 0, 1));
	say("no session", proton_session_data(9, 0, NULL, &data, &size));
	say("below 0", proton_phase_is_complete(a, -1));
	say("below 0", proton_phase_clear(a, -1, 1));
	say("below 0", proton_session_data(a, -1, NULL, &data, &size));
	say("to come", proton_phase_is_complete(a, 7));
	say("to come", proton_phase_clear(a, 7, 0));
	say("to come", proton_session_data(a, 1, NULL, &data, &size));
	say("format", proton_session_data(a, 0, "folded", &data, &size));
	say("untouched", strcmp(data, "untouched") != 0 || size != 1);
	say("mode", proton_session_start("odd", &odd));
	say("finalize", proton_session_finalize(a, NULL));
	say("over", proton_phase_advance(a));
}

/* ---- threads that launch, while others go on and clear ---- */

static atomic_bool enough;
static atomic_int n_launching;

static void *launcher(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "t%d", (int)(intptr_t)arg);
	proton_enter_scope(name);
	for (int i = 0; i < 20000; i++)
		run("add", 1);
	proton_exit_scope();
	atomic_fetch_sub(&n_launching, 1);
	return NULL;
}

static void *looker(void *arg)
{
	int session = (int)(intptr_t)arg, phase = 0;
	char *data = NULL;
	size_t size;

	while (!atomic_load(&enough)) {
		if (proton_session_data(session, phase, NULL, &data, &size) == PROTON_OK)
			proton_data_free(data);
		data = NULL;
		phase = proton_phase_is_complete(session, phase) == 1 ? phase + 1 : phase;
	}
	return NULL;
}

enum { LAUNCHERS = 4, LOOKERS = 3 };

/* All phases together have what all threads launched; the first ones are cleared on the way. */
static void threads(const char *argument)
{
	int session = proton_session_start("a", NULL), phase = 0;
	pthread_t launchers[LAUNCHERS], lookers[LOOKERS];

	atomic_store(&n_launching, LAUNCHERS);
	for (int i = 0; i < LAUNCHERS; i++)
		pthread_create(&launchers[i], NULL, launcher, (void *)(intptr_t)i);
	for (int i = 0; i < LOOKERS; i++)
		pthread_create(&lookers[i], NULL, looker, (void *)(intptr_t)session);
	while (atomic_load(&n_launching) && (argument || phase < 300)) {
		phase = proton_phase_advance(session);
		if (argument && phase > 20)
			proton_phase_clear(session, phase - 20, 1);
	}
	for (int i = 0; i < LAUNCHERS; i++)
		pthread_join(launchers[i], NULL);
	atomic_store(&enough, true);
	for (int i = 0; i < LOOKERS; i++)
		pthread_join(lookers[i], NULL);
	say("phases", phase > 1 ? 0 : phase);
	say("finalize", proton_session_finalize(session, NULL));
}

/* ---- for ever ---- */

static long memory_kib(pid_t pid)
{
	char line[256];
	long kib = -1;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
	f = fopen(line, "re");
	while (f && kib < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

/* Phases with launches and names of their own, each cleared when it is over; memory of both halves after each tenth
 * of them. */
static void flat(const char *argument)
{
	int n = atoi(argument), session = proton_session_start("a", NULL), phase = 0;
	char name[32];

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 10; k++) {
			snprintf(name, sizeof(name), "step %d", i * 10 + k);
			proton_enter_scope(name);
			run("add", 10);
			proton_exit_scope();
		}
		phase = proton_phase_advance(session);
		proton_phase_clear(session, phase - 1, 1);
		if ((i + 1) % (n / 10))
			continue;
		proton_session_deactivate(session, 1);
		proton_session_activate(session);
		printf("%ld %ld\n", memory_kib(getpid()), memory_kib(getppid()));
	}
	say("finalize", proton_session_finalize(session, NULL));
}

/* Until one of the files is there. */
static bool await_file(const char *path, const char *other)
{
	const struct timespec ms = {0, 1000000};

	for (int i = 0; i < 60000 && access(path, F_OK) && access(other, F_OK); i++)
		nanosleep(&ms, NULL);
	return !access(path, F_OK) || !access(other, F_OK);
}

/* Phases that are written and forgotten as the program goes on. */
static void periodic(const char *argument)
{
	const struct proton_session_options options = {.size = sizeof(options), .mode = argument};
	int session = proton_session_start("a", &options);

	say("start", session);
	for (int i = 0; i < 100; i++) {
		run("add", i + 1);
		proton_phase_advance(session);
	}
	run("mul", 7);
	say("complete", await_complete(session, 98));
	say("written", session < 0 || await_file("a.part_99.hatchet", "a.part_99.hatchet_msgpack"));
	say("finalize", proton_session_finalize(session, NULL));
}

/* When operations ran, of two sessions that overlap: a has 3 in phase 0 and 4 in phase 1, b has 4. */
static void trace(const char *argument)
{
	struct proton_session_options options = {.size = sizeof(options), .data = "trace"};
	int a, b, tree = proton_session_start("tree", NULL);

	run("add", 2);
	a = proton_session_start("a", &options);
	proton_enter_scope("step");
	run("add", 3);
	proton_phase_advance(a);
	options.mode = argument;
	b = proton_session_start("b", &options);
	run("mul", 4);
	proton_exit_scope();
	say("data", save(a, 0, NULL, "0.json"));
	say("tree", save(a, 0, "hatchet", "0.json"));
	say("trace", save(tree, 0, "chrome_trace", "0.json"));
	proton_session_deactivate(PROTON_ALL_SESSIONS, 1);
	run("add", 9);
	say("hatchet", proton_session_finalize(a, "hatchet"));
	say("a", proton_session_finalize(a, NULL));
	say("b", proton_session_finalize(b, "chrome_trace"));
	say("tree", proton_session_finalize(tree, NULL));
	options.mode = NULL;
	say("empty", proton_session_finalize(proton_session_start("empty", &options), NULL));
}

/* ---- ends ---- */

/* Whoever profiles is killed while data is asked for: the program goes on. */
static void orphan(const char *argument)
{
	int session = proton_session_start("orphan", NULL);
	pid_t parent = getppid();
	char *data = NULL;
	size_t size;

	run("add", 3);
	(void)argument;
	kill(parent, SIGKILL);
	say("data", proton_session_data(session, 0, NULL, &data, &size));
	say("advance", proton_phase_advance(session));
	run("add", 3);
	say("clear", proton_phase_clear(session, 0, 0));
	say("goes on", 0);
}

static void *ask_on(void *arg)
{
	int session = (int)(intptr_t)arg;
	char *data = NULL;
	size_t size;

	while (proton_session_data(session, 0, NULL, &data, &size) == PROTON_OK)
		proton_data_free(data);
	return NULL;
}

/* It is killed itself, in the midst of asking. */
static void killed(const char *argument)
{
	int session = proton_session_start("killed", NULL);
	pthread_t thread;

	run("add", 3);
	for (int i = 0; i < atoi(argument); i++)
		pthread_create(&thread, NULL, ask_on, (void *)(intptr_t)session);
	for (int i = 0; i < 5; i++)
		save(session, 0, NULL, "0.json");
	raise(SIGKILL);
}

/* It ends without a word. */
static void leave(const char *argument)
{
	int session = proton_session_start("left", NULL);

	(void)argument;
	for (int i = 1; i <= 3; i++) {
		run("add", i);
		if (i < 3)
			proton_phase_advance(session);
	}
	proton_phase_clear(session, 0, 1);
	proton_session_deactivate(session, 1);
	raise(SIGKILL);
}

/* A child has none of its parent's phases, and its own begin at 0. */
static void fork_child(const char *argument)
{
	int session = proton_session_start("parent", NULL), status;
	pid_t pid;

	(void)argument;
	run("add", 3);
	proton_phase_advance(session);
	pid = fork();
	if (pid == 0) {
		say("child", proton_phase_advance(session));
		session = proton_session_start("child", NULL);
		proton_enter_scope("s"); /* CUDA does not work in a fork child */
		proton_scope_metric("flops", 5);
		proton_exit_scope();
		say("child", proton_phase_advance(session));
		say("child", save(session, 0, NULL, "child.json"));
		say("child", proton_session_finalize(session, NULL));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	run("add", 1);
	say("parent", save(session, 0, NULL, "parent.json"));
	say("parent", proton_session_finalize(session, NULL));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(const char *argument);
	} all[] = {
		{"three", three},       {"wrong", wrong},   {"threads", threads}, {"flat", flat},
		{"periodic", periodic}, {"trace", trace},   {"fork", fork_child}, {"leave", leave},
		{"orphan", orphan},     {"killed", killed},
	};

	if (argc < 3)
		return 2;
	open_cuda(argv[1]);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].word, argv[2])) {
			all[i].run(argc > 3 ? argv[3] : NULL);
			return 0;
		}
	return 2;
}
