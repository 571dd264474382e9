/* SPDX-License-Identifier: MIT */
/* Names that only count up, and operators with attributes. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/internal.h"
#include "collect/scope_names.h"
#include "core/alike.h"
#include "core/fold.h"
#include "test_collect.h"

enum { N_KEPT = 128, N_KEPT_STEPS = 16, NVTX_TAG = 4096 };

/* ---- operators ---- */

START_TEST(test_bare_names)
{
	static const struct {
		const char *bare, *rest;
	} names[] = {
		{"aten::add", ", op_id = 17"},
		{"AddmmBackward0", ", seq = 4, op_id = 27"},
		{"aten::linear", ", seq = -1, sizes = [[2, 3], [], [4]]"},
		{"aten::mm",
		 ", seq = 4, op_id = 5, sizes = [[2, 3], [3, 4]], input_op_ids = [(3,0), (4,1)]"},
		{"aten::cat", ", sizes = [[2, 3], [3"}, /* of a text that was cut */
		{"AddBackward", ", stashed seq=12"},
		{"add", ", seq=12"},
		{"Optimizer.step#SGD.step", ", op_id = 3"},
		{"f<int, 3>", ", op_id = 3"},
		{"at, seq = 5, then", ", op_id = 3"},
		/* These are names. */
		{"aten::add, op_id = ", ""},
		{"aten::add, op_id = x", ""},
		{"aten::add, op_id = 3 and more", ""},
		{"aten::add, sizes = [[2, 3] x", ""},
		{"batch, size = 3", ""},
		{"seq = 5", ""},
		{", seq = 5", ""},
		{"a, b", ""},
		{"a,", ""},
		{"", ""},
	};
	char name[256];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n =
			(size_t)snprintf(name, sizeof(name), "%s%s", names[i].bare, names[i].rest);

		ck_assert_msg(scope_bare_len(name, n) == strlen(names[i].bare), "'%s': %zu", name,
			      scope_bare_len(name, n));
	}
}

START_TEST(test_operators)
{
	char name[64];

	rig_start();
	for (unsigned i = 0; i < 60000; i++) {
		size_t n = (size_t)snprintf(name, sizeof(name), "aten::add, op_id = %u", i);

		collect_push(FRAME_NVTX, NVTX_TAG, name, n);
		n = (size_t)snprintf(name, sizeof(name), "AddmmBackward0, seq = %u, op_id = %u",
				     i / 2, i);
		rig_scope(name);
		collect_pop(NVTX_TAG);
	}
	rig_until_sum("aten::add", METRIC_CPU_COUNT, 60000);
	rig_until_sum("AddmmBackward0", METRIC_CPU_COUNT, 60000);
	ck_assert_uint_eq(rig_session->n_nodes, 3);
	ck_assert_uint_eq(session_loss_total(rig_session), 0);
}

/* ---- names ---- */

START_TEST(test_patterns)
{
	static const struct {
		const char *name, *pattern;
		bool path;
		uint64_t number;
	} names[] = {
		{"step 17", "step #", false, 17},
		{"step 017", "step #", false, 17},
		{"17", "#", false, 17},
		{"epoch 3 step 7", "epoch # step #", false, (UINT64_C(3) << 24) + 7},
		{"layers.3", "layers.#", true, 3},
		{"encoder.layers.3.self_attn", "encoder.layers.#.self_attn", true, 3},
		{"layer1.conv2", "layer#.conv#", false, (UINT64_C(1) << 24) + 2},
		{"loss 0.25", "loss #.#", false, 25},
		{"0.25", "#.#", false, 25},
		{"step", "step", false, 0},
		{"a.b", "a.b", false, 0},
		{"", "", false, 0},
	};
	char out[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = names[i].name;
		uint64_t number;

		ck_assert_uint_eq(alike_pattern(name, out, sizeof(out)), strlen(names[i].pattern));
		ck_assert_str_eq(out, names[i].pattern);
		ck_assert_msg(alike_is_path(name, strlen(name)) == names[i].path, "%s", name);
		ck_assert(alike_number(name, strlen(name), &number) ==
			  !!strpbrk(name, "0123456789"));
		ck_assert_uint_eq(number, names[i].number);
	}
	ck_assert_uint_eq(alike_pattern("step 17", out, 4), 3);
	ck_assert_str_eq(out, "ste");
}

