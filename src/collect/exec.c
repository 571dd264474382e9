/* SPDX-License-Identifier: MIT */
/* The exec functions, preloaded: exec ends a program without exit handlers, and what was counted in
 * the last period would end with it. It is sent first; then the next definition of the function is
 * called, libc's or another preloaded library's. daemon() is such an end, too.
 *
 * The child of a vfork() runs in its parent's memory while other threads of the parent go on:
 * there, and in any process but the collector's own, nothing is touched, allocated or looked up.
 * That is why the functions are looked up when we are loaded. posix_spawn() and system() exec in
 * such a child too, by functions of libc that nobody can take the place of. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/internal.h"

static struct {
	int (*execve)(const char *, char *const[], char *const[]);
	int (*execv)(const char *, char *const[]);
	int (*execvp)(const char *, char *const[]);
	int (*execvpe)(const char *, char *const[], char *const[]);
	int (*fexecve)(int, char *const[], char *const[]);
	int (*execveat)(int, const char *, char *const[], char *const[], int);
	int (*daemon)(int, int);
} next;

/* Once at load; again only for who calls exec in a constructor that runs before ours. */
__attribute__((constructor)) static void find_next(void)
{
	*(void **)&next.execve = dlsym(RTLD_NEXT, "execve");
	*(void **)&next.execv = dlsym(RTLD_NEXT, "execv");
	*(void **)&next.execvp = dlsym(RTLD_NEXT, "execvp");
	*(void **)&next.execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&next.fexecve = dlsym(RTLD_NEXT, "fexecve");
	*(void **)&next.execveat = dlsym(RTLD_NEXT, "execveat");
	*(void **)&next.daemon = dlsym(RTLD_NEXT, "daemon");
}

/* exec is for signal handlers and for children of fork() too: system calls alone from here on. */
static void get_ready(void)
{
	int saved = errno;

	if (!next.execve)
		find_next();
	if (collector_is_ours())
		sender_exec();
	errno = saved;
}

/* It returned: the process is the same. */
static int failed(int r)
{
	int saved = errno;

	if (collector_is_ours())
		sender_exec_failed();
	errno = saved;
	return r;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	get_ready();
	return failed(next.execve(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
	get_ready();
	return failed(next.execv(path, argv));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	get_ready();
	return failed(next.execvp(file, argv));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	get_ready();
	return failed(next.execvpe(file, argv, envp));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	get_ready();
	return failed(next.fexecve(fd, argv, envp));
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	get_ready();
	return failed(next.execveat(fd, path, argv, envp, flags));
}

/* The parent of a daemon ends by an _exit() within libc that nobody can take the place of. */
EXPORT int daemon(int nochdir, int noclose)
{
	get_ready();
	return failed(next.daemon(nochdir, noclose));
}

/* ---- arguments one by one ---- */

/* The words of a call as an array: on the caller's stack, or, of more words than anybody writes
 * down, in a mapping. */
struct words {
	char *few[256];
	char **v;
	size_t n; /* with the NULL */
};

static int words_take(struct words *w, const char *first, va_list *ap)
{
	va_list count;
	size_t i;

	w->n = 1;
	va_copy(count, *ap);
	for (const char *word = first; word; word = va_arg(count, const char *))
		w->n++;
	va_end(count);
	w->v = w->few;
	if (w->n > ARRAY_SIZE(w->few))
		w->v = mmap(NULL, w->n * sizeof(*w->v), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->v == MAP_FAILED)
		return -1;
	w->v[0] = (char *)first;
	for (i = 1; i < w->n; i++)
		w->v[i] = va_arg(*ap, char *);
	return 0;
}

/* exec has failed. */
static int words_drop(struct words *w)
{
	int saved = errno;

	if (w->v != w->few)
		munmap(w->v, w->n * sizeof(*w->v));
	errno = saved;
	return -1;
}

EXPORT int execl(const char *path, const char *first, ...)
{
	struct words w;
	va_list ap;
	int r;

	va_start(ap, first);
	r = words_take(&w, first, &ap);
	va_end(ap);
	if (r < 0)
		return r;
	execv(path, w.v);
	return words_drop(&w);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	struct words w;
	va_list ap;
	int r;

	va_start(ap, first);
	r = words_take(&w, first, &ap);
	va_end(ap);
	if (r < 0)
		return r;
	execvp(file, w.v);
	return words_drop(&w);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *envp;
	struct words w;
	va_list ap;
	int r;

	va_start(ap, first);
	r = words_take(&w, first, &ap);
	envp = va_arg(ap, char *const *);
	va_end(ap);
	if (r < 0)
		return r;
	execve(path, w.v, envp);
	return words_drop(&w);
}
