/* SPDX-License-Identifier: MIT */
/* Tables under races and full; scopes. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/graph_runs.h"
#include "collect/whole_graphs.h"
#include "collect/host_clock.h"
#include "collect/burst.h"
#include "collect/internal.h"
#include "test_collect.h"
#include "wire/wire.h"

#ifndef PROTON_SANITIZED /* a sanitizer maps more than any limit */
/* Address space of this process, in pages. */
static long pages_mapped(void)
{
	long n = -1;
	FILE *f = fopen("/proc/self/statm", "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%ld", &n), 1);
	fclose(f);
	return n;
}

/* Whichever mapping is refused: those before it are given back. */
START_TEST(test_out_of_memory)
{
	struct rlimit limit = {0, RLIM_INFINITY};
	long before, page = sysconf(_SC_PAGESIZE);

	pages_mapped(); /* what reading takes is there from now on */
	before = pages_mapped();
	for (rlim_t room = 0; room < (rlim_t)256 << 20; room += (rlim_t)4 << 20) {
		limit.rlim_cur = (rlim_t)(before * page) + room;
		ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
		if (tables_new())
			break;
		ck_assert_int_eq(pages_mapped(), before);
	}
	ck_assert_ptr_nonnull(collector);
	ck_assert_uint_gt(limit.rlim_cur, (rlim_t)(before * page) + ((rlim_t)32 << 20));
}
END_TEST
#endif

enum { N_THREADS = 8, N_KEYS = 2000 };

static uint32_t string_of(const char *s)
{
	return string_intern(s, strlen(s));
}

static uint32_t frame_of(const char *name)
{
	return frame_intern(FRAME_SCOPE, string_of(name));
}

static uint32_t numbered(const char *word, unsigned i)
{
	char name[32];

	return string_intern(name, (size_t)snprintf(name, sizeof(name), "%s%u", word, i));
}

static bool node_is(uint32_t node, const char *name)
{
	return !strcmp(collector->string[collector->frame[collector->node[node].frame].string].s,
		       name);
}

/* ---- races ---- */

static struct {
	uint32_t string, frame, node, context, lane, slot;
} ids[N_THREADS][N_KEYS];
static pthread_barrier_t gate;

/* All threads make the same entries, each from another point on. */
static void *intern_all(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, i, k;

	pthread_barrier_wait(&gate);
	for (i = 0; i < N_KEYS; i++) {
		k = (i + me / 4 * N_KEYS / 2) % N_KEYS;
		ids[me][k].string = numbered("key", k);
		ids[me][k].frame = frame_intern(FRAME_SCOPE, ids[me][k].string);
		ids[me][k].node = node_intern(0, ids[me][k].frame);
		ids[me][k].context = context_intern(ids[me][k].node, 1, false, 0, 0);
		ids[me][k].lane = lane_intern(WIRE_NONE, 0, 0, k + 1);
		ids[me][k].slot = slot_intern(ids[me][k].node, ids[me][k].lane, SET_ID_HOST, 0);
	}
	return NULL;
}

static void run_threads(void *(*body)(void *), unsigned n)
{
	pthread_t threads[64];

	pthread_barrier_init(&gate, NULL, n);
	for (uintptr_t i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, body, (void *)i), 0);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Every id below the end is whole or dead, and as many are whole as there are keys. */
#define CHECK_TABLE(table, entries, n_more)                                                        \
	do {                                                                                       \
		unsigned n_ready_ = 0;                                                             \
		for (uint32_t i_ = 0; i_ < table_n(&collector->table); i_++) {                     \
			ck_assert_int_ne(atomic_load(&collector->entries[i_].state), ENTRY_EMPTY); \
			n_ready_ += atomic_load(&collector->entries[i_].state) == ENTRY_READY;     \
		}                                                                                  \
		ck_assert_uint_eq(n_ready_, before.table + (n_more));                              \
	} while (0)

START_TEST(test_race)
{
	struct {
		uint32_t strings, frames, nodes, contexts, lanes, slots;
	} before;
	struct collector *c;

	rig_start();
	c = collector;
	before.strings = table_n(&c->strings);
	before.frames = table_n(&c->frames);
	before.nodes = table_n(&c->nodes);
	before.contexts = table_n(&c->contexts);
	before.lanes = table_n(&c->lanes);
	before.slots = table_n(&c->slots);
	run_threads(intern_all, N_THREADS);
	for (unsigned i = 1; i < N_THREADS; i++)
		ck_assert_int_eq(memcmp(ids[i], ids[0], sizeof(ids[0])), 0);
	CHECK_TABLE(strings, string, N_KEYS);
	CHECK_TABLE(frames, frame, N_KEYS);
	CHECK_TABLE(nodes, node, N_KEYS);
	CHECK_TABLE(contexts, context, N_KEYS);
	CHECK_TABLE(lanes, lane, N_KEYS);
	CHECK_TABLE(slots, slot, N_KEYS);
}

