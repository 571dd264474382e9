/* SPDX-License-Identifier: MIT */
/* Fuzz target: any two profiles, with a NUL between them (or one, which is then compared with
 * itself), are merged, compared and paired. The corpus is tests/fuzz/corpus_pair.
 *
 *   make fuzz-pair      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/diff.h"
#include "core/merge.h"
#include "core/pair.h"
#include "core/ranks.h"
#include "harness.h"

/* ---- merge ---- */

static void rank(const struct session *s)
{
	for (uint32_t m = 0; m < metric_table_count(s->metrics); m++) {
		struct spread_row *sorted;
		struct ranks ranks;
		uint32_t n;
		int r = ranks_init(&ranks, s, m, NULL);

		if (r == -EINVAL)
			continue;
		if (r < 0)
			abort();
		sorted = must(ranks_sorted(&ranks, s, &n));
		for (uint32_t i = 0; i < n; i++)
			if (sorted[i].node >= s->n_nodes)
				abort();
		free(sorted);
		ranks_done(&ranks);
	}
}

static void add(struct merge *m, const struct session *s, const char *name)
{
	struct merge_options options;
	char run[64];
	int r;

	merge_guess(name, run, sizeof(run), &options);
	r = merge_add(m, s, &options);
	if (r < 0 && r != -EEXIST)
		abort();
}

static void merge(const struct session *a, const struct session *b, bool by_name)
{
	struct session *whole = must(session_new());
	struct merge *m = must(merge_new(whole));
	size_t n_nodes;

	if (by_name)
		merge_by_name(m);
	add(m, a, "a.rank_0.part_1.hatchet");
	add(m, b, "b.rank_1.hatchet");
	n_nodes = whole->n_nodes;
	/* Nothing that is there comes again. */
	add(m, a, "a.rank_0.part_2.hatchet");
	if (merge_add_tree(m, b) < 0 || whole->n_nodes != n_nodes)
		abort();
	merge_free(m);
	rank(whole);
	look_at(whole);
	write_and_read(&format_hatchet, whole);
	session_free(whole);
}

/* ---- diff ---- */

static void check_tree(const struct diff *d)
{
	for (uint32_t i = 1; i < diff_n(d); i++) {
		const struct diff_node *n = diff_node(d, i);

		if (n->parent >= i || !diff_name(d, i) ||
		    diff_value(d, i, 0)->status >= DIFF_N_STATUS)
			abort();
	}
	free(must(diff_sorted(d)));
}

/* Of a profile and itself nothing is new, gone, or another. */
static void check_same(const struct diff *d)
{
	for (uint32_t i = 0; i < diff_n(d); i++)
		if (diff_value(d, i, 0)->status != DIFF_SAME)
			abort();
}

static void compare(const struct session *a, const struct session *b, const char *metric,
		    bool exclusive)
{
	const struct diff_options options = {.metrics = metric, .exclusive = exclusive};
	struct diff *d = must(diff_new(&options));
	int r = diff_add(d, DIFF_A, a);

	if (r == 0)
		r = diff_add(d, DIFF_B, b);
	if (r == 0)
		r = diff_compare(d);
	if (r < 0 && r != -EINVAL)
		abort();
	if (r == 0) {
		check_tree(d);
		if (a == b)
			check_same(d);
	}
	diff_free(d);
}

static void compare_all(const struct session *a, const struct session *b)
{
	static const char *const derived[] = {"time/ms", "avg_time/us", "util", "tflop/s",
					      "bytes/MB"};

	for (uint32_t m = 0; m < metric_table_count(a->metrics); m++)
		compare(a, b, metric_table_get(a->metrics, m)->name, m % 2);
	for (size_t i = 0; i < ARRAY_SIZE(derived); i++)
		compare(a, b, derived[i], false);
}

/* ---- two on one tree ---- */

static void pair(const struct session *a, const struct session *b, enum group group)
{
	struct session *sides[PAIR_N];

	if (pair_make_grouped(a, b, group, sides) < 0 || sides[0]->n_nodes != sides[1]->n_nodes)
		abort();
	for (size_t i = 0; i < PAIR_N; i++) {
		free(must(pair_present(sides[i])));
		look_at(sides[i]);
		session_free(sides[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	const char *between = len ? memchr(text, '\0', len) : NULL;
	size_t n = between ? (size_t)(between - text) : len;
	struct session *a = read_bytes(format_read, text, n, NULL), *b = a;

	if (between)
		b = read_bytes(format_read, text + n + 1, len - n - 1, NULL);
	if (a && b) {
		merge(a, b, len % 2);
		compare_all(a, b);
		for (unsigned group = GROUP_NONE; group < GROUP_N; group++)
			pair(a, b, (enum group)group);
	}
	if (b != a)
		session_free(b);
	session_free(a);
	return 0;
}
