/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Reads what json_export.c writes. Its tables are those of a Hatchet file's own key, with the same
 * keys, so that hatchet_tables.c reads them:
 *
 *   bytes ── json_tokens.h ──> the document ─┬─ tables, sections ── hatchet_tables.h ──> session
 *                                            └─ "nodes", their rows ── here ───────────> session
 */
#include "format/json_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/hatchet_hists.h"
#include "format/hatchet_tables.h"
#include "format/json_tokens.h"

/* Keys that a Hatchet file does not have. */
enum { JSON_NODES, JSON_ID, JSON_RAW, JSON_LANE, JSON_EPOCH, JSON_KEYS };
static const char *const key_words[JSON_KEYS] = {"nodes", "id", "raw", "lane", "epoch"};

/* The values of a row that is being read, before it is known which they all are. */
struct draft {
	uint32_t n;
	bool is_kernel; /* all of them are metrics of SET_KERNEL */
};

struct json_reader {
	struct hread r;
	uint32_t keys[JSON_KEYS];
	struct format_error *error;
	uint32_t *last_row; /* by metric: the number of the last row that had it */
	size_t cap_last_row, n_last_row;
	uint32_t n_rows; /* that were met */
};

static size_t find(const struct json_reader *x, size_t map, unsigned key)
{
	return token_find(&x->r.f.tokens, map, x->keys[key]);
}

/* ---- rows ---- */

/* Make sure that all keys of the metrics are metrics: there is room for each in last_row. */
static int know_metrics(struct json_reader *x, size_t map)
{
	const struct tokens *t = &x->r.f.tokens;
	uint32_t metric;
	int r = 0;

	for (size_t at = token_first(map); r == 0 && token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1))
		r = hread_metric_of_key(&x->r, (uint32_t)token_payload(t, at), &metric);
	if (r < 0 || ARRAY_ROOM(x->last_row, x->cap_last_row,
				(size_t)metric_table_count(x->r.s->metrics)) < 0)
		return -ENOMEM;
	for (; x->n_last_row < x->cap_last_row; x->n_last_row++)
		x->last_row[x->n_last_row] = 0;
	return 0;
}

/* A value of the row, unless the row has one of this metric already. */
static int draft_value(struct json_reader *x, struct draft *d, size_t key)
{
	struct hread *r = &x->r;
	union metric_value v;
	uint32_t metric;
	int ret = hread_metric_of_key(r, (uint32_t)token_payload(&r->f.tokens, key), &metric);

	if (ret < 0 || metric == METRIC_NONE)
		return ret;
	if (x->last_row[metric] == x->n_rows)
		return hread_warn(r, WARNING_TWICE);
	ret = hread_value(r, metric, key + 1, &v);
	if (ret <= 0)
		return ret;
	if (ARRAY_ROOM(r->scratch, r->cap_scratch, d->n + 1) < 0 ||
	    ARRAY_ROOM(r->scratch_values, r->cap_scratch_values, d->n + 1) < 0)
		return -ENOMEM;
	x->last_row[metric] = x->n_rows;
	r->scratch[d->n] = metric;
	r->scratch_values[d->n++] = v;
	d->is_kernel = d->is_kernel && metric <= METRIC_TIME_MAX;
	return 0;
}

/* The metrics of SET_KERNEL stand in it in the order of their ids. */
static int store_draft(struct json_reader *x, const struct draft *d, uint32_t node, uint32_t lane,
		       uint32_t epoch)
{
	struct session *s = x->r.s;
	uint32_t set = d->is_kernel ? SET_KERNEL : session_set_intern(s, x->r.scratch, d->n);
	uint32_t row = set == SESSION_NONE ? set : session_row_intern(s, node, lane, epoch, set);

	if (row == SESSION_NONE)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++)
		hread_store(&x->r, row, d->is_kernel ? x->r.scratch[k] : k, x->r.scratch_values[k]);
	return 0;
}

