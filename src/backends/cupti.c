/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <time.h>

#include "backends/cuda_values.h"
#include "backends/cuda_arena.h"
#include "backends/cupti.h"
#include "backends/cupti_ranges.h"
#include "base/clock.h"
#include "base/util.h"

#define BUFFER_BYTES_MAX (UINT64_C(64) << 20)
#define READERS_NAPS     400 /* of 50 us */

static struct cupti cupti;

static int probe(const struct backend_options *options, const char **ret_why)
{
	if (cupti_driver_is_loaded())
		return 0;
	*ret_why = "the program has not loaded the CUDA driver (libcuda.so.1)";
	return -ENODEV;
}

/* What a session begins with; the memory of an earlier one is kept. */
static void reset(struct cupti *c, struct activity_sink *sink)
{
	c->sink = sink;
	c->subscriber = NULL;
	c->connected = 0;
	c->want_attribution = false;
	cupti_session_begin(c);
	c->devices_seen = c->devices_told = 0;
}

static int begin(struct cupti *c, const struct backend_options *options)
{
	uint64_t bytes_max =
		options->buffer_bytes_max ? options->buffer_bytes_max : BUFFER_BYTES_MAX;
	int r = cupti_pool_init(&c->pool, bytes_max);
	bool is_theirs;

	if (r < 0) {
		c->sink->ops->lose(c->sink, LOSS_NO_MEMORY, 1);
		return r;
	}
	cupti_rival_watch(c);
	is_theirs = !c->wanted.hold && cupti_rival_has_cupti();
	r = cupti_load(c, is_theirs ? NULL : cupti_callback_for(c));
	if (r < 0)
		return r;
	if (is_theirs) {
		cupti_begin_aside(c);
		return 0;
	}
	if (c->ranges)
		c->ranges = cupti_ranges_begin(c);
	/* CUPTI may call us before the function that lets it returns. */
	atomic_store(&c->phase, CUPTI_RUNNING);
	r = cupti_activity_start(c);
	if (r < 0) {
		atomic_store(&c->phase, CUPTI_OFF);
		c->api.cuptiUnsubscribe(c->subscriber);
		return r;
	}
	cupti_calls_start(c);
	return 0;
}

static int start(const struct backend_options *options, struct activity_sink *sink,
		 void **ret_state)
{
	struct cupti *c = &cupti;
	int r;

	if (atomic_load(&c->phase) == CUPTI_DEAD || atomic_exchange(&c->taken, true))
		return -EBUSY;
	reset(c, sink);
	c->wanted = *options;
	c->calls = options->api;
	c->sync = options->sync && !c->calls; /* which has them, too */
	c->ranges = options->ranges;
	c->memory = !options->no_memory;
	atomic_store(&c->unified, options->unified ? CUPTI_UNIFIED_WANTED : CUPTI_UNIFIED_OFF);
	c->idle = !options->no_idle;
	c->whole_graphs = options->graphs == GRAPHS_WHOLE;
	c->pc_sampling = options->pc_sampling;
	atomic_store(&c->n_capturing, 0);
	for (size_t i = 0; i < ARRAY_SIZE(c->capturing); i++)
		atomic_store(&c->capturing[i], NULL);
	r = begin(c, options);
	if (r < 0) {
		atomic_store(&c->taken, false);
		return r;
	}
	if (options->intra_s)
		cuda_arena_follow();
	if (options->count_launches || options->intra_s || c->ranges || c->sync || c->calls ||
	    c->whole_graphs || c->pc_sampling)
		atomic_store(&c->want_attribution, true);
	cupti_calls_settle(c);
	if (c->idle && sink->ops->settled) /* from now on it says so */
		sink->ops->settled(sink, 1);
	*ret_state = c;
	return 0;
}

/* A buffer that another thread hands over may be older than those that came with the flush. */
static void await_readers(struct cupti *c)
{
	const struct timespec nap = {0, NSEC_PER_MSEC / 20};

	for (unsigned i = 0; i < READERS_NAPS && atomic_load(&c->n_reading); i++)
		nanosleep(&nap, NULL);
}

/* What began before now is delivered, but for what may be in a buffer that CUPTI holds: that began after this was
 * taken. */
static void tell_settled(struct cupti *c, bool force)
{
	uint64_t now_ns = clock_realtime_ns(), monotonic_ns = clock_monotonic_ns(),
		 oldest_ns = cupti_pool_oldest_ns(&c->pool);

	if (force)
		now_ns = UINT64_MAX;
	else if (oldest_ns < monotonic_ns)
		now_ns -= monotonic_ns - oldest_ns;
	c->sink->ops->settled(c->sink, now_ns);
}

