/* SPDX-License-Identifier: MIT */
/* What scopes leave behind, against a second account of it that is kept by hand. */
#include "config.h" // IWYU pragma: keep
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/allocations.h"
#include "collect/internal.h"
#include "collect/scope_memory.h"
#include "test_collect.h"
#include "wire/wire.h"

enum {
	N_THREADS = 3, /* the first is the main thread */
	N_NAMES = 4,
	N_KINDS = 2,
	MOST_DEEP = 3,
	N_STEPS = 6000,
	N_LIVE = 40,
	N_INSTANCES = N_STEPS,
	N_EVENTS = 2 * N_STEPS,
};
static const uint8_t kinds[N_KINDS] = {MEMORY_DEVICE, MEMORY_PINNED};
static const char *const kind_names[N_KINDS] = {"alloc device", "alloc pinned"};
static const uint64_t step_ns = 1000000;

/* Of all scopes of a name, on whatever path. */
struct account {
	uint64_t bytes, blocks, times, held, most;
};

/* What instances of one node have left: more, or less. */
struct change {
	uint64_t at_ns, more;
};

struct instance {
	uint32_t name, node;
	uint32_t around;   /* + 1; 0: none */
	uint64_t ended_ns; /* 0: it is open */
	bool has_left[N_KINDS];
};

struct life {
	uint64_t bytes, at_ns, released_ns;
	uint32_t in; /* instance + 1 */
	unsigned kind;
};

struct late_event {
	struct memory_event e;
	uint64_t told_ns;
};

static struct world {
	struct instance instance[N_INSTANCES];
	uint32_t n_instances, open[N_THREADS]; /* the innermost, + 1 */
	unsigned depth[N_THREADS];
	struct life life[N_STEPS];
	uint32_t n_lives, live[N_LIVE], n_live;
	struct late_event event[N_EVENTS];
	uint32_t n_events;
	uint64_t now_ns, lateness_ns;
	struct account wanted[N_NAMES][N_KINDS];
} w;

static unsigned random_below(unsigned n)
{
	return (unsigned)random() % n;
}

static uint32_t owner_of(unsigned thread)
{
	return (uint32_t)getpid() + thread;
}

/* An end is told at once, a record when its buffer is full. */
static void tell(const struct memory_event *e)
{
	uint64_t late = e->operation == MEMORY_SCOPE ? 0 : (uint64_t)random() % w.lateness_ns;

	ck_assert_uint_lt(w.n_events, N_EVENTS);
	w.event[w.n_events++] = (struct late_event){*e, e->at_ns + late};
}

static void enter(unsigned thread)
{
	uint32_t name = random_below(N_NAMES), around = w.open[thread];
	char text[] = {'s', (char)('0' + name), '\0'};
	uint32_t frame = frame_intern(FRAME_SCOPE, string_intern(text, 2));

	if (w.depth[thread] == MOST_DEEP)
		return;
	w.instance[w.n_instances] = (struct instance){
		.name = name,
		.node = node_intern(around ? w.instance[around - 1].node : 0, frame),
		.around = around};
	w.open[thread] = ++w.n_instances;
	w.depth[thread]++;
}

static void leave(unsigned thread)
{
	struct instance *i;

	if (!w.open[thread])
		return;
	i = &w.instance[w.open[thread] - 1];
	i->ended_ns = w.now_ns;
	tell(&(struct memory_event){.operation = MEMORY_SCOPE,
				    .at_ns = w.now_ns,
				    .context = i->node,
				    .stream = owner_of(thread)});
	w.open[thread] = i->around;
	w.depth[thread]--;
}

/* Now and then by a thread that has no scope, for the main thread; below what is no scope. */
static void allocate(unsigned thread)
{
	bool is_adopted = !w.open[thread] && thread;
	uint32_t in = w.open[is_adopted ? 0 : thread], node = in ? w.instance[in - 1].node : 0;
	struct life *l = &w.life[w.n_lives];

	if (w.n_live == N_LIVE)
		return;
	*l = (struct life){.bytes = 1 + random_below(1 << 20),
			   .at_ns = w.now_ns,
			   .in = in,
			   .kind = random_below(N_KINDS)};
	if (random_below(2))
		node = node_intern(node, frame_intern(FRAME_PYTHON, string_intern("f", 1)));
	tell(&(struct memory_event){.operation = MEMORY_ALLOCATED,
				    .kind = kinds[l->kind],
				    .launch =
					    context_intern(node, owner_of(thread),
							   is_adopted ? CONTEXT_ADOPTED : 0, 0, 0),
				    .at_ns = l->at_ns,
				    .address = (w.n_lives + 1) * UINT64_C(4096),
				    .bytes = l->bytes});
	w.live[w.n_live++] = w.n_lives++;
}

