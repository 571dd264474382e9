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
#include <string.h>
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

/* The children have no state of a thread of their own that a sanitizer could keep. */
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

enum { STACK = 32 * 1024, FIRST_FD = 3, LOOK_MS = 100 };

struct spawn {
	const char *path;
	char *const *argv, *const *envp;
	int answer;
	bool stays;
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

/* 0 to 2 and nothing else: the answer is where it prints and complains. Any may have been closed, so that it
 * is one of them now; all may be in use. */
IN_CHILD static void arrange_descriptors(int answer)
{
	int null_fd;

	if (answer < FIRST_FD)
		answer = (int)syscall(SYS_fcntl, answer, F_DUPFD, FIRST_FD);
	if (answer > FIRST_FD)
		syscall(SYS_close_range, FIRST_FD, answer - 1, 0);
	syscall(SYS_close_range, answer + 1, ~0U, 0);
	null_fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
	if (null_fd != STDIN_FILENO)
		syscall(SYS_dup3, null_fd, STDIN_FILENO, 0);
	else
		syscall(SYS_fcntl, null_fd, F_SETFD, 0);
	syscall(SYS_dup3, answer, STDOUT_FILENO, 0);
	syscall(SYS_dup3, answer, STDERR_FILENO, 0);
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

	arrange_descriptors(s->answer);
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

static int run_first(struct spawn *s)
{
	pid_t pid = libc_clone(first_main, s->first + STACK,
			       CLONE_VM | (s->stays ? 0 : CLONE_VFORK), s);

	if (pid < 0)
		return -errno;
	/* Killed from outside, it is gone without a word. */
	while (s->stays && !atomic_load(&s->done) && waitpid(pid, NULL, __WCLONE | WNOHANG) == 0)
		futex_wait(&s->done, 0, LOOK_MS);
	/* Another thread that waits for everything, such children too, may have been faster. */
	while (!s->stays && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	return 0;
}

int spawn_detached(const char *path, char *const argv[], char *const envp[], int *ret_fd)
{
	struct spawn *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	uint64_t old;
	int fds[2], r;

	if (s == MAP_FAILED)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		r = -errno;
		munmap(s, sizeof(*s));
		return r;
	}
	s->path = path;
	s->argv = argv;
	s->envp = envp;
	s->answer = fds[1];
	s->stays = CAN_STAY && orphans_come_back();
	block_all(&old);
	r = run_first(s);
	restore(&old);
	close(fds[1]);
	if (r < 0)
		close(fds[0]);
	else
		*ret_fd = fds[0];
	/* One that stays sleeps on it. */
	if (r < 0 || !s->stays)
		munmap(s, sizeof(*s));
	return r;
}
