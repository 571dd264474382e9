/* SPDX-License-Identifier: MIT */
/* The end of the program: what was counted is sent before. We notice it by exit handlers, and by
 * taking the place of the functions that end the process without running them, or the main
 * thread without ending the others. These then call the next definition, libc's or another
 * library's, which may have work of its own (a sanitizer decides on the exit status there).
 *
 * The child of a vfork() calls _exit() in its parent's memory, where nothing may be looked up:
 * that is done when we are loaded. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/context_sources.h"
#include "collect/graph_runs.h"
#include "collect/internal.h"
#include "collect/rewriting.h"
#include "collect/torch_memory.h"
#include "collect/triton_seam.h"

static struct {
	void (*exit)(int), (*Exit)(int);
	void (*pthread_exit)(void *);
} next;

__attribute__((constructor)) static void find_next(void)
{
	*(void **)&next.exit = dlsym(RTLD_NEXT, "_exit");
	*(void **)&next.Exit = dlsym(RTLD_NEXT, "_Exit");
	*(void **)&next.pthread_exit = dlsym(RTLD_NEXT, "pthread_exit");
}

void collect_finish(void)
{
	if (!collector_is_ours())
		return;
	if (thread_self)
		graph_captures_end(thread_self);
	scopes_end();
	contexts_end();
	rewriting_end();
	torch_memory_end();
	triton_seam_end();
	sender_finish();
}

void collect_end(void)
{
	collect_finish();
	if (collector_is_ours())
		scopes_left_open();
}

void exit_watch(void)
{
	static _Atomic int n;

	/* Handlers run last in, first out: registered again once the vendor's library is up, ours
	 * runs before it tears itself down. It works once, but for what came later. */
	if (atomic_fetch_add(&n, 1) < 4) {
		atexit(collect_finish);
		at_quick_exit(collect_finish);
	}
}

static void leave(void (*const *how)(int), int status)
{
	/* Python's os._exit() and multiprocessing's fork children end so. */
	collect_end();
	if (!*how)
		find_next(); /* called in a constructor that runs before ours */
	if (*how)
		(*how)(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _exit(int status)
{
	leave(&next.exit, status);
	__builtin_unreachable();
}

EXPORT void _Exit(int status)
{
	leave(&next.Exit, status);
	__builtin_unreachable();
}

/* The process goes on until its last thread ends, which is not to be one of ours. */
EXPORT void pthread_exit(void *value)
{
	if (!next.pthread_exit)
		find_next();
	/* Remembered in any case: the first scope may come later. */
	if ((pid_t)syscall(SYS_gettid) == getpid())
		sender_main_left();
	next.pthread_exit(value);
	__builtin_unreachable();
}