static void *record_all(void *arg)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = "kernel", .context = 1};

	pthread_barrier_wait(&gate);
	for (unsigned i = 0; i < 10000; i++) {
		a.launch = sink->ops->launch(sink, NULL);
		a.stream = i % 4;
		a.start_ns = 1000;
		a.end_ns = 1100 + i % 2;
		sink->ops->record(sink, &a);
	}
	return arg;
}

static bool process_counts(void *arg)
{
	const struct session_process *p = rig_session->processes;

	return rig_session->n_processes == 1 && p->n_launches == *(uint64_t *)arg &&
	       p->n_records == *(uint64_t *)arg;
}

START_TEST(test_race_values)
{
	uint64_t n = N_THREADS * 10000, n_hist = 0;

	rig_start();
	sender_start();
	run_threads(record_all, N_THREADS);
	rig_until_sum("kernel", METRIC_COUNT, (long)n);
	rig_until_sum("kernel", METRIC_TIME, (long)(n * 100 + n / 2));
	rig_until(process_counts, &n, "launches and records");
	sender_finish();
	rig_pump();
	for (size_t i = 0; i < rig_session->n_hists; i++)
		n_hist += hist_total(&rig_session->hists[i].hist);
	ck_assert_uint_le(n - n_hist, N_THREADS * 4); /* the first of a slot may not be in it */
	/* A taker that loses its processor lets the ring run full: that is told, and takes nothing from
	 * the numbers above. */
	ck_assert_uint_eq(
		session_loss_total(rig_session) - session_loss(rig_session, LOSS_INTERVALS), 0);
}

/* What decides a slot keeps records apart, also where the last such record is remembered: the same
 * records a second time find their slots again. */
START_TEST(test_records_apart)
{
	char name[8] = "k";
	struct activity a[] = {
		{.name = name},
		{.name = "other"},
		{.name = name, .context = 1},
		{.name = name, .stream = 1},
		{.name = name, .device = 1},
		{.name = name},
		{.name = NULL},
		{.name = name, .kind = ACTIVITY_SYNC},
		{.name = name, .kind = ACTIVITY_CALL},
	};
	uint32_t n;

	rig_start();
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "scope", 5);
	a[5].launch = collect_sink(0)->ops->launch(collect_sink(0), NULL);
	n = table_n(&collector->slots);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned source = 0; source < N_SOURCES; source++)
			for (unsigned i = 0; i < ARRAY_SIZE(a); i++)
				collect_sink(source)->ops->record(collect_sink(source), &a[i]);
	/* What the host does is of no backend. */
	n += N_SOURCES * (ARRAY_SIZE(a) - 2) + 2;
	ck_assert_uint_eq(table_n(&collector->slots), n);
	for (uint32_t i = n - N_SOURCES * ((uint32_t)ARRAY_SIZE(a) - 2) - 2; i < n; i++)
		ck_assert_uint_eq(collector->value[collector->slot[i].values + 1],
				  collector->slot[i].set == SET_ID_WAIT ||
						  collector->slot[i].set == SET_ID_CALL
					  ? 2 * N_SOURCES
					  : 2);
	name[0] = 'l'; /* another module, at the same address */
	collect_sink(0)->ops->record(collect_sink(0), &a[0]);
	ck_assert_uint_eq(table_n(&collector->slots), n + 1);
}

/* By shape, a name whose end is no shape is another than its beginning, at the same address. */
START_TEST(test_shapes)
{
	char name[] = "k<int>";
	struct activity a = {.name = name, .config.shape = {{8, 1, 1}, {32, 1, 1}}};
	uint32_t n;

	rig_start();
	rig_dir->control->wanted.by_shape = 1;
	n = table_n(&collector->slots);
	for (unsigned i = 0; i < 2; i++)
		collect_sink(0)->ops->record(collect_sink(0), &a);
	ck_assert_uint_eq(table_n(&collector->slots), n + 1);
	name[1] = '\0'; /* another module */
	for (unsigned i = 0; i < 2; i++)
		collect_sink(0)->ops->record(collect_sink(0), &a);
	ck_assert_uint_eq(table_n(&collector->slots), n + 2);
	a.config.shape.grid[0] = 9;
	collect_sink(0)->ops->record(collect_sink(0), &a);
	ck_assert_uint_eq(table_n(&collector->slots), n + 3);
}
END_TEST