static void release(void)
{
	uint32_t i = w.n_live ? random_below(w.n_live) : 0;
	struct life *l = &w.life[w.live[i]];

	if (!w.n_live)
		return;
	l->released_ns = w.now_ns;
	tell(&(struct memory_event){.operation = MEMORY_RELEASED,
				    .kind = kinds[l->kind],
				    .at_ns = w.now_ns,
				    .address = (w.live[i] + 1) * UINT64_C(4096),
				    .bytes = l->bytes});
	w.live[i] = w.live[--w.n_live];
}

/* Each block, for each instance that it was made in. */
static void account(void)
{
	for (uint32_t b = 0; b < w.n_lives; b++) {
		const struct life *l = &w.life[b];

		for (uint32_t in = l->in; in; in = w.instance[in - 1].around) {
			struct instance *i = &w.instance[in - 1];
			struct account *a = &w.wanted[i->name][l->kind];

			if (!i->ended_ns || (l->released_ns && l->released_ns < i->ended_ns))
				continue;
			a->bytes += l->bytes;
			a->blocks++;
			a->times += !i->has_left[l->kind];
			a->held += l->released_ns ? 0 : l->bytes;
			i->has_left[l->kind] = true;
		}
	}
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* The most that there was of what a node left. */
static uint64_t most_of(uint32_t node, unsigned kind)
{
	static struct change change[2 * N_STEPS];
	uint64_t held = 0, most = 0;
	size_t n = 0;

	for (uint32_t b = 0; b < w.n_lives; b++)
		for (uint32_t in = w.life[b].in; in; in = w.instance[in - 1].around) {
			const struct life *l = &w.life[b];
			const struct instance *i = &w.instance[in - 1];

			if (i->node != node || l->kind != kind || !i->ended_ns ||
			    (l->released_ns && l->released_ns < i->ended_ns))
				continue;
			change[n++] = (struct change){i->ended_ns, l->bytes};
			if (l->released_ns)
				change[n++] = (struct change){l->released_ns, -l->bytes};
		}
	qsort(change, n, sizeof(*change), by_time);
	for (size_t i = 0; i < n; i++) {
		held += change[i].more;
		most = MAX(most, held);
	}
	return most;
}

/* Each node once. */
static void account_most(void)
{
	for (uint32_t i = 0; i < w.n_instances; i++) {
		uint32_t k = 0;

		while (w.instance[k].node != w.instance[i].node)
			k++;
		for (unsigned kind = 0; k == i && kind < N_KINDS; kind++)
			w.wanted[w.instance[i].name][kind].most +=
				most_of(w.instance[i].node, kind);
	}
}

static int by_time_told(const void *a, const void *b)
{
	const struct late_event *x = a, *y = b;

	return x->told_ns < y->told_ns ? -1 : x->told_ns > y->told_ns;
}

static void deliver(void)
{
	qsort(w.event, w.n_events, sizeof(*w.event), by_time_told);
	for (uint32_t i = 0; i < w.n_events; i++) {
		allocations_add(0, &w.event[i].e);
		if (i % 16 == 0)
			allocations_settle(0, w.event[i].told_ns);
	}
	allocations_settle(0, UINT64_MAX);
}

static uint64_t told(uint32_t name, unsigned kind, uint32_t metric)
{
	const struct session *s = rig_session;
	char text[] = {'s', (char)('0' + name), '\0'};
	union metric_value v;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < s->n_nodes; i++)
		if (!strcmp(session_node_name(s, i), kind_names[kind]) &&
		    !strcmp(session_node_name(s, s->nodes[i].parent), text) &&
		    session_value(s, i, metric, &v))
			sum += v.u64;
	return sum;
}

static bool is_told(void *arg)
{
	bool is_same = true;

	(void)arg;
	for (uint32_t i = 0; i < N_NAMES; i++)
		for (unsigned k = 0; k < N_KINDS; k++) {
			const struct account *a = &w.wanted[i][k];

			is_same &= told(i, k, METRIC_LEFT_BYTES) == a->bytes &&
				   told(i, k, METRIC_LEFT_BLOCKS) == a->blocks &&
				   told(i, k, METRIC_LEFT_TIMES) == a->times &&
				   told(i, k, METRIC_LEFT_HELD) == a->held &&
				   (w.lateness_ns > 1 || told(i, k, METRIC_LEFT_MOST) == a->most);
		}
	return is_same;
}

