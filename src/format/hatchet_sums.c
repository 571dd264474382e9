/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/hatchet_sums.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/export.h"
#include "format/given.h"
#include "format/hatchet_tables.h"

/* Tools write numbers anew: 2^53 + 1 as a float, fractions with fewer digits. */
#define LIKE 1e-12

/* Metrics that are looked at for keys that are not their names: a file that is made to be slow has more. */
#define LOOKS_MAX (1u << 27)

bool hread_is_schema(const struct hread *r, const struct record *record, size_t at)
{
	return record->parent == RECORD_NONE && token_is_number(&r->f.tokens, at) &&
	       token_f64(&r->f.tokens, at) == 0;
}

/* Hatchet numbers its nodes, when it writes them, among their metrics. */
bool hread_is_label(const struct hread *r, uint32_t key)
{
	return key == KEY_DEVICE_ID || key == KEY_DEVICE_TYPE || key == KEY_NID ||
	       (r->is_old && (key == KEY_OLD_DEVICE_ID || key == KEY_OLD_DEVICE_TYPE));
}

/* There is a sum for each metric, of no node yet. */
static int make_room(struct hread *r)
{
	size_t n = metric_table_count(r->s->metrics), before = r->cap_sums;

	if (n <= before)
		return 0;
	if (array_reserve((void **)&r->sums, &r->cap_sums, n, sizeof(*r->sums)) < 0)
		return -ENOMEM;
	memset(r->sums + before, 0, (r->cap_sums - before) * sizeof(*r->sums));
	return 0;
}

/* A file of a program's session has the time of scopes on the host where that was asked for. */
static bool may_lack(uint32_t metric)
{
	return metric == METRIC_CPU_TIME || metric == METRIC_CPU_COUNT;
}

/* A value of a row. 1: its metric was not there before, and belongs among a node's metrics. */
static uint32_t sum_value(struct hread *r, const struct session_row *row, uint32_t k)
{
	const struct session *s = r->s;
	uint32_t metric = s->sets[row->set].metrics[k];
	const struct metric *m = metric_table_get(s->metrics, metric);
	union metric_value v = s->values[row->values + k];
	struct row_sum *sum = &r->sums[metric];
	double weight = m->add == METRIC_WMEAN
				? session_row_weight(s, row, m->weight, s->values, s->present)
				: 1;

	if (sum->node == r->n_summed) {
		sum->value = metric_combine(m, sum->value, sum->weight, v, weight);
		sum->weight += weight;
		return 0;
	}
	*sum = (struct row_sum){v, weight, r->n_summed};
	return export_is_column(metric) && !may_lack(metric);
}

/* How many metrics the rows of a node add to those that should be listed. */
static uint32_t sum_node(struct hread *r, uint32_t node)
{
	const struct session *s = r->s;
	uint32_t n = 0;

	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		const struct session_row *row = &s->rows[id];

		for (uint32_t k = 0; k < s->sets[row->set].n; k++)
			if (s->present[row->values + k])
				n += sum_value(r, row, k);
	}
	return n;
}

static bool number_is_like(double a, double b)
{
	return fabs(a - b) <= LIKE * fmax(fabs(a), fabs(b));
}

/* Is what is written here how the sum of a metric is written? Where it cannot be said in "metrics", there
 * is nothing to compare. */
static bool value_is_like(struct hread *r, const struct metric *m, union metric_value sum,
			  size_t at)
{
	const struct tokens *t = &r->f.tokens;
	const struct strtab *strings = r->s->strings;
	uint64_t v;

	if (m->type == METRIC_TEXT)
		return hread_string(r, at) == sum.text ||
		       !utf8_valid(strtab_str(strings, sum.text), strtab_len(strings, sum.text));
	if (m->type == METRIC_F64)
		return !isfinite(sum.f64) || number_is_like(sum.f64, token_f64(t, at));
	return (token_u64(t, at, &v) && v == sum.u64 &&
		token_f64(t, at) == floor(token_f64(t, at))) ||
	       number_is_like((double)sum.u64, token_f64(t, at));
}

/* Element `i` of a list; 0: there is none. */
static size_t element_at(const struct tokens *t, size_t list, uint32_t i)
{
	size_t at = token_first(list);

	for (; i && token_at(t, at) != TOKEN_END; i--)
		at = token_next(t, at);
	return token_at(t, at) == TOKEN_END ? 0 : at;
}

