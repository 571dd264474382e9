/* SPDX-License-Identifier: MIT */
/* A CUDA program for tests without a GPU: collect_app LIBCUDA END [THREADS [LAUNCHES [scopes]]].
 *
 * Thread i (from 0) copies 1000 (i + 1) bytes to the device, 10 (i + 1) back and 7 on it, sets 3,
 * launches `add` LAUNCHES times and waits for the device; with "scopes" under worker<i>/step. Then the program ends in
 * the way that END names: see `ends` below. Its status is 7 wherever it can choose one. With "none"
 * for LIBCUDA it enters a scope and its only thread leaves by pthread_exit(). */
#include "config.h" // IWYU pragma: keep

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "proton/proton.h"

enum { STATUS = 7, N_THREADS_MAX = 64 };

static void *driver;
static char **arguments;
static int n_threads = 1;
static long n_launches = 1000;
static bool with_scopes;

static struct {
	uint32_t (*init)(uint32_t flags);
	uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			   uint32_t, void *, void **, void **);
	uint32_t (*to_device)(uint64_t, const void *, size_t);
	uint32_t (*to_host)(void *, uint64_t, size_t);
	uint32_t (*on_device)(uint64_t, uint64_t, size_t);
	uint32_t (*set)(uint64_t, uint8_t, size_t);
	uint32_t (*synchronize)(void);
} cuda;

static void open_cuda(void)
{
	driver = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
	if (!driver) {
		fprintf(stderr, "collect_app: %s\n", dlerror());
		exit(2);
	}
	*(void **)&cuda.init = dlsym(driver, "cuInit");
	*(void **)&cuda.launch = dlsym(driver, "cuLaunchKernel");
	*(void **)&cuda.to_device = dlsym(driver, "cuMemcpyHtoD_v2");
	*(void **)&cuda.to_host = dlsym(driver, "cuMemcpyDtoH_v2");
	*(void **)&cuda.on_device = dlsym(driver, "cuMemcpyDtoD_v2");
	*(void **)&cuda.set = dlsym(driver, "cuMemsetD8_v2");
	*(void **)&cuda.synchronize = dlsym(driver, "cuCtxSynchronize");
	cuda.init(0);
}

static void *work(void *arg)
{
	size_t k = (size_t)(uintptr_t)arg + 1;
	char name[32];

	snprintf(name, sizeof(name), "worker%zu", k - 1);
	if (with_scopes) {
		proton_enter_scope(name);
		proton_enter_scope("step");
	}
	cuda.to_device(4096, name, 1000 * k);
	cuda.to_host(name, 4096, 10 * k);
	cuda.on_device(4096, 8192, 7);
	cuda.set(4096, 0, 3);
	for (long i = 0; i < n_launches; i++)
		cuda.launch("add", 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	cuda.synchronize();
	if (with_scopes) {
		proton_exit_scope();
		proton_exit_scope();
	}
	return NULL;
}

static void work_all(void)
{
	pthread_t threads[N_THREADS_MAX];

	open_cuda();
	for (int i = 1; i < n_threads; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	work((void *)0);
	for (int i = 1; i < n_threads; i++)
		pthread_join(threads[i], NULL);
}

/* Says that the work is done, and waits until the test has seen it. */
static void rendezvous(void)
{
	const struct timespec ms = {0, 5000000};
	FILE *f = fopen("ready", "w");

	if (f)
		fclose(f);
	for (int i = 0; i < 40000 && access("go", F_OK); i++)
		nanosleep(&ms, NULL);
}

static void end_exit(void)
{
	exit(STATUS);
}

static void end_exit_now(void)
{
	_exit(STATUS);
}

static void end_quick_exit(void)
{
	quick_exit(STATUS);
}

static void *exit_from_here(void *main_thread)
{
	if (main_thread)
		pthread_join(*(pthread_t *)main_thread, NULL);
	exit(STATUS);
	return NULL;
}

static void end_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_from_here, NULL);
	pthread_join(thread, NULL);
}

static void end_main_leaves(void)
{
	static pthread_t self;
	pthread_t thread;

	self = pthread_self();
	pthread_create(&thread, NULL, exit_from_here, &self);
	pthread_exit(NULL);
}

static void end_abort(void)
{
	rendezvous();
	abort();
}