static void live(unsigned seed, uint64_t lateness_ns)
{
	srandom(seed);
	w.lateness_ns = lateness_ns;
	w.now_ns = UINT64_C(1000000000000);
	for (unsigned i = 0; i < N_STEPS; i++, w.now_ns += step_ns) {
		unsigned what = random_below(8), thread = random_below(N_THREADS);

		if (what < 2)
			enter(thread);
		else if (what < 4)
			leave(thread);
		else if (what < 6)
			allocate(thread);
		else
			release();
	}
	account();
	account_most();
}

/* Records as they come, and in buffers that are late by up to more than an end waits for less. */
START_TEST(test_left_behind)
{
	static const uint64_t lateness_ns[] = {1, 300000000, SCOPE_MEMORY_WAIT_NS / 4 * 3};

	rig_start();
	live((unsigned)_i + 1, lateness_ns[(unsigned)_i % ARRAY_SIZE(lateness_ns)]);
	ck_assert_uint_gt(w.wanted[0][0].blocks, 100);
	deliver();
	rig_until(is_told, NULL, "what each scope left behind");
}
END_TEST

/* The scopes of this thread tell when they end; one in which nothing is allocated does not. */
START_TEST(test_left_by_scopes)
{
	struct memory_event e = {
		.operation = MEMORY_ALLOCATED, .kind = MEMORY_DEVICE, .bytes = 100};

	rig_start();
	for (int i = 0; i < 10; i++) {
		collect_push(FRAME_SCOPE, 1, "outer", 5);
		collect_push(FRAME_NVTX, 2, "inner", 5);
		e.launch = thread_allocates(thread_state());
		e.at_ns = clock_realtime_ns();
		e.address++;
		allocations_add(0, &e);
		collect_pop(i % 2 ? 2 : 1); /* in and out of order */
		collect_pop(i % 2 ? 1 : 2);
		collect_push(FRAME_SCOPE, 1, "empty", 5);
		collect_pop(1);
	}
	ck_assert_uint_lt(atomic_load(&collector->n_waiting), 10 + 10 * 2 + 10 + 1);
	e.operation = MEMORY_RELEASED;
	e.at_ns = clock_realtime_ns();
	allocations_add(0, &e);
	allocations_settle(0, UINT64_MAX);
	rig_until_sum("alloc device", METRIC_LEFT_BYTES, 2000);
	rig_until_sum("alloc device", METRIC_LEFT_TIMES, 20);
	rig_until_sum("alloc device", METRIC_LEFT_HELD, 1800);
	ck_assert_uint_eq(atomic_load(&collector->n_waiting), 0);
}
END_TEST

/* What a context takes with it was not released. */
START_TEST(test_left_to_a_context)
{
	struct memory_event e = {
		.operation = MEMORY_ALLOCATED, .kind = MEMORY_DEVICE, .bytes = 100, .address = 1};

	rig_start();
	e.context = 7;
	collect_push(FRAME_SCOPE, 1, "s", 1);
	e.launch = thread_allocates(thread_state());
	e.at_ns = clock_realtime_ns();
	allocations_add(0, &e);
	collect_pop(1);
	e.operation = MEMORY_GONE;
	e.at_ns = clock_realtime_ns() + 1;
	allocations_add(0, &e);
	allocations_settle(0, UINT64_MAX);
	rig_until_sum("alloc device", METRIC_NOT_FREED, 100);
	rig_until_sum("alloc device", METRIC_LEFT_BYTES, 100);
	rig_until_sum("alloc device", METRIC_LEFT_HELD, 100);
}
END_TEST

/* What ended before a pause counts, though it was still waiting then; what ended within does not, though the pause is
 * over by then. */