static void tell_memory(struct cupti *c, uint64_t until_ns)
{
	if (!(c->memory || atomic_load(&c->unified)) || !c->sink->ops->memory_until)
		return;
	await_readers(c);
	c->sink->ops->memory_until(c->sink, until_ns);
}

static int flush_ours(struct cupti *c, enum flush how)
{
	const bool force = how >= FLUSH_ALL;
	uint64_t begin_ns = clock_realtime_ns();
	bool is_settled = false;
	int r;

	cupti_calls_settle(c);
	cupti_unified_settle(c);
	cupti_launches_look(&c->launches);
	if (c->ranges)
		is_settled = cupti_ranges_settle(c, how);
	r = cupti_activity_flush(c, force || is_settled);
	if (c->ranges)
		cupti_ranges_resume();
	if (c->ranges && force)
		cupti_ranges_last(c);
	if (how == FLUSH_LAST)
		cupti_pc_end(c);
	else
		cupti_pc_flush(c, force);
	tell_memory(c, force ? UINT64_MAX : begin_ns);
	if (c->idle && c->sink->ops->settled)
		tell_settled(c, force);
	cupti_launches_quiet(c, force);
	cupti_device_tell(c);
	cupti_pool_fault_in(&c->pool);
	if (force)
		cupti_name_rival(c);
	return r;
}

/* While another one begins or ends with CUPTI, the next flush is soon enough; but for the last. */
static int flush(void *state, enum flush how)
{
	const bool force = how >= FLUSH_ALL;
	struct cupti *c = state;
	int r = 0;

	if (!cupti_running(c)) /* there is none, and others do not wait for it */
		tell_memory(c, force ? UINT64_MAX : clock_realtime_ns());
	if (atomic_load(&c->phase) < CUPTI_ASIDE || !cupti_turn_take(force))
		return 0;
	if (cupti_running(c))
		r = flush_ours(c, how);
	else if (atomic_load(&c->phase) == CUPTI_ASIDE)
		cupti_rival_look(c, force);
	cupti_turn_give();
	return r;
}

static void attribute(void *state)
{
	struct cupti *c = state;

	atomic_store(&c->want_attribution, true);
	cupti_calls_settle(c);
}

static void moved(void *state, uint32_t thread)
{
	struct cupti *c = state;

	if (c->ranges && cupti_running(c))
		cupti_ranges_moved(c, thread);
}

static void sample(void *state)
{
	struct cupti *c = state;

	cupti_pc_start(c);
	cupti_calls_settle(c);
}

static uint64_t buffer_bytes(void *state)
{
	struct cupti *c = state;

	return cupti_pool_bytes(&c->pool);
}

/* Buffers that CUPTI still holds stay its own: nothing is unmapped. */
static void stop(void *state)
{
	struct cupti *c = state;
	bool has_turn;

	if (!c)
		return;
	has_turn = cupti_turn_take(true); /* another one may begin just now */
	if (cupti_running(c)) {
		cupti_activity_stop(c);
		cupti_unified_end(c);
		flush_ours(c, FLUSH_LAST);
		atomic_store(&c->phase, CUPTI_OFF);
		c->api.cuptiUnsubscribe(c->subscriber);
	}
	if (atomic_load(&c->phase) == CUPTI_ASIDE)
		atomic_store(&c->phase, CUPTI_OFF);
	if (has_turn)
		cupti_turn_give();
	atomic_store(&c->taken, false);
}

/* CUDA and CUPTI do not work in a fork child of a process that used them: the locks and the worker
 * of the parent are gone. */
static void forked(void *state)
{
	cuda_values_forked();
	cupti_pc_forked();
	cupti_rival_forked();
	cupti_turn_give(); /* whoever had it stayed in the parent */
	atomic_store(&cupti.phase, CUPTI_DEAD);
}

static uint32_t launched(void)
{
	return cupti_thread.launched;
}

const struct backend backend_cupti = {
	.name = "cupti",
	.device_type = "CUDA",
	.probe = probe,
	.start = start,
	.flush = flush,
	.attribute = attribute,
	.launched = launched,
	.moved = moved,
	.sample = sample,
	.buffer_bytes = buffer_bytes,
	.stop = stop,
	.forked = forked,
};