/* However long a name is, each shape has its own. */
START_TEST(test_shapes_of_long_names)
{
	enum { LENGTH = 20000 };
	static char name[LENGTH + 1];
	struct activity a = {.name = name, .config.shape = {{8, 1, 1}, {32, 1, 1}}};
	const struct string_entry *text;
	uint32_t n;

	rig_start();
	rig_dir->control->wanted.by_shape = 1;
	memset(name, 'k', LENGTH);
	n = table_n(&collector->slots);
	for (unsigned i = 0; i < 4; i++) { /* each twice */
		a.config.shape.grid[0] = 8 + i / 2;
		collect_sink(0)->ops->record(collect_sink(0), &a);
	}
	ck_assert_uint_eq(table_n(&collector->slots), n + 2);
	text = &collector->string[collector->frame[collector->node[collector->slot[n].node].frame]
					  .string];
	ck_assert_uint_eq(text->len, LENGTH + strlen("<<<8,32>>>"));
	ck_assert_str_eq(text->s + LENGTH, "<<<8,32>>>");
}
END_TEST

/* ---- how kernels are launched ---- */

static void launch(const char *name, uint32_t blocks)
{
	const struct activity a = {.name = name,
				   .end_ns = 1000,
				   .config = {{{blocks, 1, 1}, {32, 1, 1}}, .registers = 16}};

	collect_sink(0)->ops->record(collect_sink(0), &a);
}

static bool configs_are_reset(void *n_configs)
{
	for (uint32_t i = 0; i < *(const uint32_t *)n_configs; i++)
		if (atomic_load(&collector->config[i].count))
			return false;
	return true;
}

/* Each way once for a context, however often and in whatever order; beyond a bound all as one. */
START_TEST(test_configs)
{
	const struct launch_config none = {.registers = 0};
	uint32_t n = MAX_SLOT_CONFIGS;

	rig_start();
	for (uint32_t i = 0; i < 3 * n; i++)
		launch("k", 1 + i % n);
	launch("other", 1);
	ck_assert_uint_eq(table_n(&collector->configs), n + 1);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(collector->config[i].of.shape.grid[0], 1 + i);
		ck_assert_uint_eq(atomic_load(&collector->config[i].count), 3);
		ck_assert_uint_eq(atomic_load(&collector->config[i].time_ns), 3000);
	}
	launch("k", n + 1);
	launch("k", n + 2);
	launch("k", n);
	launch("k", n + 1);
	ck_assert_uint_eq(table_n(&collector->configs), n + 2);
	ck_assert(launch_config_equal(&collector->config[n + 1].of, &none));
	ck_assert_uint_eq(atomic_load(&collector->config[n + 1].count), 3);
	ck_assert_uint_eq(atomic_load(&collector->config[n - 1].count), 4);
	ck_assert_uint_eq(rig_losses(LOSS_CONFIGS_FULL), 0);
	n += 2;
	atomic_fetch_add(&rig_dir->control->reset, 1);
	rig_until(configs_are_reset, &n, "no launches after a reset");
}
END_TEST

/* What there is no room for is counted, and what has its place is not hurt. */
START_TEST(test_configs_full)
{
	char name[16];

	rig_start();
	for (uint32_t i = 0; i < MAX_CONFIGS + 5; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		launch(name, 1);
	}
	ck_assert_uint_eq(rig_losses(LOSS_CONFIGS_FULL), 5);
	launch("k0", 1);
	ck_assert_uint_eq(rig_losses(LOSS_CONFIGS_FULL), 5);
	ck_assert_uint_eq(atomic_load(&collector->config[0].count), 2);
}
END_TEST

/* ---- full ---- */

enum { N_PARENTS = 600, N_BELOW = 500 }; /* more than there is room for */

