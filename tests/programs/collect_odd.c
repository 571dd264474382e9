/* SPDX-License-Identifier: MIT */
/* collect_odd WHAT [N]: programs that do what few programs do. Prints facts, a line each. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "proton/proton.h"
#include "unit/refuse.h"

static void scope(const char *name)
{
	proton_enter_scope(name);
	proton_exit_scope();
}

/* ---- a stack with room for little ---- */

static volatile sig_atomic_t n_handled;

static int (*enter_by_name)(const char *name);
static int (*leave_by_name)(void);

static void enter_two(int signal)
{
	(void)signal;
	enter_by_name("on a small stack");
	leave_by_name();
	enter_by_name("again");
	leave_by_name();
	n_handled++;
}

/* The first scope is entered by a handler on an alternate stack that has n bytes beside the frame that the
 * kernel puts there, and below which nothing is mapped. The functions are looked up before: that alone may
 * take more of it. */
static int small_stack(int n)
{
	size_t size = (size_t)(sysconf(_SC_MINSIGSTKSZ) + n);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size / page + 1) * page;
	struct sigaction act = {.sa_handler = enter_two, .sa_flags = SA_ONSTACK};
	char *guard =
		mmap(NULL, page + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = guard + page, .ss_size = size};

	*(void **)&enter_by_name = dlsym(RTLD_DEFAULT, "proton_api_enter_scope");
	*(void **)&leave_by_name = dlsym(RTLD_DEFAULT, "proton_api_exit_scope");
	if (!enter_by_name || !leave_by_name || guard == MAP_FAILED ||
	    mprotect(guard, page, PROT_NONE) < 0)
		return 1;
	if (sigaltstack(&stack, NULL) < 0)
		return 1;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	raise(SIGUSR1);
	printf("handled %d\n", (int)n_handled);
	return 0;
}

/* ---- threads that start together ---- */

static pthread_barrier_t barrier;
static int n_refused;

static void *first_scope(void *arg)
{
	char name[32];

	snprintf(name, sizeof(name), "first%d", (int)(intptr_t)arg);
	pthread_barrier_wait(&barrier);
	if (proton_enter_scope(name) < 0)
		__atomic_fetch_add(&n_refused, 1, __ATOMIC_RELAXED);
	proton_exit_scope();
	return NULL;
}

static int threads(int n)
{
	pthread_t t[64];

	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, first_scope, (void *)(intptr_t)i);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("refused %d\n", n_refused);
	return 0;
}

/* ---- ends ---- */

static void late_scope(void)
{
	scope("late");
}

/* Its handler runs after those that our first call registers. */
static int late(int n)
{
	atexit(late_scope);
	scope("early");
	return n;
}

static int ends(int n)
{
	scope("end");
	_exit(n);
}

static void *short_work(void *arg)
{
	scope("after main");
	return arg;
}

static void handler_scope(void)
{
	scope("in a handler");
	puts("handler"); /* on descriptors of the program */
}

/* main() leaves first; the last thread ends the process. */
static int main_leaves(int n)
{
	pthread_t t;

	atexit(handler_scope);
	scope("main");
	pthread_create(&t, NULL, short_work, NULL);
	pthread_exit(NULL);
	return n;
}

/* N children that enter a scope and abort. */
static int children_abort(int n)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			scope("child");
			abort();
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

/* Tries to exec, fails, and ends by a signal before the next period. */
static int exec_fails(int n)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	scope("before");
	execl("/nonexistent", "nonexistent", NULL);
	for (int i = 0; i < n; i++)
		scope("after");
	raise(SIGKILL);
	return 0;
}

/* A fork that runs no handlers, as clone() is. */
static int bare_fork(int n)
{
	pid_t pid;

	scope("parent");
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	for (int i = 0; pid == 0 && i < n; i++)
		scope("child");
	if (pid == 0)
		exit(0);
	waitpid(pid, NULL, 0);
	return 0;
}

static unsigned n_tasks(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) < 0 ? 0 : (unsigned)st.st_nlink - 2;
}

/* N children of a program that has no other thread than its first: how many threads the process has, at most, when
 * fork() has returned. Each is in scopes before and after. Then the process becomes another program. */
static int fork_single(int n)
{
	unsigned most = 0;
	pid_t pid;

	for (int i = 0; i < n; i++) {
		scope("parent");
		pid = fork();
		if (pid == 0) {
			scope("child");
			_exit(0);
		}
		most = n_tasks() > most ? n_tasks() : most;
		waitpid(pid, NULL, 0);
	}
	printf("threads %u\n", most);
	fflush(stdout);
	execlp("true", "true", NULL);
	return 1;
}

/* In the scope that it ends in; as a daemon, whose parent ends within libc. */
static int open_end(int n)
{
	proton_enter_scope("open");
	return n;
}

static int becomes_daemon(int n)
{
	scope("parent");
	if (daemon(1, 1) < 0)
		return 77;
	scope("daemon");
	return n;
}

/* N names that differ by a number, and some others. */
static int count_up(int n)
{
	char name[64];

	proton_enter_scope("main");
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "batch %d of many", i);
		scope(name);
		scope("other");
	}
	return 0;
}

/* ---- places from which the session cannot be reached ---- */

static int other_user(int n)
{
	if (setuid((uid_t)n) < 0)
		return 77;
	scope("as another");
	return 0;
}

static int other_root(int n)
{
	if (chroot("/usr") < 0 || chdir("/") < 0)
		return 77;
	scope("elsewhere");
	return n;
}

/* ---- limits ---- */

