/* SPDX-License-Identifier: MIT */
/* A program that loads modules, with the mock libcupti: collect_loads LIBCUDA CASE. Prints what the driver was given. See
 * tests/scripts/collect_loads.sh. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <grp.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "base/util.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"

enum { LAUNCH_CALL = 307, UNLOAD_CALL = 22, THREADS = 6 };

static mock_call_fn *call;
static const char image[] = ".version 8.0\n.target sm_90\n// original\n";
static __thread struct abi_load load STATIC_TLS;
static __thread char seen[sizeof(image) + 64] STATIC_TLS;

static const char *kind_of(const char *text)
{
	return strstr(text, "rewritten")  ? "rewritten"
	       : strstr(text, "original") ? "original"
					  : "?";
}

static void see_image(void)
{
	snprintf(seen, sizeof(seen), "%s", (const char *)load.image);
}

static void see_file(void)
{
	FILE *f = fopen(load.image, "re");
	size_t n = f ? fread(seen, 1, sizeof(seen) - 1, f) : 0;

	seen[n] = '\0';
	if (f)
		fclose(f);
}

/* What the driver was given in this call, which the program's parameters do not show. */
static uint32_t n_options;
static uint32_t options[2];

/* Instead of a look at the file. */
static void (*inside_file)(void);

static const char *load_by(uint32_t id, const char *what, bool is_file, uint32_t result)
{
	static _Atomic uintptr_t handle = 0x1000;
	void *ret = NULL;
	struct mock_op op = {
		.params = &load, .result = result, .inside = is_file ? see_file : see_image};

	load = (struct abi_load){.ret = &ret, .image = what};
	if (id == ABI_CALL_LIBRARY_LOAD_DATA) {
		load.library.jit_options = options;
		load.library.n_jit = n_options;
	} else {
		load.module.options = options;
		load.module.n = n_options;
	}
	ret = (void *)(atomic_fetch_add(&handle, 16) + 16);
	if (is_file && inside_file)
		op.inside = inside_file;
	call(id, &op);
	if (load.image != what)
		return "the program sees it";
	/* The mock of CUDA, asked again, says 218 to all but one module. */
	return op.result != result ? op.result == 218 ? "asked again" : "?" : kind_of(seen);
}

static const char *load_data(void)
{
	return load_by(ABI_CALL_MODULE_LOAD_DATA, image, false, 0);
}

static void case_data(void)
{
	puts(load_data());
}

static void case_calls(void)
{
	printf("%s", load_data());
	printf(" %s", load_by(ABI_CALL_MODULE_LOAD_DATA_EX, image, false, 0));
	printf(" %s", load_by(ABI_CALL_MODULE_LOAD_FATBIN, image, false, 0));
	printf(" %s\n", load_by(ABI_CALL_LIBRARY_LOAD_DATA, image, false, 0));
}

static void case_files(void)
{
	static const char name[] = "module.ptx";
	FILE *f = fopen(name, "we");

	fputs(image, f);
	fclose(f);
	printf("%s", load_by(ABI_CALL_MODULE_LOAD, name, true, 0));
	printf(" %s", load_by(ABI_CALL_LIBRARY_LOAD_FILE, name, true, 0));
	remove(name);
	seen[0] = '\0';
	printf(" %s\n", load_by(ABI_CALL_MODULE_LOAD, name, true, 0)); /* there is none now */
}

static void case_refused(void)
{
	puts(load_by(ABI_CALL_MODULE_LOAD_DATA, image, false, 200));
}

/* Of no kind that is known. */
static void case_unknown(void)
{
	puts(load_by(ABI_CALL_MODULE_LOAD_DATA, "original", false, 0));
}

static void case_twice(void)
{
	printf("%s", load_data());
	printf(" %s\n", load_data());
}

static size_t pages(void)
{
	size_t n = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%zu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* What was rewritten is there until it is unloaded, and not longer. */
static void case_unload(void)
{
	void *handle = NULL;
	const struct mock_op loading = {.params = &load}, unloading = {.params = &handle};
	size_t first = 0;

	for (uintptr_t i = 0; i < 12; i++) {
		void *ret = (void *)(0x2000 + 16 * i);

		load = (struct abi_load){.ret = &ret, .image = image};
		call(ABI_CALL_MODULE_LOAD_DATA, &loading);
		handle = ret;
		call(UNLOAD_CALL, &unloading);
		if (i == 2)
			first = pages();
	}
	puts(pages() < first + 256 ? "released" : "kept"); /* a MiB is 256 pages */
}

static void *load_in_thread(void *arg)
{
	return (void *)(uintptr_t)load_by(ABI_CALL_MODULE_LOAD_DATA, arg, false, 0);
}

static void case_threads(void)
{
	pthread_t threads[THREADS];
	unsigned n = 0;
	void *said;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, load_in_thread, (void *)(uintptr_t)image);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &said);
		n += !strcmp(said, "rewritten");
	}
	printf("%u\n", n);
}

