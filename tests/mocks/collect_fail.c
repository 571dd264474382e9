/* SPDX-License-Identifier: MIT */
/* Preloaded into a program: the N-th allocation (COLLECT_FAIL_AT, from 0) that libproton.so asks
 * for fails, once; with COLLECT_FAIL_ON=1 all that follow it too. Those of anybody else are left
 * alone. A failure leaves a file named COLLECT_FAIL_MARK. */
#include "config.h" // IWYU pragma: keep

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long n_calls;
static atomic_bool known;
static long fail_at;
static bool and_on;
static __thread int inside __attribute__((tls_model("initial-exec")));

/* Not by a constructor: that of the collector may run first. */
static bool enabled(void)
{
	const char *at;

	if (!atomic_load(&known)) {
		at = getenv("COLLECT_FAIL_AT");
		and_on = getenv("COLLECT_FAIL_ON") != NULL;
		fail_at = at ? atol(at) : -1;
		atomic_store(&known, true);
	}
	return fail_at >= 0;
}

static bool from_collector(const void *caller)
{
	Dl_info info;
	const char *name;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	return !strncmp(name ? name + 1 : info.dli_fname, "libproton.so", 12);
}

static void leave_mark(void)
{
	const char *path = getenv("COLLECT_FAIL_MARK");

	if (path)
		close((int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC,
				   0600));
}

/* Is this the call that fails? */
static bool fails(const void *caller)
{
	bool now = false;
	long n;

	if (inside || !enabled())
		return false;
	inside++; /* dladdr() may allocate */
	if (from_collector(caller)) {
		n = atomic_fetch_add(&n_calls, 1);
		now = n == fail_at || (and_on && n > fail_at);
	}
	if (now)
		leave_mark();
	inside--;
	return now;
}

#define CALLER __builtin_return_address(0)
#define REAL(function)                                                                             \
	static typeof(&function) real;                                                             \
	if (!real)                                                                                 \
	*(void **)&real = dlsym(RTLD_NEXT, #function)

EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	REAL(mmap);
	if (fails(CALLER)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return real(at, size, protection, flags, fd, offset);
}

EXPORT void *malloc(size_t size)
{
	REAL(malloc);
	if (fails(CALLER)) {
		errno = ENOMEM;
		return NULL;
	}
	return real(size);
}

EXPORT void *realloc(void *p, size_t size)
{
	REAL(realloc);
	if (fails(CALLER)) {
		errno = ENOMEM;
		return NULL;
	}
	return real(p, size);
}

/* dlsym() itself may ask for memory before we know where calloc() is. */
EXPORT void *calloc(size_t n, size_t size)
{
	static char early[4096];
	static size_t used;
	static bool looking;
	static void *(*real)(size_t, size_t);
	void *p = early + used;

	if (looking && used + n * size <= sizeof(early)) {
		used += (n * size + 15) & ~(size_t)15;
		return p;
	}
	if (!real) {
		looking = true;
		*(void **)&real = dlsym(RTLD_NEXT, "calloc");
		looking = false;
	}
	if (fails(CALLER)) {
		errno = ENOMEM;
		return NULL;
	}
	return real(n, size);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *arg)
{
	REAL(pthread_create);
	if (fails(CALLER))
		return EAGAIN;
	return real(thread, attributes, start, arg);
}

EXPORT int open(const char *path, int flags, ...)
{
	REAL(open);
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (fails(CALLER)) {
		errno = EMFILE;
		return -1;
	}
	return real(path, flags, mode);
}

EXPORT void *dlopen(const char *path, int flags)
{
	REAL(dlopen);
	/* A tail call keeps the caller's namespace and run path from being ours: good enough. */
	return fails(CALLER) ? NULL : real(path, flags);
}