/* Is less than N KiB of memory locked, with the stacks of our threads? */
static int locked(int n)
{
	char line[256];
	long kb = 0;
	FILE *f;

	if (mlockall(MCL_FUTURE) < 0)
		return 77;
	scope("locked");
	f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmLck: %ld kB", &kb);
	printf(kb < n ? "little\n" : "%ld kB\n", kb);
	return 0;
}

static int no_threads(int n)
{
	/* As with a limit of processes that is reached. */
	if (refuse(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS) < 0 ||
	    refuse(SYS_clone, SECCOMP_RET_ERRNO | EAGAIN) < 0)
		return 77;
	for (int i = 0; i < n; i++)
		scope("alone");
	return 0;
}

static int nothing(int n)
{
	return n;
}

/* A filter that kills whoever makes a thread or opens a file: threads made before are not under it. */
static int filtered(int n)
{
	if (refuse(SYS_clone3, SECCOMP_RET_KILL_PROCESS) < 0 ||
	    refuse(SYS_clone, SECCOMP_RET_KILL_PROCESS) < 0 ||
	    refuse(SYS_openat, SECCOMP_RET_KILL_PROCESS) < 0)
		return 77;
	for (int i = 0; i < n; i++)
		scope("under");
	return 0;
}

/* ---- descriptors ---- */

enum { N_NOISY = 3, N_FILES = 64 };
static int stop;

/* Names that are new all the time: full bursts. */
static void *noise(void *arg)
{
	char name[256];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		const struct timespec t = {0, 20000};

		snprintf(name, 40, "%p %u %*s", arg, i, 20, "");
		scope(name);
		nanosleep(&t, NULL);
	}
	return NULL;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_size : 0;
}

static void close_but(int kept)
{
	for (int i = 0; i < 1024; i++)
		if (i != kept)
			close(i);
}

/* N times: close all, let whoever wants to open something under a low number, close all and open
 * files under every number there is. What is in them that the program did not write? */
static int close_all(int n)
{
	const struct timespec ms = {0, 1000000};
	int fd[N_FILES], out = fcntl(1, F_DUPFD, 40), dirty = 0, id[N_NOISY] = {0};
	pthread_t t[N_NOISY];
	char line[64];

	for (int i = 0; i < N_NOISY; i++)
		pthread_create(&t[i], NULL, noise, &id[i]);
	for (int k = 0; k < n; k++) {
		close_but(out);
		nanosleep(&ms, NULL);
		close_but(out);
		for (int i = 0; i < N_FILES; i++)
			fd[i] = open(".", O_TMPFILE | O_RDWR, 0600);
		nanosleep(&ms, NULL);
		for (int i = 0; i < N_FILES; i++)
			dirty += size_of(fd[i]) > 0;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < N_NOISY; i++)
		pthread_join(t[i], NULL);
	snprintf(line, sizeof(line), "dirty %d of %d\n", dirty, n);
	return write(out, line, strlen(line)) < 0;
}

/* ---- signal handlers ---- */

static volatile sig_atomic_t n_handled;

static void handle(int sig)
{
	(void)sig;
	scope("handler");
	n_handled++;
}

/* N scopes, and a handler that has one of its own in the middle of them. The timer is set anew by the
 * scopes, not by time: where a signal takes longer than the time between two, nothing else would ever
 * run. */
static int handler(int n)
{
	const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	struct itimerval once = {.it_value = {0, 1}};
	int seen = -1;

	scope("first");
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < n; i++) {
		if (i % 32 == 0 && n_handled != seen) {
			seen = n_handled;
			once.it_value.tv_usec = 1 + i % 61;
			setitimer(ITIMER_REAL, &once, NULL);
		}
		scope("interrupted");
	}
	once.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &once, NULL);
	printf("handled %d\n", (int)n_handled);
	return 0;
}

/* ---- scopes that nobody leaves ---- */

static void *enter(void *arg)
{
	proton_enter_scope("entered");
	pthread_barrier_wait(&barrier);
	if (!arg)
		pause();
	return NULL;
}

/* N = 0: a thread is in a scope when the process ends; else it ends itself in it. */
static int worker_open(int n)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, enter, (void *)(intptr_t)n);
	pthread_barrier_wait(&barrier);
	if (n)
		pthread_join(t, NULL);
	return 0;
}

static int deep(int n)
{
	for (int i = 0; i < n; i++)
		proton_enter_scope("level");
	for (int i = 0; i < n; i++)
		proton_exit_scope();
	return 0;
}

/* The environment is emptied before the first scope. */
static int clear_env(int n)
{
	(void)n;
	clearenv();
	scope("cleared");
	return 0;
}

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(int n);
} ways[] = {
	{"threads", threads},         {"late", late},
	{"exec-fails", exec_fails},   {"bare-fork", bare_fork},
	{"open-end", open_end},       {"daemon", becomes_daemon},
	{"ends", ends},               {"main-leaves", main_leaves},
	{"abort", children_abort},    {"count-up", count_up},
	{"setuid", other_user},       {"chroot", other_root},
	{"locked", locked},           {"no-threads", no_threads},
	{"filtered", filtered},       {"nothing", nothing},
	{"close-all", close_all},     {"handler", handler},
	{"worker-open", worker_open}, {"deep", deep},
	{"clear-env", clear_env},     {"small-stack", small_stack},
	{"fork-single", fork_single},
};
/* clang-format on */

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, argv[1]))
			return ways[i].run(argc > 2 ? atoi(argv[2]) : 0);
	return 2;
}
