/* SPDX-License-Identifier: MIT */
/* States, launches that the program names, and what stands behind names of metrics. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/util.h"
#include "collect/internal.h"
#include "test_collect.h"

static uint32_t launch(const char *kernel)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = kernel, .start_ns = 1, .end_ns = 6};

	a.launch = sink->ops->launch(sink, NULL);
	sink->ops->record(sink, &a);
	return a.launch;
}

static void push(const char *name)
{
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, name, strlen(name));
}

static void state(const char *name)
{
	collect_state(name, name ? strlen(name) : 0);
}

static void begin(const char *name)
{
	ck_assert_int_eq(collect_launch_begin(name, strlen(name)), 0);
}

static void deliver(void)
{
	ck_assert(sender_deliver());
	rig_pump();
}

/* A path from the root, with "/" between names. */
static uint32_t node_at(const char *path)
{
	char text[256], *name, *rest = text;
	uint32_t node = SESSION_ROOT, child;

	snprintf(text, sizeof(text), "%s", path);
	while ((name = strsep(&rest, "/"))) {
		for (child = rig_session->nodes[node].first_child;
		     child != SESSION_NONE &&
		     strcmp(session_node_name(rig_session, child), name) != 0;
		     child = rig_session->nodes[child].next_sibling)
			;
		if (child == SESSION_NONE)
			return SESSION_NONE;
		node = child;
	}
	return node;
}

static double value_at(const char *path, const char *metric)
{
	uint32_t node = node_at(path), id = metric_table_find(rig_session->metrics, metric);
	union metric_value v;

	ck_assert_msg(node != SESSION_NONE, "no '%s'", path);
	ck_assert_msg(id != METRIC_NONE, "no metric '%s'", metric);
	if (!session_value(rig_session, node, id, &v))
		return -1;
	return metric_number(metric_table_get(rig_session->metrics, id), v);
}

START_TEST(there_is_one_state)
{
	uint32_t without, within;

	rig_start();
	push("s");
	without = launch("k");
	state("one");
	within = launch("k");
	ck_assert_uint_ne(within, without);
	ck_assert_uint_eq(launch("k"), within);
	state("two"); /* it does not nest */
	launch("k");
	push("inner"); /* scopes stand above it */
	launch("k");
	collect_pop(COLLECT_TAG_SCOPE);
	state(NULL); /* nor is there one below it */
	ck_assert_uint_eq(launch("k"), without);
	state(NULL);
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	ck_assert(value_at("s/k", "count") == 2);
	ck_assert(value_at("s/one/k", "count") == 2);
	ck_assert(value_at("s/two/k", "count") == 1);
	ck_assert(value_at("s/inner/two/k", "count") == 1);
	ck_assert_uint_eq(session_node_kind(rig_session, node_at("s/one")), FRAME_STATE);
}
END_TEST

static void *thread_in_state(void *arg)
{
	launch("k"); /* not the state of the thread before, nor of the main one */
	state(arg);
	launch("k");
	return NULL;
}

START_TEST(states_are_threads_own)
{
	static char other[] = "other";
	pthread_t thread;

	rig_start();
	state("main");
	launch("k");
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, thread_in_state, other), 0);
		pthread_join(thread, NULL);
	}
	deliver();
	ck_assert(value_at("main/k", "count") == 1);
	ck_assert(value_at("k", "count") == 3);
	ck_assert(value_at("other/k", "count") == 3);
}
END_TEST

START_TEST(launches_have_names_and_values)
{
	rig_start();
	push("s");
	begin("matmul");
	collect_metric_f64("flops", 100, false);
	collect_metric_u64("bytes", 64, false);
	state("st"); /* where it comes from is not known before it comes */
	for (int i = 0; i < 3; i++)
		launch("_Z1kv");
	collect_metric_f64("flops", 11, false);
	ck_assert_int_eq(collect_launch_end(), 0);
	ck_assert_int_eq(collect_launch_end(), -1);
	launch("_Z1kv");
	collect_metric_u64("bytes", 5, false);
	state(NULL);
	/* Without a name values go where it is launched from; nothing is launched; another ends it. */
	begin("");
	collect_metric_f64("flops", 1, false);
	launch("_Z1kv");
	begin("idle");
	collect_metric_f64("flops", 7, false);
	begin("after");
	collect_metric_f64("flops", 8, false);
	launch("_Z1kv");
	collect_launch_end();
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	ck_assert(value_at("s/st/matmul", "count") == 3);
	ck_assert(value_at("s/st/matmul", "flops") == 111);
	ck_assert(value_at("s/st/matmul", "bytes") == 64);
	ck_assert_uint_eq(session_node_kind(rig_session, node_at("s/st/matmul")), FRAME_KERNEL);
	ck_assert(value_at("s/st/_Z1kv", "count") == 1);
	ck_assert(value_at("s/st", "bytes") == 5); /* a state is a part of where a metric is */
	ck_assert(value_at("s", "flops") == 1);
	ck_assert(value_at("s/_Z1kv", "count") == 1);
	ck_assert(value_at("s/idle", "flops") == 7);
	ck_assert(value_at("s/after", "flops") == 8);
	ck_assert(value_at("s/after", "count") == 1);
	ck_assert_uint_eq(rig_losses(LOSS_SCOPE_MISMATCH), 1);
}
END_TEST