static void end_kill(void)
{
	rendezvous();
	kill(getpid(), SIGKILL);
}

/* The new program works once more. */
static void end_exec(void)
{
	rendezvous();
	execl("/proc/self/exe", arguments[0], arguments[1], "return", "1", "10", (char *)NULL);
}

/* At once: what was counted a moment ago must arrive. */
static void end_exec_now(void)
{
	execlp("/proc/self/exe", arguments[0], arguments[1], "return", "1", "10", (char *)NULL);
}

static int exit_status(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child's memory is ours, where the sender runs on. */
static int exec_in_vfork(void)
{
	char *const none[] = {NULL};
	pid_t child = vfork();

	if (child == 0) {
		execvp("proton-no-such-program", arguments);
		execle("/bin/sh", "sh", "-c", "exit 3", (char *)NULL, none);
		_exit(1);
	}
	return exit_status(child);
}

static int exec_in_fork(void)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
		_exit(1);
	}
	return exit_status(child);
}

/* An exec that fails, and one in a child, change nothing for the program. */
static void end_exec_fails(void)
{
	bool as_ever;

	errno = 0;
	as_ever = execlp("proton-no-such-program", "x", (char *)NULL) == -1 && errno == ENOENT;
	as_ever = as_ever && execv("/", arguments) == -1 && errno == EACCES;
	as_ever = as_ever && exec_in_vfork() == 3 && exec_in_fork() == 4;
	work((void *)(uintptr_t)0);
	exit(as_ever ? STATUS : 1);
}

/* Unloading must not take the collector away under the feet of its threads. */
static void end_dlclose(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

	for (int i = 0; library && i < 20; i++)
		dlclose(library);
	dlclose(driver);
	exit(STATUS);
}

/* The child has a scope of its own; CUDA does not survive a fork. */
static void end_fork(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		proton_enter_scope("child");
		proton_exit_scope();
		exit(STATUS);
	}
	waitpid(child, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* One launch whose record has no times. */
static void end_zero(void)
{
	const struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
				   .name = "timeless",
				   .context = 1,
				   .stream = 7,
				   .start_ns = UINT64_MAX};
	const char *path = getenv("PROTON_CUPTI_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	mock_call_fn *call = NULL;

	if (library)
		*(void **)&call = dlsym(library, "mock_call");
	if (call)
		call(307, &op);
	exit(STATUS);
}

static const struct {
	const char *name;
	void (*end)(void);
	bool forks_first; /* CUDA is used by a child alone */
} ends[] = {
	{"return", NULL, false},           {"exit", end_exit, false},
	{"_exit", end_exit_now, false},    {"quick_exit", end_quick_exit, false},
	{"thread", end_thread, false},     {"main-leaves", end_main_leaves, false},
	{"abort", end_abort, false},       {"kill", end_kill, false},
	{"exec", end_exec, false},         {"dlclose", end_dlclose, false},
	{"exec-now", end_exec_now, false}, {"exec-fails", end_exec_fails, false},
	{"fork-after", end_fork, false},   {"fork-before", end_exit, true},
	{"zero", end_zero, false},
};

static int in_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		work_all();
		exit(STATUS);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	size_t i = 0;

	arguments = argv;
	while (argc > 2 && i < sizeof(ends) / sizeof(ends[0]) && strcmp(ends[i].name, argv[2]))
		i++;
	if (argc > 3)
		n_threads = atoi(argv[3]);
	if (argc > 4)
		n_launches = atol(argv[4]);
	with_scopes = argc > 5;
	if (argc < 3 || i == sizeof(ends) / sizeof(ends[0]) || n_threads < 1 ||
	    n_threads > N_THREADS_MAX) {
		fprintf(stderr, "usage: collect_app LIBCUDA END [THREADS [LAUNCHES [scopes]]]\n");
		return 2;
	}
	puts("output");
	fflush(stdout);
	fputs("error\n", stderr);
	if (!strcmp(arguments[1], "none")) { /* scopes alone: the only thread may leave */
		proton_enter_scope("alone");
		proton_exit_scope();
		pthread_exit(NULL);
	}
	if (ends[i].forks_first)
		return in_child();
	work_all();
	if (ends[i].end)
		ends[i].end();
	return STATUS;
}