static void scopes(const char *format, unsigned from, unsigned to)
{
	char name[64];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof(name), format, i);
		rig_scope(name);
	}
}

/* Sum of the metric over all nodes below the root. */
static uint64_t sum_of_all(uint32_t metric)
{
	union metric_value v;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < rig_session->n_nodes; i++)
		if (session_value(rig_session, i, metric, &v))
			sum += v.u64;
	return sum;
}

static bool sum_is(void *arg)
{
	return sum_of_all(METRIC_CPU_COUNT) == *(uint64_t *)arg;
}

static long n_folded(const char *name)
{
	uint32_t metric = metric_table_find(rig_session->metrics, FOLD_METRIC);

	return metric == METRIC_NONE ? -1 : rig_sum(name, metric);
}

START_TEST(test_counting)
{
	uint64_t n = 0;
	char text[FOLDED_TEXT_MAX];

	rig_start();
	scopes("block %u", 0, 5000);
	scopes("block %u", 0, 5000); /* again: no new names */
	scopes("layers.%u", 0, 500);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "main", 4);
	scopes("block %u", 4000, 4200);
	scopes("few %u", 0, N_KEPT);
	collect_pop(COLLECT_TAG_SCOPE);
	n = 10000 + 500 + 200 + N_KEPT + 1;
	rig_until(sum_is, &n, "all scopes");
	ck_assert_int_eq(rig_sum("block 127", METRIC_CPU_COUNT), 2);
	ck_assert_int_eq(rig_sum("block 128", METRIC_CPU_COUNT), -1);
	ck_assert_int_eq(rig_sum("block #", METRIC_CPU_COUNT), 10000 - 2 * N_KEPT + 200 - N_KEPT);
	ck_assert_int_eq(n_folded("block #"), 5000 - N_KEPT + 200 - N_KEPT);
	ck_assert_int_eq(rig_sum("layers.499", METRIC_CPU_COUNT), 1);
	ck_assert_int_eq(rig_sum("few 127", METRIC_CPU_COUNT), 1);
	ck_assert_int_eq(rig_sum("few #", METRIC_CPU_COUNT), -1);
	ck_assert_str_eq(folded_text(rig_session, text),
			 "4944 names that only count up are in 2 rows, as 'block #'");
	ck_assert_uint_eq(session_loss_total(rig_session), 0);
}

/* Of what is called so there are thousands. */
START_TEST(test_steps)
{
	uint64_t n = 3 * 1000 + N_KEPT;

	rig_start();
	scopes("step %u", 0, 1000);
	scopes("ProfilerStep#%u", 0, 1000);
	scopes("Iteration %u", 0, 1000);
	scopes("epoch %u", 0, N_KEPT); /* has steps in it */
	rig_until(sum_is, &n, "all scopes");
	ck_assert_int_eq(rig_sum("step 15", METRIC_CPU_COUNT), 1);
	ck_assert_int_eq(rig_sum("step 16", METRIC_CPU_COUNT), -1);
	ck_assert_int_eq(n_folded("step #"), 1000 - N_KEPT_STEPS);
	ck_assert_int_eq(n_folded("ProfilerStep##"), 1000 - N_KEPT_STEPS);
	ck_assert_int_eq(n_folded("Iteration #"), 1000 - N_KEPT_STEPS);
	ck_assert_int_eq(rig_sum("epoch #", METRIC_CPU_COUNT), -1);
}

/* However they come: down, without an order, from several numbers. */
START_TEST(test_counts_of_names)
{
	char name[64];
	uint64_t n = 3 * 1000 + N_KEPT;

	rig_start();
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "down %u", 1000 - i);
		rig_scope(name);
		snprintf(name, sizeof(name), "any %u", i * 7919 % 1000);
		rig_scope(name);
		snprintf(name, sizeof(name), "epoch %u step %u", i / 100, i % 100);
		rig_scope(name);
	}
	scopes("any %u", 0, N_KEPT); /* that came before, in a row of their own or not */
	rig_until(sum_is, &n, "all scopes");
	ck_assert_int_eq(n_folded("down #"), 1000 - N_KEPT);
	ck_assert_int_eq(n_folded("any #"), 1000 - N_KEPT);
	ck_assert_int_eq(n_folded("epoch # step #"), 1000 - N_KEPT_STEPS);
}

