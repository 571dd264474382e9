/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/opencl_command.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include "backends/opencl_clock.h"
#include "backends/opencl_queue.h"
#include "backends/pages.h"
#include "base/clock.h"
#include "base/util.h"

#define MAX_COMMANDS     65536 /* in flight */
#define EXIT_WAIT_NS     (500 * NSEC_PER_MSEC)
#define EXIT_STANDING_NS (100 * NSEC_PER_MSEC) /* nothing has finished for so long: go */

/* owner: from the hook until command_complete() the driver; free: the list */
struct opencl_command {
	struct activity activity;
	_Atomic uint64_t called_ns; /* CLOCK_REALTIME; 0: free. Anybody may read it */
	uint64_t returned_ns;       /* … when the driver's function did */
	cl_event held;              /* the program's event, on which we hold a reference */
	uint32_t next;              /* free list: index + 1 */
};

static struct {
	struct opencl_command *commands; /* reserved; used from the bottom, page by page */
	uint64_t free;                   /* generation << 32 | index + 1 of the first free one */
	uint32_t n_used;                 /* places ever taken */
	uint32_t n_in_flight;
	bool completed; /* some command did */
} pool;

static struct {
	pthread_mutex_t lock; /* for as long as a clock is looked at */
	struct opencl_clock of[OPENCL_MAX_DEVICES];
} clocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct opencl_command *command_get(void)
{
	uint64_t head = __atomic_load_n(&pool.free, __ATOMIC_ACQUIRE), rest;
	uint32_t i;

	while ((uint32_t)head) {
		struct opencl_command *c = &pool.commands[(uint32_t)head - 1];

		/* The generation makes the swap fail when the list changed and changed back. */
		rest = ((head >> 32) + 1) << 32 | __atomic_load_n(&c->next, __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&pool.free, &head, rest, true, __ATOMIC_ACQUIRE,
						__ATOMIC_ACQUIRE))
			return c;
	}
	i = __atomic_load_n(&pool.n_used, __ATOMIC_RELAXED);
	while (i < MAX_COMMANDS)
		if (__atomic_compare_exchange_n(&pool.n_used, &i, i + 1, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return &pool.commands[i];
	return NULL;
}

static void command_put(struct opencl_command *c)
{
	uint64_t head = __atomic_load_n(&pool.free, __ATOMIC_RELAXED), mine;

	__atomic_store_n(&c->held, NULL, __ATOMIC_RELAXED);
	/* What it was is delivered: see opencl_commands_settled(). */
	atomic_store_explicit(&c->called_ns, 0, memory_order_release);
	do {
		__atomic_store_n(&c->next, (uint32_t)head, __ATOMIC_RELAXED);
		mine = (head & ~(uint64_t)UINT32_MAX) | (uint32_t)(c - pool.commands + 1);
	} while (!__atomic_compare_exchange_n(&pool.free, &head, mine, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

uint32_t opencl_command_references(cl_event event)
{
	uint32_t n = __atomic_load_n(&pool.n_used, __ATOMIC_RELAXED), references = 0;

	for (uint32_t i = 0; event && i < n; i++)
		references += __atomic_load_n(&pool.commands[i].held, __ATOMIC_RELAXED) == event;
	return references;
}

/* --- a command's way -------------------------------------------------------------------------- */

static uint64_t command_time(cl_event event, uint32_t what)
{
	uint64_t ns = 0;

	return OPENCL_NEXT(clGetEventProfilingInfo)(event, what, sizeof(ns), &ns, NULL) ==
			       OPENCL_SUCCESS
		       ? ns
		       : 0;
}

/* The times, by CLOCK_REALTIME, when they make sense; else why not. */
static bool command_times(cl_event event, struct opencl_command *c, enum loss *ret_loss)
{
	struct activity *a = &c->activity;
	struct opencl_sight sight = {
		.called_ns = atomic_load_explicit(&c->called_ns, memory_order_relaxed),
		.returned_ns = c->returned_ns,
		.seen_ns = clock_realtime_ns(),
		.queued = command_time(event, OPENCL_PROFILING_COMMAND_QUEUED),
		.start = command_time(event, OPENCL_PROFILING_COMMAND_START),
		.end = command_time(event, OPENCL_PROFILING_COMMAND_END),
	};
	uint64_t offset;

	*ret_loss = sight.start && sight.end ? LOSS_REVERSED_TIME : LOSS_ZERO_TIME;
	if (!sight.start || sight.end < sight.start)
		return false;
	pthread_mutex_lock(&clocks.lock);
	offset = (uint64_t)opencl_clock_see(&clocks.of[a->device], &sight);
	pthread_mutex_unlock(&clocks.lock);
	a->start_ns = sight.start + offset;
	a->end_ns = sight.end + offset;
	a->launched_ns = sight.called_ns;
	return true;
}

static void command_fail(struct activity_sink *sink, enum loss loss)
{
	sink->ops->unlaunch(sink, 1);
	if (loss != LOSS_N)
		sink->ops->lose(sink, loss, 1);
}

/* On a thread of the driver, or inside clSetEventCallback() for what is already over. */
static void command_complete(cl_event event, int32_t status, void *arg)
{
	struct activity_sink *sink = opencl_sink();
	struct opencl_command *c = arg;
	enum loss loss;

	/* Now the driver is complete: what compilers and devices register for the exit of the
	 * process is registered. Be called before them then, while they still work. */
	if (sink && _unlikely_(!__atomic_load_n(&pool.completed, __ATOMIC_RELAXED)) &&
	    !__atomic_exchange_n(&pool.completed, true, __ATOMIC_ACQ_REL))
		sink->ops->connect(sink);
	if (sink && status < 0)
		command_fail(sink, LOSS_N);
	else if (sink && !command_times(event, c, &loss))
		command_fail(sink, loss);
	else if (sink)
		sink->ops->record(sink, &c->activity);
	command_put(c);
	OPENCL_NEXT(clReleaseEvent)(event);
	__atomic_fetch_sub(&pool.n_in_flight, 1, __ATOMIC_RELEASE);
}

void opencl_enqueue_begin(struct opencl_enqueue *e, cl_command_queue queue, cl_event *event,
			  const struct activity *what)
{
	struct activity_sink *sink = opencl_sink();
	const struct opencl_queue *q = sink ? opencl_queue_get(queue) : NULL;

	e->command = NULL;
	e->own = NULL;
	e->event = event;
	if (!q || (what->kind == ACTIVITY_COPY && !what->bytes))
		return;
	e->command = command_get();
	if (!e->command) {
		sink->ops->lose(sink, LOSS_BUFFERS_FULL, 1);
		return;
	}
	__atomic_store_n(&e->command->held, NULL, __ATOMIC_RELAXED);
	e->command->activity = *what;
	e->command->activity.device = q->device;
	e->command->activity.context = q->context;
	e->command->activity.stream = q->stream;
	e->command->activity.launch = sink->ops->launch(sink, NULL);
	atomic_store(&e->command->called_ns, clock_realtime_ns());
	if (!event)
		e->event = &e->own;
}

/* Have the driver tell us when it is done. */
static bool enqueue_watch(struct opencl_enqueue *e)
{
	struct opencl_command *c = e->command;
	cl_event event = *e->event;

	if (e->event != &e->own) {
		if (OPENCL_NEXT(clRetainEvent)(event) != OPENCL_SUCCESS)
			return false;
		__atomic_store_n(&c->held, event, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&pool.n_in_flight, 1, __ATOMIC_RELAXED);
	if (OPENCL_NEXT(clSetEventCallback)(event, OPENCL_COMPLETE, command_complete, c) ==
	    OPENCL_SUCCESS)
		return true;
	__atomic_fetch_sub(&pool.n_in_flight, 1, __ATOMIC_RELAXED);
	OPENCL_NEXT(clReleaseEvent)(event);
	return false;
}

int32_t opencl_enqueue_end(struct opencl_enqueue *e, int32_t error)
{
	struct activity_sink *sink = opencl_sink();

	if (!e->command)
		return error;
	e->command->returned_ns = clock_realtime_ns();
	if (error == OPENCL_SUCCESS && enqueue_watch(e))
		return error;
	if (sink)
		command_fail(sink, error == OPENCL_SUCCESS ? LOSS_DROPPED : LOSS_N);
	command_put(e->command);
	return error;
}

/* --- all of them ------------------------------------------------------------------------------ */

int opencl_commands_start(void)
{
	if (!pool.commands)
		pool.commands = pages_reserve(MAX_COMMANDS * sizeof(struct opencl_command));
	return pool.commands ? 0 : -ENOMEM;
}

/* Read first, then looked for: what is not seen here is called later, or is delivered. */
uint64_t opencl_commands_settled(void)
{
	uint64_t until_ns = clock_realtime_ns();
	uint32_t n;

	atomic_thread_fence(memory_order_seq_cst);
	n = __atomic_load_n(&pool.n_used, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t called_ns =
			atomic_load_explicit(&pool.commands[i].called_ns, memory_order_acquire);

		if (called_ns)
			until_ns = MIN(until_ns, called_ns);
	}
	return until_ns;
}

void opencl_commands_await(void)
{
	uint64_t start = clock_monotonic_ns(), moved = start, now;
	uint32_t left, before = 0;

	if (!__atomic_load_n(&pool.completed, __ATOMIC_ACQUIRE))
		return;
	while ((left = __atomic_load_n(&pool.n_in_flight, __ATOMIC_ACQUIRE)) > 0) {
		now = clock_monotonic_ns();
		if (left != before)
			moved = now;
		before = left;
		if (now - start > EXIT_WAIT_NS || now - moved > EXIT_STANDING_NS)
			break;
		nanosleep(&(struct timespec){.tv_nsec = (long)NSEC_PER_MSEC / 2}, NULL);
	}
}

uint64_t opencl_commands_bytes(void)
{
	return __atomic_load_n(&pool.n_used, __ATOMIC_RELAXED) * sizeof(struct opencl_command);
}

void opencl_commands_forked(void)
{
	for (uint32_t i = 0; i < pool.n_used; i++)
		atomic_store_explicit(&pool.commands[i].called_ns, 0, memory_order_relaxed);
	pthread_mutex_init(&clocks.lock, NULL); /* its owner may have stayed in the parent */
	pool.free = 0;
	pool.n_used = 0;
	pool.n_in_flight = 0;
	pool.completed = false;
}