START_TEST(test_left_at_a_pause)
{
	struct memory_event e = {
		.operation = MEMORY_ALLOCATED, .kind = MEMORY_DEVICE, .bytes = 100};
	uint64_t at_ns = clock_realtime_ns();

	rig_start();
	e.launch = context_intern(node_intern(0, frame_intern(FRAME_SCOPE, string_intern("s", 1))),
				  owner_of(1), 0, 0, 0);
	rig_scope("awake");
	for (unsigned i = 0; i < 3; i++) {
		rig_pause(i == 1);
		e.address++;
		e.at_ns = ++at_ns;
		allocations_add(0, &e);
		allocations_add(0,
				&(struct memory_event){.operation = MEMORY_SCOPE,
						       .at_ns = ++at_ns,
						       .context = collector->context[e.launch].node,
						       .stream = owner_of(1)});
		allocations_settle(0, at_ns);
	}
	rig_pause(true);
	allocations_settle(0, UINT64_MAX);
	rig_until_sum("alloc device", METRIC_LEFT_BYTES, 200);
	rig_until_sum("alloc device", METRIC_LEFT_TIMES, 2);
	rig_until_sum("alloc device", METRIC_LEFT_HELD, 300);
}
END_TEST

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* A scope allocates what the next one releases, n times within the time that an end waits. What it takes. */
static uint64_t short_scopes(uint32_t n)
{
	uint32_t node = node_intern(0, frame_intern(FRAME_SCOPE, string_intern("s", 1)));
	uint32_t launch = context_intern(node, owner_of(1), 0, 0, 0);
	uint64_t at_ns = clock_realtime_ns(), first = at_ns, cpu = cpu_ns();
	struct memory_event e = {.kind = MEMORY_DEVICE, .bytes = 100, .launch = launch};

	for (uint32_t i = 0; i < n; i++) {
		e.operation = MEMORY_ALLOCATED;
		e.address = first + i;
		e.at_ns = ++at_ns;
		allocations_add(0, &e);
		allocations_add(0, &(struct memory_event){.operation = MEMORY_SCOPE,
							  .at_ns = ++at_ns,
							  .context = node,
							  .stream = owner_of(1)});
		e.operation = MEMORY_RELEASED;
		e.address = first + i - 1;
		e.at_ns = ++at_ns;
		if (i)
			allocations_add(0, &e);
	}
	allocations_settle(0, at_ns);
	cpu = cpu_ns() - cpu;
	allocations_settle(0, UINT64_MAX);
	return cpu;
}

/* However many ends wait, one is found soon: all in turn would take a hundred times as long as few. */
START_TEST(test_left_by_short_scopes)
{
	uint64_t few, many;

	rig_start();
	few = short_scopes(5000);
	many = short_scopes(50000);
	rig_until_sum("alloc device", METRIC_LEFT_BLOCKS, 55000);
	rig_until_sum("alloc device", METRIC_LEFT_TIMES, 55000);
	rig_until_sum("alloc device", METRIC_LEFT_HELD, 200);
	ck_assert_uint_lt(many, 40 * MAX(few, NSEC_PER_MSEC));
}
END_TEST

/* Ends of then wait until a test says so: flushes of the collector are before it. */
static uint64_t later_ns(void)
{
	return clock_realtime_ns() + 1000 * NSEC_PER_SEC;
}

/* Of scope i of an outer one; what is told of it. */
static uint32_t inner_launch(uint32_t outer, unsigned i)
{
	char name[16];
	int n = snprintf(name, sizeof(name), "in%u", i);
	uint32_t frame = frame_intern(FRAME_SCOPE, string_intern(name, (size_t)n));

	return context_intern(node_intern(outer, frame), owner_of(1), 0, 0, 0);
}

static void tell_at(uint8_t operation, uint32_t launch, uint64_t address, uint64_t at_ns)
{
	allocations_add(0, &(struct memory_event){.operation = operation,
						  .kind = MEMORY_DEVICE,
						  .bytes = 100,
						  .launch = launch,
						  .address = address,
						  .at_ns = at_ns});
}

static void tell_end(uint32_t node, uint64_t at_ns)
{
	allocations_add(0, &(struct memory_event){.operation = MEMORY_SCOPE,
						  .at_ns = at_ns,
						  .context = node,
						  .stream = owner_of(1)});
}