static int read_metrics(struct json_reader *x, size_t map, uint32_t node, uint32_t lane,
			uint32_t epoch)
{
	const struct tokens *t = &x->r.f.tokens;
	struct draft d = {.is_kernel = true};
	int r;

	if (!map || token_at(t, map) != TOKEN_MAP)
		return 0;
	x->n_rows++;
	r = know_metrics(x, map);
	for (size_t at = token_first(map); r == 0 && token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1))
		r = draft_value(x, &d, at);
	return r < 0 || !d.n ? r : store_draft(x, &d, node, lane, epoch);
}

static int read_row(struct json_reader *x, uint32_t node, size_t map)
{
	struct hread *r = &x->r;
	uint32_t lane =
		hread_row_id(r, TABLE_LANES, hread_u32(r, find(x, map, JSON_LANE), SESSION_NONE));
	uint32_t index = hread_u32(r, find(x, map, JSON_EPOCH), SESSION_NONE);
	uint32_t epoch = r->tables[TABLE_EPOCHS].n ? hread_row_id(r, TABLE_EPOCHS, index) : 0;

	if (lane == SESSION_NONE || epoch == SESSION_NONE)
		return hread_warn(r, WARNING_INDEX);
	return read_metrics(x, hread_find(r, map, KEY_METRICS), node, lane, epoch);
}

/* Where there are rows they are what counts: the node's own metrics are their sum. */
static int read_values(struct json_reader *x, uint32_t node, size_t map)
{
	const struct tokens *t = &x->r.f.tokens;
	size_t rows = hread_find(&x->r, map, KEY_ROWS);
	uint32_t nowhere;
	int r = 0;

	if (!rows || token_at(t, rows) != TOKEN_ARRAY) {
		nowhere = session_lane_intern(x->r.s, &session_nowhere);
		return nowhere == SESSION_NONE
			       ? -ENOMEM
			       : read_metrics(x, hread_find(&x->r, map, KEY_METRICS), node, nowhere,
					      0);
	}
	for (size_t at = token_first(rows); r == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (token_at(t, at) == TOKEN_MAP)
			r = read_row(x, node, at);
	return r;
}

/* ---- histograms ---- */

static int read_hist(struct hread *r, uint32_t node, size_t map)
{
	struct hist *h = hread_hist(r, node, map);

	return h ? hread_bins(r, h, hread_find(r, map, KEY_BUCKETS)) : -ENOMEM;
}

/* ---- nodes ---- */

static int wrong(struct json_reader *x, const char *what, uint64_t node)
{
	return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET, "wrong shape: node %llu %s",
			   (unsigned long long)node, what);
}

/* A symbol is a view of the raw name, and "name" is what of both there is. */
static uint32_t frame_of(struct json_reader *x, size_t map)
{
	struct hread *r = &x->r;
	uint32_t module = hread_row_id(r, TABLE_MODULES,
				       hread_u32(r, hread_find(r, map, KEY_MODULE), SESSION_NONE));
	uint32_t symbol = hread_string(r, hread_find(r, map, KEY_SYMBOL));
	uint32_t name = hread_string(r, hread_find(r, map, KEY_NAME)), frame;

	if (symbol)
		name = hread_string(r, find(x, map, JSON_RAW));
	else if (module != SESSION_NONE)
		name = 0;
	frame = session_frame_intern(r->s,
				     frame_kind_parse(hread_text(r, hread_find(r, map, KEY_KIND))),
				     name, module, hread_u64(r, hread_find(r, map, KEY_OFFSET), 0));
	if (frame != SESSION_NONE)
		session_frame_symbol(r->s, frame, symbol,
				     hread_string(r, hread_find(r, map, KEY_FILE)),
				     hread_u32(r, hread_find(r, map, KEY_LINE), 0));
	return frame;
}