/* The nodes of a record, and how many of the metrics of their rows were not met yet. */
struct rows_match {
	const uint32_t *nodes;
	uint32_t n, left;
};

/* A metric of the rows, where the file says what programs gave (given.h). 1: it is as the rows have it, 0: it is
 * not, GIVEN_OTHER: it has another key. */
enum { GIVEN_OTHER = 2 };
static int match_metric(struct hread *r, uint32_t metric, const char *key, size_t at)
{
	const struct metric *m = metric_table_get(r->s->metrics, metric);
	bool is_list = token_at(&r->f.tokens, at) == TOKEN_ARRAY;
	char buf[GIVEN_KEY_MAX];
	uint32_t element;

	if (metric >= r->cap_sums || r->sums[metric].node != r->n_summed ||
	    strcmp(given_key(m->name, buf, &element), key) != 0 ||
	    is_list != (element != GIVEN_WHOLE))
		return GIVEN_OTHER;
	if (is_list)
		at = element_at(&r->f.tokens, at, element);
	r->sums[metric].node = 0;
	return at && value_is_like(r, m, r->sums[metric].value, at);
}

/* 1: those of the rows' metrics that have this key are as it says, 0: one is not, or there are none. */
static int match_given(struct hread *r, struct rows_match *rows, const char *key, size_t at)
{
	const struct session *s = r->s;
	int found = 0, match;

	for (uint32_t i = 0; i < rows->n; i++) {
		for (uint32_t id = session_first_row(s, rows->nodes[i]); id != SESSION_NONE;
		     id = session_next_row(s, id)) {
			const struct session_set *set = &s->sets[s->rows[id].set];

			for (uint32_t k = 0; k < set->n; k++) {
				match = match_metric(r, set->metrics[k], key, at);
				if (match == 0 || ++r->n_looks > LOOKS_MAX)
					return 0;
				rows->left -= match == 1;
				found = match == 1 ? 1 : found;
			}
		}
	}
	return found;
}

/* A metric of the node. 1: it is as the rows have it, 0: it is not. */
static int match_key(struct hread *r, const struct record *record, struct rows_match *rows,
		     size_t at)
{
	uint32_t key = (uint32_t)token_payload(&r->f.tokens, at), metric;
	const char *name = strtab_str(r->f.keys, key);
	struct row_sum *sum;
	int ret;

	if (token_at(&r->f.tokens, at + 1) == TOKEN_ARRAY)
		return match_given(r, rows, name, at + 1);
	ret = hread_metric_of_key(r, key, &metric);
	if (ret < 0)
		return ret;
	if (metric >= r->cap_sums || r->sums[metric].node != r->n_summed)
		return match_given(r, rows, name, at + 1) || hread_is_schema(r, record, at + 1);
	sum = &r->sums[metric];
	sum->node = 0;
	rows->left -= !may_lack(metric);
	return value_is_like(r, metric_table_get(r->s->metrics, metric), sum->value, at + 1);
}

int hread_rows_agree(struct hread *r, const struct record *record, const uint32_t *nodes,
		     uint32_t n, bool *ret)
{
	const struct tokens *t = &r->f.tokens;
	struct rows_match rows = {nodes, n, 0};
	int match = 1;

	*ret = true;
	if (!record->metrics || token_at(t, record->metrics) != TOKEN_MAP)
		return 0;
	if (make_room(r) < 0)
		return -ENOMEM;
	r->n_summed++;
	for (uint32_t i = 0; i < n; i++)
		rows.left += sum_node(r, nodes[i]);
	for (size_t at = token_first(record->metrics); match > 0 && token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1)) {
		if (!hread_is_label(r, (uint32_t)token_payload(t, at)))
			match = match_key(r, record, &rows, at);
	}
	/* The root lists what adds up alone. */
	*ret = match > 0 && (!rows.left || record->parent == RECORD_NONE);
	r->n_unlike += !*ret;
	return MIN(match, 0);
}

int hread_note_sums(struct hread *r)
{
	char text[200];

	if (!r->n_unlike)
		return 0;
	snprintf(
		text, sizeof(text),
		"changed by another tool: of %u calling context%s the values, in 'metrics', are no longer "
		"those by lane, in 'rows', which were left out",
		r->n_unlike, r->n_unlike == 1 ? "" : "s");
	return session_note(r->s, SESSION_NONE, NOTE_WARNING, text);
}
