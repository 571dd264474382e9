/* SPDX-License-Identifier: MIT */
/* Sessions of a program's own: collect_sessions LIBCUDA WHAT [ARGUMENT]. See tests/scripts/collect_sessions.sh
 * for what each WHAT is there for. */
#include "config.h" // IWYU pragma: keep
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mocks/mock_cupti.h"
#include "programs/session_app.h"
#include "proton/proton.h"

/* Two that overlap: a has 5 of add and 2 of mul, b has 2 and 7 of mul and 1 of add. */
static void overlap(const char *argument)
{
	int a, b;

	run("add", 5);
	a = proton_session_start("a", NULL);
	proton_enter_scope("step");
	run("add", 4);
	b = proton_session_start("b", NULL);
	run("mul", 2);
	proton_scope_metric("flops", 100);
	proton_session_deactivate(a, 1);
	proton_exit_scope();
	run("mul", 7);
	proton_session_activate(a);
	proton_session_deactivate(b, 0);
	run("add", 1);
	say("a", proton_session_finalize(a, argument));
	proton_session_activate(b);
	run("add", 1);
	say("b", proton_session_finalize(b, "hatchet_msgpack"));
	say("b again", proton_session_finalize(b, NULL));
	run("add", 8);
}

/* One, of the name that is given. */
static void one(const char *name)
{
	int session = proton_session_start(name, NULL);

	run("add", 3);
	say("start", session);
	say("finalize", session < 0 ? session : proton_session_finalize(session, NULL));
}

/* Of what the contexts are made. */
static void context(const char *word)
{
	const struct proton_session_options options = {.size = sizeof(options), .context = word};
	int session = proton_session_start("c", &options);

	say("start", session);
	proton_enter_scope("outer");
	run("add", 3);
	proton_enter_scope("inner");
	run("add", 3);
	proton_exit_scope();
	proton_exit_scope();
	if (session >= 0)
		say("finalize", proton_session_finalize(session, NULL));
}

/* States and launches with a name. */
static void launches(const char *name)
{
	static const double losses[] = {0.5, 0.25};
	int session = proton_session_start("l", NULL);

	proton_enter_scope("step");
	proton_state_enter("warm");
	proton_launch_begin(name);
	proton_scope_metric("flops16", 1000);
	proton_scope_metric_i64("delta", -3);
	run("add", 3);
	proton_launch_end();
	proton_state_exit();
	proton_scope_metric_vector("loss (%)", losses, 2);
	proton_scope_metric("wait (ns)(exc)", 7);
	run("add", 1);
	say("end", proton_launch_end() == PROTON_UNKNOWN ? 0 : -1);
	proton_exit_scope();
	say("finalize", proton_session_finalize(session, NULL));
}

/* A name of a megabyte. */
static void long_name(const char *argument)
{
	size_t n = strtoul(argument, NULL, 10);
	char *name = malloc(n + 1);

	if (!name)
		exit(2);
	memset(name, 'x', n);
	name[n] = '\0';
	one(name);
	free(name);
}

/* The child has none of its parent's, and one of its own. */
static void fork_child(const char *argument)
{
	int session = proton_session_start("parent", NULL), status;
	pid_t pid;

	(void)argument;
	run("add", 3);
	pid = fork();
	if (pid == 0) {
		say("child", proton_session_deactivate(session, 0));
		session = proton_session_start("child", NULL);
		proton_enter_scope("s"); /* CUDA does not work in a fork child */
		proton_scope_metric("flops", 5);
		proton_exit_scope();
		say("child", proton_session_finalize(session, NULL));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	run("add", 1);
	say("parent", proton_session_finalize(session, NULL));
}

static void *thread_main(void *arg)
{
	char name[32];
	int session;

	snprintf(name, sizeof(name), "t%d", (int)(intptr_t)arg);
	session = proton_session_start(name, NULL);
	proton_enter_scope(name); /* and never left */
	run("add", 10);
	if (session < 0 || proton_session_finalize(session, NULL) != PROTON_OK)
		say(name, session);
	return NULL;
}

static void threads(const char *argument)
{
	int n = atoi(argument);
	pthread_t *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; all && i < n; i++)
		pthread_create(&all[i], NULL, thread_main, (void *)(intptr_t)i);
	for (int i = 0; all && i < n; i++)
		pthread_join(all[i], NULL);
	free(all);
	say("threads", 0);
}

/* Ends without a word, with a session that is not finalized. */
static void leave(const char *argument)
{
	proton_session_start("never", NULL);
	run("add", 3);
	if (!strcmp(argument, "exit"))
		exit(0);
	proton_session_deactivate(0, 1); /* what is on its way now is lost with the process */
	if (!strcmp(argument, "kill"))
		raise(SIGKILL);
	if (!strcmp(argument, "exec"))
		execl("/bin/sh", "sh", "-c", "cat; echo exec", NULL);
	if (!strcmp(argument, "quick"))
		quick_exit(0);
	_exit(0);
}

static void *mock_function(const char *name)
{
	void *mock = dlopen(getenv("PROTON_CUPTI_PATH"), RTLD_NOW);

	return mock ? dlsym(mock, name) : NULL;
}

static uint64_t n_flushes(uint64_t *ret_forced)
{
	mock_counters_fn *counters;
	struct mock_counters now;

	*(void **)&counters = mock_function("mock_counters");
	counters(&now);
	*ret_forced = now.n_forced;
	return now.n_flushes;
}

