/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/alone_spawn.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/futex.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* on every architecture */
#endif

extern char **environ;

/* The children have no state of a thread of their own that a sanitizer could keep. */
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

enum { STACK = 32 * 1024, FIRST_FD = 3, LOOK_MS = 100 };

struct spawn {
	const char *path;
	char *const *argv, *const *envp;
	int input, answer; /* input -1: none */
	bool stays;
	pid_t first_pid;       /* of one that stays … */
	struct spawn *older;   /* … and the next one of those */
	_Atomic uint32_t done; /* of one that stays: what it was given is not looked at any more */
	_Alignas(64) char second[STACK], first[STACK];
};

/* libc's own: ThreadSanitizer has one in front of it that takes the child for one of fork(). */
static int (*libc_clone)(int (*run)(void *arg), void *stack, int flags, void *arg, ...);

__attribute__((constructor)) static void find_libc(void)
{
	void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, "clone") : NULL;

	memcpy(&libc_clone, &found, sizeof(found));
	if (!libc_clone)
		libc_clone = clone;
}

/* ---- in the children ---- */

#if defined(__x86_64__)
#define CAN_STAY true
IN_CHILD static inline long bare_call(long n, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
}
#elif defined(__aarch64__)
#define CAN_STAY true
IN_CHILD static inline long bare_call(long n, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}
#else
#define CAN_STAY false
IN_CHILD static inline long bare_call(long n, long a, long b, long c, long d)
{
	return syscall(n, a, b, c, d);
}
#endif

/* A standard stream that it is in the way of: the number may be in use, or not. */
IN_CHILD static int move_up(int fd)
{
	return fd >= 0 && fd < FIRST_FD ? (int)syscall(SYS_fcntl, fd, F_DUPFD, FIRST_FD) : fd;
}

/* All but these two. */
IN_CHILD static void close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low > FIRST_FD)
		syscall(SYS_close_range, FIRST_FD, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0U, 0);
}

/* Where it is none any more (the program closes what it finds), the number stands for nothing: not for the program's. */
IN_CHILD static void put_at(int fd, int number)
{
	if (syscall(SYS_dup3, fd, number, 0) < 0)
		syscall(SYS_close, number);
}

IN_CHILD static void take_input(int input)
{
	int fd = input;

	if (fd < 0)
		fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
	if (fd != STDIN_FILENO)
		put_at(fd, STDIN_FILENO);
	else
		syscall(SYS_fcntl, fd, F_SETFD, 0);
}

/* 0 to 2 and nothing else: the answer is where it prints and complains. Any may have been closed, so that it
 * is one of them now; all may be in use. */
IN_CHILD static void arrange_descriptors(int input, int answer)
{
	answer = move_up(answer);
	input = move_up(input);
	close_others(input < 0 ? answer : input, answer);
	take_input(input);
	put_at(answer, STDOUT_FILENO);
	put_at(answer, STDERR_FILENO);
	syscall(SYS_close_range, FIRST_FD, ~0U, 0);
}

IN_CHILD static void say_error(int error)
{
	char text[] = "exec    \n";

	text[7] = (char)('0' + error % 10);
	text[6] = (char)('0' + error / 10 % 10);
	text[5] = (char)('0' + error / 100 % 10);
	syscall(SYS_write, STDERR_FILENO, text, sizeof(text) - 1);
}

IN_CHILD static int second_main(void *arg)
{
	const struct spawn *s = arg;

	syscall(SYS_execve, s->path, s->argv, s->envp);
	say_error(errno);
	syscall(SYS_exit_group, 127);
	return 0;
}

/* From here on the program's thread, whose errno this would be, goes on: no function of libc is called. */
IN_CHILD static _Noreturn void stay(struct spawn *s)
{
	bare_call(SYS_close_range, 0, (long)~0U, 0, 0);
	atomic_store(&s->done, 1);
	bare_call(SYS_futex, (long)&s->done, FUTEX_WAKE_PRIVATE, 1, 0);
	while (bare_call(SYS_wait4, -1, 0, __WALL, 0) == -EINTR)
		;
	for (;;)
		bare_call(SYS_exit_group, 0, 0, 0, 0);
}