static void *ends_within(void *arg)
{
	push("s");
	state("st");
	begin(arg);
	collect_metric_u64("bytes", 3, false);
	return NULL;
}

/* What a thread said of a launch that never came is kept; the next thread with its place has none of it. */
START_TEST(threads_end_within)
{
	static char never[] = "never";
	pthread_t thread;

	rig_start();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, ends_within, never), 0);
		pthread_join(thread, NULL);
	}
	ck_assert_int_eq(pthread_create(&thread, NULL, thread_in_state, never), 0);
	pthread_join(thread, NULL);
	deliver();
	ck_assert(value_at("s/never", "bytes") == 6);
	ck_assert(value_at("k", "count") == 1);
	ck_assert(value_at("never/k", "count") == 1);
}
END_TEST

/* Records of one name and context, by symbols that differ: the cache of slots must not mix them up. */
START_TEST(many_names)
{
	char name[16], path[32];

	rig_start();
	push("s");
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "n%d", i);
			begin(name);
			launch(i % 2 ? "odd" : "even");
			launch(i % 2 ? "odd" : "even");
			collect_launch_end();
			launch("odd");
		}
	deliver();
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "s/n%d", i);
		ck_assert(value_at(path, "count") == 6);
	}
	ck_assert(value_at("s/odd", "count") == 300);
	ck_assert_uint_eq(node_at("s/even"), SESSION_NONE);
}
END_TEST

/* More values than are kept for a launch are the calling context's. */
START_TEST(many_values)
{
	char name[16];

	rig_start();
	push("s");
	begin("k");
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		collect_metric_u64(name, 1, false);
	}
	launch("x");
	collect_launch_end();
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	ck_assert(value_at("s/k", "m15") == 1);
	ck_assert(value_at("s", "m16") == 1);
	ck_assert(value_at("s/k", "m19") == -1);
}
END_TEST

START_TEST(marks_of_metrics)
{
	static const struct {
		const char *given, *name;
		uint8_t scope, add;
		double sum;
	} metrics[] = {
		{"wait (ns)(exc)", "wait (ns)", METRIC_EXCLUSIVE, METRIC_SUM, 3},
		{"rate (pty)", "rate", METRIC_PROPERTY, METRIC_LAST, 2},
		{"sum (inc)", "sum (inc)", METRIC_INCLUSIVE, METRIC_SUM, 3},
		{"(exc)", "(exc)", METRIC_EXCLUSIVE, METRIC_SUM, 3}, /* nothing would be left */
	};
	char longer[300];

	rig_start();
	push("s");
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		collect_metric_f64(metrics[i].given, 1, false);
		collect_metric_f64(metrics[i].given, 2, false);
	}
	memset(longer, 'x', sizeof(longer));
	memcpy(longer + sizeof(longer) - 6, "(exc)", 6);
	collect_metric_f64(longer, 1, false);
	collect_metric_f64("     (pty)", 1, false);
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		uint32_t id = metric_table_find(rig_session->metrics, metrics[i].name);
		const struct metric *m = metric_table_get(rig_session->metrics, id);

		ck_assert_msg(m != NULL, "%s", metrics[i].name);
		ck_assert_uint_eq(m->scope, metrics[i].scope);
		ck_assert_uint_eq(m->add, metrics[i].add);
		ck_assert(value_at("s", metrics[i].name) == metrics[i].sum);
	}
	ck_assert(value_at("s", longer) == 1);
	ck_assert_str_eq(metric_table_get(rig_session->metrics, METRIC_N_BUILTIN)->unit, "ns");
}
END_TEST

TCase *collect_states_case(void)
{
	TCase *t = tcase_create("states");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, NULL, rig_close);
	tcase_add_test(t, there_is_one_state);
	tcase_add_test(t, states_are_threads_own);
	tcase_add_test(t, launches_have_names_and_values);
	tcase_add_test(t, threads_end_within);
	tcase_add_test(t, many_names);
	tcase_add_test(t, many_values);
	tcase_add_test(t, marks_of_metrics);
	return t;
}