START_TEST(test_nodes_full)
{
	uint32_t parents[N_PARENTS], id = 0, i, j;
	uint64_t n_lost;

	rig_start();
	for (i = 0; i < N_PARENTS; i++)
		parents[i] = node_intern(0, frame_intern(FRAME_SCOPE, numbered("f", i)));
	for (i = 0; i < N_PARENTS; i++)
		for (j = 0; j < N_BELOW && !rig_losses(LOSS_NODES_FULL); j++)
			id = node_intern(parents[i], frame_intern(FRAME_SCOPE, numbered("f", j)));
	ck_assert_uint_eq(rig_losses(LOSS_NODES_FULL), 1);
	ck_assert_uint_ge(table_n(&collector->nodes), MAX_NODES - RESERVED_NODES);
	ck_assert(node_is(id, "<other>"));
	/* What is there is found; what is new is folded where it would have been, and counted. */
	ck_assert_uint_eq(node_intern(0, frame_intern(FRAME_SCOPE, numbered("f", 7))), parents[7]);
	ck_assert_uint_eq(rig_losses(LOSS_NODES_FULL), 1);
	id = node_intern(parents[N_PARENTS - 1], frame_of("new"));
	ck_assert(node_is(id, "<other>"));
	ck_assert_uint_eq(collector->node[id].parent, parents[N_PARENTS - 1]);
	ck_assert_uint_eq(node_intern(parents[N_PARENTS - 1], frame_of("newer")), id);
	/* When even that is full, the parent takes it. */
	n_lost = rig_losses(LOSS_NODES_FULL);
	for (i = 0;
	     i < N_PARENTS * 200 && table_n(&collector->nodes) < MAX_NODES - RESERVED_AT_ROOT;
	     i++) {
		id = node_intern(parents[i / 200],
				 frame_intern(FRAME_SCOPE, numbered("f", i % 200)));
		node_intern(id, WIRE_NONE);
	}
	ck_assert_uint_eq(table_n(&collector->nodes), MAX_NODES - RESERVED_AT_ROOT);
	ck_assert_uint_gt(rig_losses(LOSS_NODES_FULL), n_lost);
	for (i = 0; i < N_PARENTS; i++)
		id = node_intern(parents[i], frame_of("last"));
	ck_assert_uint_lt(id, MAX_NODES);
	/* But what begins at the root is never the root's own, nor is what is launched in it. */
	id = node_intern(0, frame_of("the last of all"));
	ck_assert(node_is(id, "<other>"));
	id = node_intern(id, frame_of("its kernel"));
	ck_assert(node_is(id, "<other>"));
	ck_assert_uint_eq(node_intern(id, frame_of("deeper")), id);
	ck_assert_uint_eq(table_n(&collector->nodes), MAX_NODES);
}

START_TEST(test_strings_full)
{
	uint32_t i, id = 1;

	rig_start();
	for (i = 0; id && i < 2 * MAX_STRINGS; i++)
		id = numbered("x", i);
	ck_assert_uint_eq(id, 0);
	ck_assert_uint_eq(rig_losses(LOSS_STRINGS_FULL), 1);
	ck_assert_uint_ne(numbered("x", 5), 0);
	ck_assert_uint_eq(rig_losses(LOSS_STRINGS_FULL), 1);
	/* A scope that has no name left is still a scope. */
	ck_assert_int_eq(collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "nameless", 8), 0);
	ck_assert_int_eq(collect_pop(COLLECT_TAG_SCOPE), 0);
}

START_TEST(test_long_strings)
{
	size_t n = (size_t)3 << 19, i;
	char *text = malloc(n);
	uint32_t id;

	rig_start();
	memset(text, 'a', n);
	id = string_intern(text, n);
	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(collector->string[id].len, WIRE_TEXT_MAX);
	ck_assert_int_eq(collector->string[id].s[WIRE_TEXT_MAX - 17], '#');
	ck_assert_uint_eq(string_intern(text, n), id);
	ck_assert_uint_ne(string_intern(text, n - 1), id);
	text[n - 1] = 'b'; /* beyond what is kept: told apart by the hash */
	ck_assert_uint_ne(string_intern(text, n), id);
	for (i = 0; i < 80; i++) {
		text[0] = (char)i;
		string_intern(text, n);
	}
	ck_assert_uint_gt(rig_losses(LOSS_STRINGS_FULL), 0);
	free(text);
}