/* The device is done with the rest after the profiler has looked three times. */
static void *late_main(void *arg)
{
	const struct timespec ms = {0, 1000000};
	mock_complete_fn *complete;
	uint64_t forced, from = n_flushes(&forced);

	(void)arg;
	*(void **)&complete = mock_function("mock_complete");
	while (n_flushes(&forced) < from + 3)
		nanosleep(&ms, NULL);
	complete(SIZE_MAX, false);
	return NULL;
}

/* What is launched runs on while the session is finalized. */
static void late(const char *argument)
{
	mock_auto_fn *automatic;
	uint64_t forced;
	pthread_t thread;
	int session;

	(void)argument;
	run("add", 1); /* the profiler is there */
	*(void **)&automatic = mock_function("mock_auto");
	automatic(false);
	session = proton_session_start("late", NULL);
	run("mul", 50);
	pthread_create(&thread, NULL, late_main, NULL);
	say("finalize", proton_session_finalize(session, NULL));
	pthread_join(thread, NULL);
	n_flushes(&forced);
	say("forced", (int)forced);
	automatic(true);
}

/* Finalizes at the very end of the program, after what others do there. */
static int last;

static void finalize_last(void)
{
	say("last", proton_session_finalize(last, "hatchet_msgpack"));
}

static void leave_last(const char *argument)
{
	(void)argument;
	atexit(finalize_last);
	last = proton_session_start("last", NULL);
	run("add", 3);
}

/* Whoever profiles is killed: the program goes on. */
static void orphan(const char *argument)
{
	int session = proton_session_start("orphan", NULL);

	run("add", 3);
	kill(getppid(), SIGKILL);
	while (getppid() == atoi(argument))
		;
	say("finalize", proton_session_finalize(session, NULL));
	run("add", 3);
	say("start", proton_session_start("later", NULL));
	say("goes on", 0);
}

/* Somebody removes what is in the session's folder, as often as it comes back. */
static void *remove_main(void *arg)
{
	const char *folder = getenv("PROTON_SESSION");
	const atomic_bool *is_over = arg;
	struct dirent *e;

	while (!atomic_load(is_over)) {
		DIR *dir = opendir(folder);

		while (dir && (e = readdir(dir)))
			if (strstr(e->d_name, ".session"))
				unlinkat(dirfd(dir), e->d_name, 0);
		if (dir)
			closedir(dir);
	}
	return NULL;
}

/* In which proton, which stands still, cannot answer then. */
static void folder_removed(const char *argument)
{
	int session = proton_session_start("removed", NULL);
	atomic_bool is_over = false;
	pthread_t thread;

	(void)argument;
	run("add", 3);
	kill(getppid(), SIGSTOP);
	pthread_create(&thread, NULL, remove_main, &is_over);
	say("finalize", proton_session_finalize(session, NULL));
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	kill(getppid(), SIGCONT);
}

static int fill_fd;

static void fill_up(void)
{
	static const char block[4096];

	while (write(fill_fd, block, sizeof(block)) > 0)
		;
}

static void *fill_main(void *arg)
{
	const atomic_bool *is_over = arg;

	while (!atomic_load(is_over))
		fill_up();
	return NULL;
}

/* Where proton answers there is no room for anything any more, and who sets some free does not get it. */
static void full(const char *phases)
{
	int session = proton_session_start("full", NULL);
	atomic_bool is_over = false;
	pthread_t thread;
	char path[4096];

	run("add", 3);
	if (phases) {
		proton_phase_advance(session);
		run("mul", 2);
	}
	snprintf(path, sizeof(path), "%s/fill", getenv("PROTON_SESSION"));
	fill_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	fill_up();
	pthread_create(&thread, NULL, fill_main, &is_over);
	say("finalize", proton_session_finalize(session, NULL));
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
}

/* Memory of its own that a process has, in KiB. */
static long own_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "RssAnon: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

/* N sessions one after another, each with a name of its own, as a server profiles its requests: how much this process
 * and proton, its parent, have grown since a quarter of them. */
static void many(const char *argument)
{
	int n = atoi(argument);
	char name[32], file[64];
	long ours = 0, theirs = 0;
	int session = -1, r = 0;

	for (int i = 0; i < n && r >= 0; i++) {
		snprintf(name, sizeof(name), "request-%d", i);
		session = proton_session_start(name, NULL);
		proton_enter_scope("work");
		proton_exit_scope();
		r = proton_session_finalize(session, NULL);
		snprintf(file, sizeof(file), "%s.hatchet", name);
		if (r >= 0 && i < n - 1 && unlink(file) < 0)
			r = -errno;
		if (i == n / 4) {
			ours = own_kib(getpid());
			theirs = own_kib(getppid());
		}
	}
	printf("many %d %s %s\n", session, r < 0 ? proton_session_error() : "done",
	       own_kib(getpid()) - ours < 256 && own_kib(getppid()) - theirs < 1024 ? "flat"
										    : "grown");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(const char *argument);
	} all[] = {
		{"launches", launches},
		{"overlap", overlap},
		{"one", one},
		{"context", context},
		{"long", long_name},
		{"fork", fork_child},
		{"threads", threads},
		{"leave", leave},
		{"orphan", orphan},
		{"late", late},
		{"many", many},
		{"last", leave_last},
		{"removed", folder_removed},
		{"full", full},
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