/* 100,000 names without an order, each once and then again. */
START_TEST(test_count_of_many)
{
	enum { N = 100000 };
	uint64_t n = 2 * N;
	char name[64];

	rig_start();
	for (unsigned i = 0; i < 2 * N; i++) {
		snprintf(name, sizeof(name), "any %u", (unsigned)(i * UINT64_C(7919) % N));
		rig_scope(name);
	}
	rig_until(sum_is, &n, "all scopes");
	ck_assert_int_le(n_folded("any #"), N - N_KEPT);
	ck_assert_int_ge(n_folded("any #"), N - N_KEPT - 5); /* some are taken for others */
}

/* Names of 600 bytes that differ in letters at the end, once each; and those that count up there. */
START_TEST(test_long_names)
{
	uint64_t n = 26 * 26 + 2 * 500;
	char name[640];

	rig_start();
	memset(name, 'a', 600);
	for (int i = 0; i < 26 * 26; i++) {
		snprintf(name + 600, sizeof(name) - 600, "%c%c1", 'a' + i % 26, 'a' + i / 26);
		rig_scope(name);
	}
	for (unsigned i = 0; i < 2 * 500; i++) {
		snprintf(name + 600, sizeof(name) - 600, " %s %u", i % 2 ? "up" : "on", i / 2);
		rig_scope(name);
	}
	rig_until(sum_is, &n, "all scopes");
	ck_assert_uint_eq(rig_session->n_nodes, 1 + 26 * 26 + 2 * (N_KEPT + 1));
}

START_TEST(test_all_names)
{
	uint64_t n = 1000;
	char text[FOLDED_TEXT_MAX];

	rig_start();
	rig_dir->control->wanted.all_names = 1;
	scopes("block %u", 0, 1000);
	rig_until(sum_is, &n, "all scopes");
	ck_assert_uint_eq(rig_session->n_nodes, 1001);
	ck_assert_ptr_null(folded_text(rig_session, text));
}

/* Ranges and marks belong to the process, and count up there. */
START_TEST(test_ranges)
{
	char name[64];

	rig_start();
	for (unsigned i = 0; i < 1000; i++) {
		size_t n = (size_t)snprintf(name, sizeof(name), "request %u", i);

		collect_range(i % 2 ? FRAME_RANGE : FRAME_MARK, name, n, 10);
	}
	rig_until_sum("request #", METRIC_CPU_COUNT, 1000 - 2 * N_KEPT);
	ck_assert_int_eq(n_folded("request #"), 1000 - 2 * N_KEPT);
}

/* A scope is taken out from below others: these hang one level higher, folded or not. */
START_TEST(test_rehung)
{
	rig_start();
	scopes("block %u", 0, 200);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "outer", 5);
	collect_push(FRAME_NVTX, NVTX_TAG, "block 500", 9);
	collect_push(FRAME_NVTX, NVTX_TAG, "block 501", 9);
	collect_pop(COLLECT_TAG_SCOPE);
	collect_pop(NVTX_TAG);
	collect_pop(NVTX_TAG);
	rig_until_sum("block 500", METRIC_CPU_COUNT, 1);
	rig_until_sum("block 501", METRIC_CPU_COUNT, 1);
	rig_until_sum("block #", METRIC_CPU_COUNT, 200 - N_KEPT);
}

/* ---- threads, signals, forks ---- */

enum { N_THREADS = 8, N_EACH = 3000 };
static pthread_barrier_t gate;

static void *scopes_all(void *arg)
{
	for (unsigned i = 0; i < N_EACH; i += 100) {
		pthread_barrier_wait(&gate);
		scopes("block %u", i, i + 100);
	}
	return arg;
}

START_TEST(test_race_of_names)
{
	uint64_t n = N_THREADS * N_EACH, n_rows = 0;
	pthread_t threads[N_THREADS];

	rig_start();
	pthread_barrier_init(&gate, NULL, N_THREADS);
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, scopes_all, NULL), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	rig_until(sum_is, &n, "all scopes");
	for (uint32_t i = 1; i < rig_session->n_nodes; i++)
		n_rows += strcmp(session_node_name(rig_session, i), "block #") != 0;
	ck_assert_uint_le(n_rows, N_KEPT);
	ck_assert_uint_gt(n_rows, N_KEPT - N_THREADS); /* one that lost a race came too late */
	ck_assert_int_ge(n_folded("block #"), N_EACH - (int)n_rows - 1);
	ck_assert_int_le(n_folded("block #"), N_EACH);
}