START_TEST(test_lanes_full)
{
	uint32_t device, shared, i;

	rig_start();
	device = device_intern(SOURCE_FAKE, 0);
	for (i = 0; i < MAX_STREAMS; i++)
		ck_assert_uint_eq(collector->lane[lane_intern(device, 1, i, 7)].stream, i);
	ck_assert_uint_eq(rig_losses(LOSS_LANES_FULL), 0);
	shared = lane_intern(device, 1, MAX_STREAMS, 7);
	ck_assert_uint_eq(collector->lane[shared].device, device);
	ck_assert_uint_eq(collector->lane[shared].stream, WIRE_NONE);
	ck_assert_uint_eq(lane_intern(device, 1, MAX_STREAMS + 1, 8), shared);
	ck_assert_uint_eq(rig_losses(LOSS_LANES_FULL), 2);
	/* The first ones go on, for new threads too. */
	ck_assert_uint_eq(collector->lane[lane_intern(device, 1, 3, 9)].stream, 3);
	for (i = 0; i < 2 * MAX_LANES; i++)
		ck_assert_uint_lt(lane_intern(device, 1, i % MAX_STREAMS, i + 100), MAX_LANES);
	ck_assert_uint_gt(rig_losses(LOSS_LANES_FULL), 2);
	/* Another device still gets one. */
	ck_assert_uint_eq(
		collector->lane[lane_intern(device_intern(SOURCE_FAKE, 1), 1, 1, 1)].device,
		device + 1);
}

START_TEST(test_contexts_full)
{
	uint32_t i, id = 0;

	rig_start();
	for (i = 0; id != 1 && i < 2 * MAX_CONTEXTS; i++)
		id = context_intern(0, i + 1, false, 0, 0);
	ck_assert_uint_eq(id, 1); /* the root */
	ck_assert_uint_eq(rig_losses(LOSS_CONTEXTS_FULL), 1);
	ck_assert_uint_ne(context_intern(0, 9, false, 0, 0), 1);
}

START_TEST(test_slots_full)
{
	uint32_t lanes[1024], parents[1024], i, j, id = 0;

	rig_start();
	for (i = 0; i < 1024; i++) {
		lanes[i] = lane_intern(WIRE_NONE, 0, 0, i);
		parents[i] = node_intern(0, frame_intern(FRAME_SCOPE, numbered("n", i)));
	}
	for (i = 0; i < 1024 && id != WIRE_NONE; i++)
		for (j = 0; j < 1024 && id != WIRE_NONE; j++)
			id = slot_intern(parents[i], lanes[j], SET_ID_HOST, 0);
	ck_assert_uint_eq(id, WIRE_NONE);
	/* Values without a place are counted. */
	ck_assert_uint_eq(rig_losses(LOSS_SLOTS_FULL), 1);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "late", 4);
	collect_metric_u64("late metric", 1, false);
	ck_assert_uint_eq(rig_losses(LOSS_SLOTS_FULL), 2);
	collect_pop(COLLECT_TAG_SCOPE);
	ck_assert_uint_eq(rig_losses(LOSS_SLOTS_FULL), 3);
}

START_TEST(test_small_tables_full)
{
	char name[32];
	uint32_t i;

	rig_start();
	for (i = 0; i < 2 * MAX_METRICS; i++) {
		snprintf(name, sizeof(name), "metric%u", i);
		collect_metric_u64(name, 1, false);
		note_add(NOTE_INFO, name);
		device_intern(SOURCE_FAKE, (int32_t)i);
	}
	ck_assert_uint_gt(rig_losses(LOSS_SLOTS_FULL), MAX_METRICS);
	ck_assert_uint_eq(device_intern(SOURCE_FAKE, 10000), MAX_DEVICES - 1);
	rig_until_sum("ROOT", METRIC_N_BUILTIN, 1);
}

TCase *collect_tables_case(void)
{
	TCase *c = tcase_create("tables");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_set_timeout(c, 120);
#ifndef PROTON_SANITIZED
	tcase_add_test(c, test_out_of_memory);
#endif
	tcase_add_test(c, test_race);
	tcase_add_test(c, test_race_values);
	tcase_add_test(c, test_shapes);
	tcase_add_test(c, test_shapes_of_long_names);
	tcase_add_test(c, test_configs);
	tcase_add_test(c, test_configs_full);
	tcase_add_test(c, test_nodes_full);
	tcase_add_test(c, test_strings_full);
	tcase_add_test(c, test_long_strings);
	tcase_add_test(c, test_lanes_full);
	tcase_add_test(c, test_contexts_full);
	tcase_add_test(c, test_records_apart);
	tcase_add_test(c, test_slots_full);
	tcase_add_test(c, test_small_tables_full);
	return c;
}

/* The type of a metric is what the model says, or the first value; what is no such number is none. */
START_TEST(test_metric_types)
{
	rig_start();
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "typed", 5);
	collect_metric_f64("direction", 1, false);
	collect_metric_f64("bytes", -1, false);
	collect_metric_f64("bytes", 0x1p64, false);
	collect_metric_f64("bytes", 4095.6, false);
	collect_metric_u64("own", 2, false);
	collect_metric_f64("own", 0.6, false);
	collect_metric_f64("own", -5, true);
	collect_pop(COLLECT_TAG_SCOPE);
	rig_until_sum("typed", METRIC_BYTES, 4096);
	rig_until_sum("typed", METRIC_N_BUILTIN + 1, 3);
	ck_assert_int_eq(rig_sum("typed", METRIC_DIRECTION), -1); /* none */
}
END_TEST