/* A child cannot use the driver that its parent has, and is told so by it; what it calls is not looked at. */
static void case_forked(void)
{
	printf("%s", load_data());
	fflush(stdout);
	if (!fork()) {
		printf(" %s", load_data());
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	printf(" %s\n", load_data());
}

/* No file of this process may be larger, not even those in memory. */
static void limit_files(rlim_t size)
{
	const struct rlimit limit = {size, size};

	setrlimit(RLIMIT_FSIZE, &limit);
}

static void case_small(void)
{
	limit_files(sizeof(image) / 2);
	puts(load_data());
}

/* What the driver is to read from a file is too large for one. */
static void case_smaller(void)
{
	static const char name[] = "module.ptx";
	FILE *f = fopen(name, "we");

	fputs(image, f);
	fclose(f);
	limit_files(1 << 16);
	puts(load_by(ABI_CALL_MODULE_LOAD, name, true, 0));
}

static volatile sig_atomic_t has_signal;

static void on_signal(int sig)
{
	has_signal = sig;
}

/* This thread is asked to end, again and again. */
static void case_interrupted(void)
{
	const struct itimerspec often = {{0, 50000000}, {0, 50000000}};
	struct sigevent to_us = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGTERM};
	timer_t timer;

	to_us._sigev_un._tid = gettid();
	signal(SIGTERM, on_signal);
	timer_create(CLOCK_MONOTONIC, &to_us, &timer);
	timer_settime(timer, 0, &often, NULL);
	puts(load_data());
	timer_delete(timer);
	if (!has_signal)
		puts("no signal");
}

/* The program says how many registers its kernels may have (CU_JIT_MAX_REGISTERS), or something else. */
static void case_limited(void)
{
	options[0] = 5;
	n_options = 2;
	printf("%s", load_by(ABI_CALL_MODULE_LOAD_DATA_EX, image, false, 0));
	n_options = 1;
	printf(" %s", load_by(ABI_CALL_MODULE_LOAD_DATA_EX, image, false, 0));
	options[0] = 1;
	printf(" %s\n", load_by(ABI_CALL_LIBRARY_LOAD_DATA, image, false, 0));
}

/* Orphans come back to it: what was started is not left to it. */
static void case_subreaper(void)
{
	int n = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < 8; i++)
		load_data();
	while (waitpid(-1, NULL, __WALL | WNOHANG) > 0)
		n++;
	puts(n < 4 ? "few" : "many");
}

/* ---- while a module is on its way ($REWRITER is "wait") ---- */

static char **arguments;

/* Who rewrites says that it is there. */
static void await_rewriter(void)
{
	struct stat st;

	while (stat(getenv("REWRITER_LOG"), &st) < 0 || !st.st_size)
		sched_yield();
}

