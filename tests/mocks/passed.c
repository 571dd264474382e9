/* SPDX-License-Identifier: MIT */
/* Preloaded into a program that uses no GPU, it launches a kernel up to 1,000 times a second, on whatever
 * thread allocates or reads next: PROTON_FAKE='called passed_take'. So calling contexts are read at
 * places that the program passes through anyway, and nothing else of it is touched: no signals, no
 * threads, no timers. Not in free(): greenlet calls it when it has put one stack in the place of another's
 * and the interpreter does not know yet, where nobody could launch anything, and frames are none. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS 1000000
#define EXPORT   __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
ssize_t __read(int fd, void *p, size_t n);
EXPORT void passed_take(void (*execute)(void));

static void (*_Atomic execute_one)(void);
static _Atomic uint64_t next_ns;
static _Atomic pid_t own_pid;
static __thread bool inside __attribute__((tls_model("initial-exec")));

static void forked(void)
{
	atomic_store(&own_pid, getpid());
}

void passed_take(void (*execute)(void))
{
	forked();
	pthread_atfork(NULL, NULL, forked);
	atomic_store(&execute_one, execute);
}

/* Is a millisecond over, and no other thread was faster? Not in the child of a vfork(), which has the
 * memory of its parent, and launches nothing. */
static bool is_due(void)
{
	struct timespec t;
	uint64_t now, next = atomic_load_explicit(&next_ns, memory_order_relaxed);

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return now >= next && atomic_compare_exchange_strong(&next_ns, &next, now + EVERY_NS) &&
	       getpid() == atomic_load(&own_pid);
}

static void pass(void)
{
	void (*execute)(void) = atomic_load_explicit(&execute_one, memory_order_acquire);
	int saved = errno;

	if (!execute || inside)
		return;
	inside = true;
	if (is_due())
		execute();
	inside = false;
	errno = saved;
}

EXPORT void *malloc(size_t size)
{
	pass();
	return __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	pass();
	return __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	pass();
	return __libc_realloc(p, size);
}

EXPORT ssize_t read(int fd, void *p, size_t n)
{
	pass();
	return __read(fd, p, n);
}