/* ---- scopes ---- */

static int push(uint64_t tag, const char *name)
{
	return collect_push(tag == COLLECT_TAG_SCOPE ? FRAME_SCOPE : FRAME_NVTX, tag, name,
			    strlen(name));
}

/* Names from the root to the present calling context. */
static const char *path(void)
{
	static char text[256];
	uint32_t nodes[16], n = 0, node = thread_state()->node;

	for (; node && n < 16; node = collector->node[node].parent)
		nodes[n++] = node;
	text[0] = '\0';
	while (n--) {
		strcat(text, "/");
		strcat(text,
		       collector->string[collector->frame[collector->node[nodes[n]].frame].string]
			       .s);
	}
	return text;
}

START_TEST(test_tags)
{
	uint64_t one = COLLECT_TAG_SCOPE, two = 4096;

	rig_start();
	ck_assert_int_eq(push(one, "a"), 0);
	ck_assert_int_eq(push(two, "b"), 1);
	ck_assert_int_eq(push(one, "c"), 2);
	ck_assert_int_eq(push(two, "d"), 3);
	ck_assert_str_eq(path(), "/a/b/c/d");
	ck_assert_int_eq(collect_depth(one), 2);
	ck_assert_int_eq(collect_depth(two), 2);
	ck_assert_int_eq(collect_pop(one), 3); /* out of the middle: what was above hangs lower */
	ck_assert_str_eq(path(), "/a/b/d");
	ck_assert_int_eq(collect_pop(one), 2);
	ck_assert_str_eq(path(), "/b/d");
	ck_assert_int_eq(collect_pop(one), -1);
	ck_assert_uint_eq(rig_losses(LOSS_SCOPE_MISMATCH), 1);
	ck_assert_str_eq(path(), "/b/d");
	ck_assert_int_eq(collect_pop(two), 1);
	ck_assert_int_eq(collect_pop(two), 0);
	ck_assert_str_eq(path(), "");
	ck_assert_int_eq(collect_pop(two), -1);
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	rig_until_sum("d", METRIC_CPU_COUNT, 1);
}

START_TEST(test_overflow)
{
	int i;

	rig_start();
	for (i = 0; i < MAX_DEPTH; i++)
		ck_assert_int_eq(push(COLLECT_TAG_SCOPE, "deep"), i);
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(push(COLLECT_TAG_SCOPE, "too deep"), -1);
	ck_assert_uint_eq(rig_losses(LOSS_TOO_DEEP), 10);
	for (i = 0; i < 10; i++) /* the exits of those that had no room */
		ck_assert_int_eq(collect_pop(COLLECT_TAG_SCOPE), MAX_DEPTH);
	for (i = MAX_DEPTH; i--;)
		ck_assert_int_eq(collect_pop(COLLECT_TAG_SCOPE), i);
	ck_assert_int_eq(collect_pop(COLLECT_TAG_SCOPE), -1);
	ck_assert_int_eq(push(COLLECT_TAG_SCOPE, "again"), 0);
	collect_pop(COLLECT_TAG_SCOPE);
	rig_until_sum("deep", METRIC_CPU_COUNT, MAX_DEPTH);
	ck_assert_int_eq(rig_sum("too deep", METRIC_CPU_COUNT), -1);
}

static uint32_t launch_node(void)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	return collector->context[sink->ops->launch(sink, NULL)].node;
}

static uint32_t main_node;

static void *adopt(void *arg)
{
	ck_assert_uint_eq(launch_node(), main_node);
	pthread_barrier_wait(&gate); /* main leaves its scope … */
	pthread_barrier_wait(&gate);
	ck_assert_uint_eq(launch_node(), 0);
	pthread_barrier_wait(&gate); /* … and enters another */
	pthread_barrier_wait(&gate);
	push(COLLECT_TAG_SCOPE, "mine");
	ck_assert(node_is(launch_node(), "mine"));
	ck_assert_uint_eq(collector->node[launch_node()].parent, 0);
	collect_pop(COLLECT_TAG_SCOPE);
	ck_assert(node_is(launch_node(), "second"));
	return arg;
}