static void let_rewriter_go(void)
{
	close(open(getenv("REWRITER_AWAITS"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void load_beside(void *(*other)(void *arg))
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	puts(load_data());
	pthread_join(thread, NULL);
}

/* The descriptors of ours are among what is closed, and their numbers are others' then. */
static void *close_all(void *arg)
{
	await_rewriter();
	for (int i = 0; i < 100; i++) {
		syscall(SYS_close_range, 3, ~0U, 0);
		while (open("/dev/zero", O_RDONLY | O_CLOEXEC) < 20)
			;
	}
	let_rewriter_go();
	return arg;
}

static void case_closing(void)
{
	load_beside(close_all);
}

static int taken;

static void take_number(void)
{
	syscall(SYS_close_range, 3, ~0U, 0);
	while ((taken = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 20)
		;
}

/* The program has another file where the driver's was. */
static void case_closed(void)
{
	static const char name[] = "module.ptx";
	FILE *f = fopen(name, "we");
	int n = 0;

	fputs(image, f);
	fclose(f);
	inside_file = take_number;
	load_by(ABI_CALL_MODULE_LOAD, name, true, 0);
	for (int fd = 3; fd <= taken; fd++)
		n += fcntl(fd, F_GETFD) < 0;
	printf("%d closed\n", n);
}

static void *run_another(void *arg)
{
	await_rewriter();
	setenv("REWRITER", "good", 1);
	execl("/proc/self/exe", arguments[0], arguments[1], "data", NULL);
	return arg;
}

static void case_exec(void)
{
	load_beside(run_another);
}

static void *leave(void *arg)
{
	(void)arg;
	await_rewriter();
	exit(0);
}

static void case_exits(void)
{
	load_beside(leave);
}

static void *fork_beside(void *arg)
{
	pid_t child;

	await_rewriter();
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	let_rewriter_go();
	return arg;
}

static void case_forks(void)
{
	load_beside(fork_beside);
}

static volatile sig_atomic_t n_ticks, forks_in_handler;

static void on_tick(int sig)
{
	(void)sig;
	if (++n_ticks == 3)
		kill(getpid(), SIGUSR1);
}

static void on_user(int sig)
{
	pid_t child = forks_in_handler ? fork() : -1;

	(void)sig;
	if (!child)
		return;
	if (child > 0)
		waitpid(child, NULL, 0);
	let_rewriter_go();
}

static void tick(void)
{
	const struct itimerval often = {{0, 10000}, {0, 10000}};

	signal(SIGUSR1, on_user);
	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Its timer fires, and by that a signal comes, without which nobody answers. */
static void case_ticks(void)
{
	tick();
	puts(load_data());
}

/* The handler's child goes on where its parent waits. */
static void case_handler_forks(void)
{
	const pid_t us = getpid();
	const char *said;

	forks_in_handler = 1;
	tick();
	said = load_data();
	printf("%s %s\n", getpid() == us ? "parent" : "child", said);
}

/* ---- what a program forbids itself ---- */

/* A system call fails where that argument, but for other bits of it, has this value. */
static void forbid(int number, unsigned argument, uint32_t bits, uint32_t value)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (unsigned)(offsetof(struct seccomp_data, args) + argument * 8)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter))
		perror("seccomp");
}

enum { UNSHARE = 2 }; /* CLOSE_RANGE_UNSHARE */

/* No thread has a table of its own in what runs then. */
static void case_shared(void)
{
	forbid(SYS_close_range, 2, ~0U, UNSHARE);
	forbid(SYS_unshare, 0, ~0U, CLONE_FILES);
	execl("/proc/self/exe", arguments[0], arguments[1], "closing", NULL);
}

/* By which what the kernel tells of a thread is long, where that is allowed. */
static void join_groups(void)
{
	static gid_t groups[2000];

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		groups[i] = 1000000 + (gid_t)i;
	(void)!setgroups(sizeof(groups) / sizeof(*groups), groups);
}

/* Something or other: what else is forbidden is not known. */
static void case_forbids(void)
{
	join_groups();
	forbid(SYS_chdir, 0, 0, 0);
	puts(load_data());
}

/* Before anybody knows of CUDA. */
static void forbid_exec(void)
{
	forbid(SYS_execve, 0, 0, 0);
}

static void forbid_fork(void)
{
	forbid(SYS_clone, 0, CLONE_VFORK, CLONE_VFORK);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
		void (*before)(void);
	} cases[] = {{"data", case_data},
		     {"calls", case_calls},
		     {"files", case_files},
		     {"refused", case_refused},
		     {"unknown", case_unknown},
		     {"twice", case_twice},
		     {"unload", case_unload},
		     {"threads", case_threads},
		     {"forked", case_forked},
		     {"small", case_small},
		     {"smaller", case_smaller},
		     {"interrupted", case_interrupted},
		     {"subreaper", case_subreaper},
		     {"limited", case_limited},
		     {"closing", case_closing},
		     {"closed", case_closed},
		     {"exec", case_exec},
		     {"exits", case_exits},
		     {"forks", case_forks},
		     {"ticks", case_ticks},
		     {"handler_forks", case_handler_forks},
		     {"shared", case_shared},
		     {"forbids", case_forbids},
		     {"no_exec", case_data, forbid_exec},
		     {"no_fork", case_data, forbid_fork}};
	const struct mock_op kernel = {
		.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "k", .context = 1, .stream = 7};
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t) = NULL;

	size_t i = 0;

	if (argc < 3 || !cupti)
		return 2;
	arguments = argv;
	while (i < ARRAY_SIZE(cases) && strcmp(argv[2], cases[i].name))
		i++;
	if (i == ARRAY_SIZE(cases))
		return 2;
	if (cases[i].before)
		cases[i].before();
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	call(LAUNCH_CALL, &kernel);
	cases[i].run();
	return 0;
}