static volatile unsigned n_in_handler;

static void on_signal(int signal)
{
	char name[32] = "handler 0000000";

	for (unsigned i = n_in_handler, at = 14; i; i /= 10)
		name[at--] = (char)('0' + i % 10);
	n_in_handler++;
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, name, 15);
	collect_pop(COLLECT_TAG_SCOPE);
}

/* At any point of what the thread itself does with a name. */
START_TEST(test_signals)
{
	struct sigaction action = {.sa_handler = on_signal};
	pid_t parent = getpid(), child;
	uint64_t n_all;
	unsigned n = 0;
	int status;

	rig_start();
	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	if (!child) {
		while (kill(parent, SIGUSR1) == 0 && getppid() == parent)
			;
		_exit(0);
	}
	for (; n < 1000 || n_in_handler < 2000; n += 100)
		scopes("block %u", n, n + 100);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	action.sa_handler = SIG_IGN;
	sigaction(SIGUSR1, &action, NULL);
	n_all = n + n_in_handler; /* some of these below a step */
	rig_until(sum_is, &n_all, "all scopes");
	ck_assert_int_eq(rig_sum("block #", METRIC_CPU_COUNT), (long)n - N_KEPT);
	ck_assert_int_eq(n_folded("block #"), (long)n - N_KEPT);
	ck_assert_uint_eq(rig_losses(LOSS_SCOPE_MISMATCH), 0);
}

/* What the parent counted is not counted again; how many names a row stands for still is. */
START_TEST(test_fork)
{
	uint64_t n = 1000 + 500;
	pid_t child;
	int status;

	rig_start();
	scopes("block %u", 0, 1000);
	child = fork();
	if (!child) {
		scopes("block %u", 0, 500);
		sender_finish();
		_exit(0);
	}
	rig_until(sum_is, &n, "the scopes of both");
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(n_folded("block #"), 1000 - N_KEPT);
}

/* ---- full ---- */

/* A letter a digit: names of which no two are alike. */
static void spell(unsigned long i, char name[static 16])
{
	memset(name, 'a', 8);
	for (unsigned at = 7; i; i /= 26, at--)
		name[at] = (char)('a' + i % 26);
	name[8] = '\0';
}

/* 1,000,000 names, that count and that do not: each is counted somewhere, and the tables stay as large
 * as they are. */
START_TEST(test_million)
{
	uint64_t n = 2000000;
	char name[32];

	rig_start();
	for (unsigned i = 0; i < 1000000; i++) {
		snprintf(name, sizeof(name), "block %u", i);
		rig_scope(name);
		spell(i, name);
		rig_scope(name);
		if (i % 5000 == 0)
			rig_pump();
	}
	ck_assert_uint_le(table_n(&collector->nodes), MAX_NODES);
	ck_assert_uint_le(table_n(&collector->crowds), 1);
	rig_until(sum_is, &n, "all scopes");
	ck_assert_int_eq(rig_sum("block #", METRIC_CPU_COUNT), 1000000 - N_KEPT);
	ck_assert_int_eq(n_folded("block #"), 1000000 - N_KEPT);
	ck_assert_int_ge(rig_sum("<other>", METRIC_CPU_COUNT), 1000000 - MAX_NODES);
	ck_assert_int_eq(rig_sum("", METRIC_CPU_COUNT), -1); /* none is left without a name */
}

TCase *collect_names_case(void)
{
	TCase *c = tcase_create("names");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, test_bare_names);
	tcase_add_test(c, test_operators);
	tcase_add_test(c, test_patterns);
	tcase_add_test(c, test_counting);
	tcase_add_test(c, test_steps);
	tcase_add_test(c, test_counts_of_names);
	tcase_add_test(c, test_count_of_many);
	tcase_add_test(c, test_long_names);
	tcase_add_test(c, test_all_names);
	tcase_add_test(c, test_ranges);
	tcase_add_test(c, test_rehung);
	tcase_add_test(c, test_race_of_names);
	tcase_add_test(c, test_signals);
	if (WITH_FORK)
		tcase_add_test(c, test_fork);
	tcase_add_test(c, test_million);
	return c;
}
