/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/own_stack.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "base/util.h"

enum { SIZE = 256 * 1024 }; /* of which only what is touched costs memory */

/* Lies in front of the stack: two contexts are 2 KiB, which the caller's may not have. */
struct own_stack {
	ucontext_t here, back;
	void (*run)(void *arg);
	void *arg;
	_Alignas(64) char bytes[];
};

struct held {
	sigset_t signals;
	int cancel;
};

/* libc's own. Those that AddressSanitizer puts in front of them warn, on the program's stderr, that it knows
 * little of them. */
static struct {
	void (*make)(ucontext_t *context, void (*function)(void), int n, ...);
	int (*swap)(ucontext_t *restrict from, const ucontext_t *restrict to);
} libc;

__attribute__((constructor)) static void find_libc(void)
{
	void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), *make, *swap;

	if (!handle)
		return;
	make = dlsym(handle, "makecontext");
	swap = dlsym(handle, "swapcontext");
	memcpy(&libc.make, &make, sizeof(make));
	memcpy(&libc.swap, &swap, sizeof(swap));
}

/* makecontext() passes on numbers. */
static void begin(unsigned high, unsigned low)
{
	const struct own_stack *s =
		(const struct own_stack *)(uintptr_t)((uint64_t)high << 32 | low);

	s->run(s->arg);
}

static struct own_stack *stack_new(void)
{
	void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* To the kernel this is not the alternate stack that a handler may be on: the next signal would be put on top
 * of the handler's frames. Threads that are made meanwhile get none either. */
static void hold(struct held *h)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &h->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &h->cancel);
}

static void let_go(const struct held *h)
{
	int cancel;

	pthread_setcancelstate(h->cancel, &cancel);
	pthread_sigmask(SIG_SETMASK, &h->signals, NULL);
}

static void run_on(struct own_stack *s, void (*run)(void *arg), void *arg)
{
	uint64_t at = (uintptr_t)s;

	getcontext(&s->here);
	s->run = run;
	s->arg = arg;
	s->here.uc_stack.ss_sp = s->bytes;
	s->here.uc_stack.ss_size = SIZE - offsetof(struct own_stack, bytes);
	s->here.uc_link = &s->back;
	libc.make(&s->here, (void (*)(void))begin, 2, (unsigned)(at >> 32), (unsigned)at);
	libc.swap(&s->back, &s->here);
	munmap(s, SIZE);
}

void own_stack_run(void (*run)(void *arg), void *arg)
{
	struct own_stack *s = libc.make && libc.swap ? stack_new() : NULL;
	struct held held;

	hold(&held);
	if (s)
		run_on(s, run, arg);
	else
		run(arg);
	let_go(&held);
}
