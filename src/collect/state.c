/* SPDX-License-Identifier: MIT */
/* What all the others stand on: the one collector, the state of each thread, and what is lost. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/internal.h"

_Atomic bool collect_on;
struct collector *collector;

__thread struct thread_state *thread_self __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static _Atomic int exit_key_made; /* 0 no, 1 being made, 2 yes, 3 failed */

static _Atomic bool not_wiped = true;
_Atomic bool *same_process = &not_wiped;

/* From threads_watch(): called for a fork that nobody told us of, and for a thread that ends. */
static void (*tell_forked)(void);
static void (*tell_ended)(struct thread_state *t);

void captures_forget(struct thread_state *t)
{
	struct capture_info *c = &t->capture;

	for (uint32_t i = 0; i < ARRAY_SIZE(c->streams); i++)
		atomic_store(&c->streams[i], 0);
	atomic_store(&c->n, 0);
	c->node = 0;
	c->n_values = 0;
}

/* ---- forks ---- */

void threads_watch(void (*forked)(void), void (*ended)(struct thread_state *t))
{
	void *page = mmap(NULL, sizeof(*same_process), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	tell_forked = forked;
	tell_ended = ended;
	if (page == MAP_FAILED)
		return;
	if (madvise(page, sizeof(*same_process), MADV_WIPEONFORK) < 0) {
		munmap(page, sizeof(*same_process));
		return;
	}
	same_process = page;
	fork_seen();
}

void fork_seen(void)
{
	atomic_store(same_process, true);
}

void threads_forked(void)
{
	uint32_t i, n = atomic_load(&collector->n_threads);
	struct thread_state *own = thread_state();

	for (i = 0; i < n; i++) {
		struct thread_state *t = &collector->thread[i];

		atomic_store(&t->n_launches, 0);
		atomic_store(&t->n_unlaunched, 0);
		atomic_store(&t->n_records, 0);
		memset((void *)t->losses, 0, sizeof(t->losses));
		if (t != own)
			atomic_store(&t->used, 0);
		t->context = 0;
		captures_forget(t); /* graphs are the parent's */
	}
	if (!own->tid)
		return;
	own->tid = (uint32_t)syscall(SYS_gettid);
	if (own->lane)
		own->lane = own->tid;
	own->host = 0;
	own->is_main = true;
	atomic_store(&collector->main_node, own->node);
}

/* ---- the state of a thread ---- */

/* The thread ends: its state is free for another; its counters go on counting. */
static void thread_exit(void *arg)
{
	struct thread_state *t = arg;

	if (collect_on)
		tell_ended(t);
	thread_self = NULL;
	thread_set_depth(t, 0);
	t->overflow = t->node = t->context = t->adopted = t->state = 0;
	t->in_metadata = false;
	t->launch.on = false;
	captures_forget(t);
	t->cpu = (struct cpu_mark){0};
	atomic_store_explicit(&t->used, 0, memory_order_release);
}

static void thread_watch(struct thread_state *t)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&exit_key_made, &none, 1))
		atomic_store(&exit_key_made, pthread_key_create(&exit_key, thread_exit) ? 3 : 2);
	if (atomic_load(&exit_key_made) == 2)
		pthread_setspecific(exit_key, t);
}

static struct thread_state *thread_claim(void)
{
	struct collector *c = collector;
	uint32_t i, high, none;

	for (i = 0; i < MAX_THREADS - 1; i++) {
		none = 0;
		if (atomic_load_explicit(&c->thread[i].used, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&c->thread[i].used, &none, 1))
			continue;
		high = atomic_load(&c->n_threads);
		while (high < i + 1 && !atomic_compare_exchange_weak(&c->n_threads, &high, i + 1))
			;
		return &c->thread[i];
	}
	return NULL;
}

/* All states are used: the rest share the last one. Its counters may lose a count in a race; it
 * has no calling context. */
static struct thread_state *thread_shared(void)
{
	struct thread_state *t = &collector->thread[MAX_THREADS - 1];

	atomic_store(&collector->n_threads, MAX_THREADS);
	return t;
}

struct thread_state *thread_first(void)
{
	struct thread_state *t;

	if (!atomic_exchange(same_process, true)) {
		tell_forked();
		if (thread_self)
			return thread_self;
	}
	t = thread_claim();
	if (!t)
		return thread_shared();
	t->tid = (uint32_t)syscall(SYS_gettid);
	thread_set_depth(t, 0);
	t->node = t->context = t->overflow = t->adopted = 0;
	t->is_main = t->tid == (uint32_t)getpid();
	t->lane = t->host = 0;
	if (atomic_fetch_add(&collector->n_thread_lanes, 1) < MAX_THREAD_LANES)
		t->lane = t->tid;
	thread_self = t;
	thread_watch(t);
	return t;
}

void lose(enum loss loss, uint64_t n)
{
	if (collector)
		count(&thread_state()->losses[loss], n);
}

uint64_t launches_of_all(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < atomic_load(&collector->n_threads); i++)
		n += atomic_load_explicit(&collector->thread[i].n_launches, memory_order_relaxed);
	return n;
}