/* An id is a place in the list, and a parent stands before its children: so there are no circles. */
static int read_node(struct json_reader *x, uint32_t place, size_t map, uint32_t *ret)
{
	struct hread *r = &x->r;
	size_t parent = hread_find(r, map, KEY_PARENT);
	uint32_t frame, above = hread_u32(r, parent, SESSION_NONE);

	if (token_at(&r->f.tokens, map) != TOKEN_MAP)
		return wrong(x, "is no object", place);
	if (hread_u64(r, find(x, map, JSON_ID), place) != place)
		return wrong(x, "has an id that is not its place in the list", place);
	*ret = SESSION_ROOT;
	if (!place)
		return 0;
	if (above >= place)
		return wrong(x, "has no parent before it", place);
	frame = frame_of(x, map);
	*ret = frame == SESSION_NONE
		       ? frame
		       : session_node_append(r->s, hread_map_get(&r->nodes, above), frame);
	return *ret == SESSION_NONE ? -ENOMEM : 0;
}

static int read_nodes(struct json_reader *x)
{
	struct hread *r = &x->r;
	const struct tokens *t = &r->f.tokens;
	size_t list = find(x, r->extra, JSON_NODES);
	uint32_t place = 0, node = SESSION_ROOT;
	int ret = 0;

	if (!list || token_at(t, list) != TOKEN_ARRAY)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: no list 'nodes'");
	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at)) {
		ret = read_node(x, place++, at, &node);
		if (ret == 0)
			ret = hread_map_add(&r->nodes, node);
		if (ret == 0)
			ret = read_values(x, node, at);
		if (ret == 0)
			ret = hread_each(r, hread_find(r, at, KEY_HISTOGRAMS), TOKEN_MAP, node,
					 read_hist);
	}
	return ret;
}

/* ---- the whole ---- */

/* The document has the losses of the session and of all processes in one. */
static void split_losses(struct session *s)
{
	for (unsigned i = 0; i < LOSS_N; i++) {
		uint64_t all = s->losses[i], others;

		s->losses[i] = 0;
		others = session_loss(s, (enum loss)i);
		s->losses[i] = all > others ? all - others : 0;
	}
}

static int prepare(struct json_reader *x)
{
	struct hatchet_file *f = &x->r.f;
	size_t n_keys = strtab_count(f->keys), known = KEY_N;

	for (unsigned i = 0; i < JSON_KEYS; i++)
		x->keys[i] = strtab_find(f->keys, key_words[i], strlen(key_words[i]));
	if (array_reserve((void **)&f->facts, &f->cap_facts, n_keys, 1) < 0)
		return -ENOMEM;
	memset(f->facts + known, 0, n_keys - known);
	x->r.extra = JSON_TOKENS_ROOT;
	return 0;
}

static int build(struct json_reader *x)
{
	int r = prepare(x);

	if (r == 0)
		r = hread_tables(&x->r);
	if (r == 0)
		split_losses(x->r.s);
	if (r == 0)
		r = read_nodes(x);
	if (r == 0)
		r = hread_references(&x->r);
	if (r == 0 && x->r.f.garbage_at)
		r = hread_warn(&x->r, WARNING_GARBAGE);
	x->r.s->ended = true;
	return r;
}

int json_profile_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct json_reader x = {.r.s = s, .error = error};
	struct hatchet_file *f = &x.r.f;
	int r = hatchet_file_init(f, s->strings);

	if (r == 0)
		r = json_tokens_read(in, s->strings, f->keys, &f->tokens, &f->garbage_at, error);
	if (r == 0)
		r = build(&x);
	if (r < 0 && !error->code)
		format_fail_code(error, r);
	free(x.last_row);
	hread_done(&x.r);
	return r;
}

bool json_profile_detect(const char *head, size_t n)
{
	static const char word[] = "\"proton-profile\"";
	size_t at = text_begin(head, n);

	return at < n && head[at] == '{' && memmem(head, n, word, sizeof(word) - 1);
}