START_TEST(test_adopt)
{
	pthread_t thread;

	rig_start();
	pthread_barrier_init(&gate, NULL, 2);
	push(COLLECT_TAG_SCOPE, "first");
	main_node = thread_state()->node;
	ck_assert_uint_eq(launch_node(), main_node);
	pthread_create(&thread, NULL, adopt, NULL);
	pthread_barrier_wait(&gate);
	collect_pop(COLLECT_TAG_SCOPE);
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	push(COLLECT_TAG_SCOPE, "second");
	pthread_barrier_wait(&gate);
	pthread_join(thread, NULL);
}

static bool launch_is_below(const char *name, uint32_t parent)
{
	return node_is(launch_node(), name) && collector->node[launch_node()].parent == parent;
}

/* Scopes of a vendor's, on a thread that has none: below the main thread's, in whatever order they and
 * the program's own are left. */
static void *enter_adopted(void *arg)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	sink->ops->enter(sink, "region", 6);
	ck_assert(launch_is_below("region", main_node));
	push(COLLECT_TAG_SCOPE, "mine");
	sink->ops->leave(sink);
	ck_assert(launch_is_below("mine", main_node));
	sink->ops->enter(sink, "again", 5);
	collect_pop(COLLECT_TAG_SCOPE);
	ck_assert(launch_is_below("again", main_node));
	sink->ops->leave(sink);
	ck_assert_uint_eq(launch_node(), main_node);
	push(COLLECT_TAG_SCOPE, "mine");
	sink->ops->enter(sink, "within", 6);
	ck_assert_uint_eq(collector->node[collector->node[launch_node()].parent].parent, 0);
	sink->ops->leave(sink);
	sink->ops->leave(sink); /* of none */
	ck_assert(launch_is_below("mine", 0));
	ck_assert_uint_eq(rig_losses(LOSS_SCOPE_MISMATCH), 1);
	return arg;
}

START_TEST(test_enter)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	pthread_t thread;

	rig_start();
	sink->ops->enter(sink, "outer", 5);
	main_node = thread_state()->node;
	ck_assert(launch_is_below("outer", 0));
	pthread_create(&thread, NULL, enter_adopted, NULL);
	pthread_join(thread, NULL);
	ck_assert(launch_is_below("outer", 0));
	sink->ops->leave(sink);
	rig_until_sum("outer", METRIC_CPU_COUNT, 1);
	rig_until_sum("within", METRIC_CPU_COUNT, 1);
}

static void *leave_open(void *arg)
{
	push(COLLECT_TAG_SCOPE, "left open");
	launch_node();
	return arg;
}

/* A thread that ends gives its place to the next, which starts with an empty stack. */
START_TEST(test_thread_ends)
{
	pthread_t thread;
	uint32_t n;

	rig_start();
	launch_node();
	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, leave_open, NULL);
		pthread_join(thread, NULL);
	}
	n = atomic_load(&collector->n_threads);
	ck_assert_uint_le(n, 3); /* this one, the others, the sender */
	ck_assert_int_eq(collect_depth(COLLECT_TAG_SCOPE), 0);
}

static struct whole_graph *executable(uint32_t graph)
{
	const struct graph_member m = {.node = (uint64_t)graph << 32 | 1,
				       .graph = graph,
				       .number = graph,
				       .part = GRAPH_KERNEL};

	graph_node_copy(0, &m);
	graph_node_copy(0, &m); /* told of once more: it is the same node */
	return whole_graph_find(graph);
}

enum { N_GRAPHS = 100000 };

/* Of graphs that live the oldest are forgotten: their launches are shown all the same. */
START_TEST(test_more_graphs_than_are_kept)
{
	const char *name = "";
	uint32_t n = 0;

	rig_start();
	for (uint32_t i = 1; i <= N_GRAPHS; i++) {
		struct whole_graph *g = executable(i);

		ck_assert_ptr_nonnull(g);
		ck_assert_uint_eq(whole_graph_n_kernels(g), 1);
	}
	for (uint32_t i = 1; i <= N_GRAPHS; i++)
		n += whole_graph_find(i) != NULL;
	ck_assert_uint_ge(n, 10000);
	ck_assert_uint_lt(n, N_GRAPHS);
	ck_assert_str_eq(collector->string[whole_graph_name(whole_graph_find(N_GRAPHS))].s,
			 "<graph: 1 kernel>");
	for (uint32_t i = 0; i < 2000; i++) { /* of other kernels each: more than are told apart */
		const struct graph_member m = {.node = (uint64_t)(N_GRAPHS + i + 1) << 32 | 1,
					       .graph = N_GRAPHS + i + 1,
					       .number = N_GRAPHS + i + 1,
					       .part = GRAPH_KERNEL,
					       .what = i + 1};

		graph_node_put(&m, 0);
		whole_graph_copy(&m, 0, 0, 0, false);
		name = collector->string[whole_graph_name(whole_graph_find(m.graph))].s;
	}
	ck_assert_str_eq(name, "<graph other: 1 kernel>");
	ck_assert_str_eq(collector->string[whole_graph_name(NULL)].s, "<graph>");
	ck_assert_uint_eq(atomic_load(&thread_state()->losses[LOSS_SLOTS_FULL]), 0);
}
END_TEST