/* A block goes on to the scope around it when many were allocated there since, and that has ended meanwhile. */
START_TEST(test_left_behind_newer)
{
	enum { N = 5000 };
	uint32_t outer, launch, inner;
	uint64_t t = later_ns();

	rig_start();
	outer = node_intern(0, frame_intern(FRAME_SCOPE, string_intern("s", 1)));
	launch = context_intern(outer, owner_of(1), 0, 0, 0);
	inner = inner_launch(outer, 0);
	tell_at(MEMORY_ALLOCATED, inner, 1, t);
	tell_end(collector->context[inner].node, t + 1);
	tell_end(outer, t + 2);
	for (unsigned i = 0; i < N; i++)
		tell_at(MEMORY_ALLOCATED, launch, 2 + i, t + 3 + i);
	allocations_settle(0, t + SCOPE_MEMORY_WAIT_NS + N);
	for (unsigned i = 0; i < N + 1; i++)
		tell_at(MEMORY_RELEASED, 0, 1 + i, t + SCOPE_MEMORY_WAIT_NS + 2 * N);
	tell_end(outer, t + SCOPE_MEMORY_WAIT_NS + 3 * N);
	allocations_settle(0, UINT64_MAX);
	rig_until_sum("alloc device", METRIC_LEFT_BYTES, 200);
	rig_until_sum("alloc device", METRIC_LEFT_TIMES, 2);
	ck_assert_uint_eq(rig_losses(LOSS_LEFT_ORDER), 0);
}
END_TEST

/* n times a scope leaves a block, and the one around it another, within the time that an end waits. What it takes. */
static uint64_t many_newer(uint32_t outer, uint32_t n, uint64_t *from_ns)
{
	uint32_t launch = context_intern(outer, owner_of(1), 0, 0, 0),
		 inner = inner_launch(outer, 0);
	uint64_t t = *from_ns, cpu = cpu_ns();

	for (uint32_t i = 0; i < n; i++) {
		tell_at(MEMORY_ALLOCATED, inner, t + 2 * i, t + 3 * i);
		tell_end(collector->context[inner].node, t + 3 * i + 1);
		tell_at(MEMORY_ALLOCATED, launch, t + 2 * i + 1, t + 3 * i + 2);
	}
	allocations_settle(0, UINT64_MAX);
	*from_ns = t + 3 * (uint64_t)n;
	tell_end(outer, *from_ns);
	allocations_settle(0, UINT64_MAX);
	return cpu_ns() - cpu;
}

/* The place among those is soon found: from the end each time would take a hundred times as long as of few. */
START_TEST(test_left_behind_many_newer)
{
	uint32_t outer;
	uint64_t few, many, at_ns = later_ns();

	rig_start();
	outer = node_intern(0, frame_intern(FRAME_SCOPE, string_intern("s", 1)));
	few = many_newer(outer, 5000, &at_ns);
	many = many_newer(outer, 50000, &at_ns);
	rig_until_sum("alloc device", METRIC_LEFT_BLOCKS, 3 * 55000);
	ck_assert_uint_eq(rig_losses(LOSS_LEFT_ORDER), 0);
	ck_assert_uint_lt(many, 40 * MAX(few, NSEC_PER_MSEC));
}
END_TEST

/* Blocks of scopes that were open at a time, as no thread's are, lie far apart each time: that ends, and is told. */
START_TEST(test_left_in_no_order)
{
	enum { N = 8000, N_INNER = 600 };
	uint32_t outer, launch, inner;
	uint64_t t = later_ns();

	rig_start();
	outer = node_intern(0, frame_intern(FRAME_SCOPE, string_intern("s", 1)));
	launch = context_intern(outer, owner_of(1), 0, 0, 0);
	for (unsigned i = 0; i < N; i++)
		tell_at(MEMORY_ALLOCATED, launch, 1 + i, t + 1000 + i);
	for (unsigned i = 0; i < N_INNER; i++) {
		inner = inner_launch(outer, i);
		tell_at(MEMORY_ALLOCATED, inner, N + 1 + 2 * i, t + i);
		tell_at(MEMORY_ALLOCATED, inner, N + 2 + 2 * i, t + N);
		tell_end(collector->context[inner].node, t + 2 * N);
	}
	allocations_settle(0, UINT64_MAX);
	ck_assert_uint_gt(rig_losses(LOSS_LEFT_ORDER), N_INNER / 4);
}
END_TEST

TCase *collect_left_case(void)
{
	TCase *c = tcase_create("left behind");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, test_left_behind, 0, 12);
	tcase_add_test(c, test_left_by_scopes);
	tcase_add_test(c, test_left_to_a_context);
	tcase_add_test(c, test_left_at_a_pause);
	tcase_add_test(c, test_left_by_short_scopes);
	tcase_add_test(c, test_left_behind_newer);
	tcase_add_test(c, test_left_behind_many_newer);
	tcase_add_test(c, test_left_in_no_order);
	return c;
}