IN_CHILD static int first_main(void *arg)
{
	struct spawn *s = arg;

	arrange_descriptors(s->input, s->answer);
	syscall(SYS_setsid);
	if (s->stays)
		syscall(SYS_prctl, PR_SET_NAME, "proton-parent");
	if (libc_clone(second_main, s->second + STACK, CLONE_VM | CLONE_VFORK, s) < 0)
		say_error(errno);
	if (s->stays)
		stay(s);
	syscall(SYS_exit_group, 0);
	return 0;
}

/* ---- in the program ---- */

static bool orphans_come_back(void)
{
	int asked = 0;

	(void)prctl(PR_GET_CHILD_SUBREAPER, &asked);
	return getpid() == 1 || asked;
}

/* Also those that libc keeps for itself: their handlers would run in the children, in our memory. */
static void block_all(uint64_t *ret_old)
{
	const uint64_t all = ~UINT64_C(0);

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_old, sizeof(all));
}

static void restore(const uint64_t *old)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof(*old));
}

/* Those that stay, until they are found to be gone. */
static struct spawn *_Atomic stayed;

static void add_stayed(struct spawn *s)
{
	s->older = atomic_load(&stayed);
	while (!atomic_compare_exchange_weak(&stayed, &s->older, s))
		;
}

/* One that is still there sleeps on its memory. */
static void take_back_stayed(void)
{
	struct spawn *s = atomic_exchange(&stayed, NULL), *older;

	for (; s; s = older) {
		older = s->older;
		if (waitpid(s->first_pid, NULL, __WCLONE | WNOHANG) == 0)
			add_stayed(s);
		else
			munmap(s, sizeof(*s));
	}
}

/* In a program with ThreadSanitizer libc's functions take descriptors of equal numbers for the same ones, and the calling thread
 * may have a table of its own (own_fd.h). */
static void raw_close(int fd)
{
	syscall(SYS_close, fd);
}

static int run_first(struct spawn *s)
{
	pid_t pid = libc_clone(first_main, s->first + STACK,
			       CLONE_VM | (s->stays ? 0 : CLONE_VFORK), s);

	if (pid < 0)
		return -errno;
	s->first_pid = pid;
	/* Killed from outside, it is gone without a word. */
	while (s->stays && !atomic_load(&s->done) && waitpid(pid, NULL, __WCLONE | WNOHANG) == 0)
		futex_wait(&s->done, 0, LOOK_MS);
	/* Another thread that waits for everything, such children too, may have been faster. */
	while (!s->stays && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	return 0;
}

char **spawn_environment(void)
{
	static const char *const without[] = {
		"LD_PRELOAD=", "LD_AUDIT=", "PROTON_FAKE=", "PROTON_ONLY_PID="};
	size_t n = 0, i, k, kept = 0;
	char **v;

	while (!getauxval(AT_SECURE) && environ && environ[n])
		n++;
	v = malloc((n + 1) * sizeof(*v));
	for (i = 0; v && i < n && environ[i]; i++) {
		for (k = 0; k < ARRAY_SIZE(without); k++)
			if (!strncmp(environ[i], without[k], strlen(without[k])))
				break;
		if (k == ARRAY_SIZE(without))
			v[kept++] = environ[i];
	}
	if (v)
		v[kept] = NULL;
	return v;
}

int spawn_detached(const char *path, char *const argv[], char *const envp[], int input, int *ret_fd)
{
	struct spawn *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	uint64_t old;
	int fds[2], r;

	take_back_stayed();
	if (s == MAP_FAILED)
		return -ENOMEM;
	if (syscall(SYS_pipe2, fds, O_CLOEXEC) < 0) {
		r = -errno;
		munmap(s, sizeof(*s));
		return r;
	}
	s->path = path;
	s->argv = argv;
	s->envp = envp;
	s->input = input;
	s->answer = fds[1];
	s->stays = CAN_STAY && orphans_come_back();
	block_all(&old);
	r = run_first(s);
	restore(&old);
	raw_close(fds[1]);
	if (r < 0)
		raw_close(fds[0]);
	else
		*ret_fd = fds[0];
	if (r < 0 || !s->stays)
		munmap(s, sizeof(*s));
	else
		add_stayed(s);
	return r;
}