/* The first node that is told of was forgotten, for others took its place: what it runs is where that was captured. */
START_TEST(test_an_update_of_a_forgotten_node)
{
	enum { ONE = 1 << 20, OTHER = ONE + 1, EXEC = ONE + 2, N_OTHERS = 1 << 19 };
	const struct graph_member one = {.node = UINT64_C(1) << 40, .number = ONE, .what = 5},
				  other = {.node = UINT64_C(1) << 41, .number = OTHER, .what = 7},
				  exec = {.node = 3, .graph = EXEC, .number = EXEC, .what = 5};
	uint32_t here, there;

	rig_start();
	push(COLLECT_TAG_SCOPE, "here");
	here = launch_node();
	push(COLLECT_TAG_SCOPE, "there");
	there = launch_node();
	graph_node_put(&one, here);
	graph_node_copy(one.node, &exec);
	ck_assert_uint_eq(whole_graph_made_at(whole_graph_find(EXEC)), here);
	for (uint64_t i = 0; i < N_OTHERS; i++)
		graph_node_put(&(struct graph_member){.node = 1000 + i, .number = 1}, here);
	ck_assert_uint_eq(graph_node_find(exec.node).made_at, WIRE_NONE);
	graph_node_put(&other, there);
	graph_node_updated(other.node, &exec, true);
	ck_assert_uint_eq(whole_graph_made_at(whole_graph_find(EXEC)), there);
	ck_assert_uint_eq(graph_node_find(exec.node).made_at, there);
	ck_assert_msg(
		strstr(collector->string[whole_graph_name(whole_graph_find(EXEC))].s, "changed"),
		"a form that nobody knows");
}
END_TEST

/* One that lives is kept, however many others are made and go. */
START_TEST(test_graphs_that_are_gone)
{
	rig_start();
	ck_assert_ptr_nonnull(executable(1));
	for (uint32_t i = 2; i <= N_GRAPHS; i++) {
		ck_assert_ptr_nonnull(executable(i));
		whole_graph_gone(i);
		ck_assert_ptr_nonnull(whole_graph_find(i)); /* its record may come yet */
	}
	ck_assert_ptr_nonnull(whole_graph_find(1));
	ck_assert_uint_eq(whole_graph_n_nodes(whole_graph_find(1)), 1);
}
END_TEST

/* What a graph that runs later will say is not of the time when it was captured. */
START_TEST(test_capture_in_a_pause)
{
	const struct node_value *values;
	const struct said *part;
	struct thread_state *t;
	uint32_t n = 0, slots;

	rig_start();
	t = thread_state();
	pause_set(true);
	graph_capturing(t, t, true);
	graph_captured(t, &(struct graph_member){.node = 5});
	collect_metric_u64("rows", 3, false);
	graph_capturing(t, t, false);
	slots = table_n(&collector->slots);
	collect_metric_u64("rows", 4, false);
	ck_assert_uint_eq(table_n(&collector->slots), slots);
	part = graph_node_find(5).said;
	ck_assert_ptr_nonnull(part);
	values = graph_node_values(&part, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(values[0].value.v.u64, 3);
	pause_set(false);
}
END_TEST

TCase *collect_scopes_case(void)
{
	TCase *c = tcase_create("scopes");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, test_tags);
	tcase_add_test(c, test_overflow);
	tcase_add_test(c, test_adopt);
	tcase_add_test(c, test_enter);
	tcase_add_test(c, test_thread_ends);
	tcase_add_test(c, test_capture_in_a_pause);
	tcase_add_test(c, test_more_graphs_than_are_kept);
	tcase_add_test(c, test_an_update_of_a_forgotten_node);
	tcase_add_test(c, test_graphs_that_are_gone);
	tcase_add_test(c, test_metric_types);
	return c;
}
