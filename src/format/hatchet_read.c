/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Second half of reading a Hatchet file: what hatchet_parse.c recorded becomes a session.
 *
 *   tables of the root's "proton" ─> metrics, processes, devices, lanes, sets …
 *   records                       ─> nodes, in the order of the file
 *   "metrics" or our own "rows"   ─> rows
 *   intervals, samples, notes …   ─> what refers to nodes and lanes, at the end
 */
#include "format/hatchet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/given.h"
#include "format/hatchet_kind.h"
#include "format/hatchet_parse.h"
#include "format/hatchet_hists.h"
#include "format/hatchet_sums.h"
#include "format/hatchet_tables.h"

#define VECTOR_MAX 1024 /* elements of one vector metric */

/* ---- nodes ---- */

static enum frame_kind get_kind(const struct hread *r, size_t part, uint32_t name, unsigned hints)
{
	size_t kind = hread_find(r, part, KEY_KIND);

	if (kind)
		return frame_kind_parse(hread_text(r, kind));
	return hatchet_guess_kind(strtab_str(r->s->strings, name), strtab_len(r->s->strings, name),
				  hints);
}

/* A frame of the list: a (module, offset), or a name with a symbol. */
static uint32_t listed_frame(struct hread *r, size_t map, enum frame_kind kind)
{
	uint32_t module = hread_u32(r, hread_find(r, map, KEY_MODULE), SESSION_NONE);
	uint32_t frame =
		session_frame_intern(r->s, kind, hread_string(r, hread_find(r, map, KEY_NAME)),
				     hread_row_id(r, TABLE_MODULES, module),
				     hread_u64(r, hread_find(r, map, KEY_OFFSET), 0));

	if (frame != SESSION_NONE)
		session_frame_symbol(r->s, frame, hread_string(r, hread_find(r, map, KEY_SYMBOL)),
				     hread_string(r, hread_find(r, map, KEY_FILE)),
				     hread_u32(r, hread_find(r, map, KEY_LINE), 0));
	return frame;
}

static uint32_t frame_of(struct hread *r, const struct record *record, size_t part)
{
	enum frame_kind kind = get_kind(r, part, record->name, record->hints);
	uint32_t name = record->name, listed;
	size_t hex;

	listed = hread_map_get(&r->frames,
			       hread_u32(r, hread_find(r, part, KEY_FRAME), SESSION_NONE));
	if (listed != SESSION_NONE)
		return listed_frame(r, listed, kind);
	hex = hread_find(r, part, KEY_NAME_HEX);
	if (hex) {
		const char *text = hread_text(r, hex);

		name = hread_hex(r, text, strlen(text));
	}
	return session_frame_intern(r->s, kind, name, SESSION_NONE, 0);
}

/* The session node below which a part belongs. */
static uint32_t parent_of(const struct hread *r, const struct record *record, size_t part)
{
	uint32_t i;

	if (record->parent == RECORD_NONE)
		return SESSION_ROOT;
	i = hread_u32(r, hread_find(r, part, KEY_PARENT), 0);
	if (i >= r->n_nodes[record->parent])
		i = 0;
	return r->nodes.ids[r->first_node[record->parent] + i];
}

/* A part of record i. part: its position in the tokens, 0: nothing is said of it. */
static int add_part(struct hread *r, uint32_t i, size_t part)
{
	const struct record *record = &r->f.records[i];
	uint32_t frame = frame_of(r, record, part), node;

	if (frame == SESSION_NONE)
		return -ENOMEM;
	node = session_node_append(r->s, parent_of(r, record, part), frame);
	r->n_nodes[i]++;
	return hread_map_add(&r->nodes, node);
}

/* Of the trees in a file the one called ROOT is the session's root; others hang below it. */
static bool is_root(const struct hread *r, const struct record *record)
{
	return record->parent == RECORD_NONE &&
	       (!record->name || !strcmp(strtab_str(r->s->strings, record->name), "ROOT"));
}

static int add_parts(struct hread *r, uint32_t i, size_t parts)
{
	int ret = hread_each(r, parts, TOKEN_MAP, i, add_part);

	return ret == 0 && !r->n_nodes[i] ? add_part(r, i, 0) : ret;
}

static int add_record(struct hread *r, uint32_t i)
{
	const struct record *record = &r->f.records[i];
	size_t parts = hread_find(r, record->extra, KEY_PARTS);

	r->first_node[i] = (uint32_t)r->nodes.n;
	if (is_root(r, record)) {
		r->n_nodes[i] = 1;
		return hread_map_add(&r->nodes, SESSION_ROOT);
	}
	if (parts && token_at(&r->f.tokens, parts) == TOKEN_ARRAY)
		return add_parts(r, i, parts);
	return add_part(r, i, record->extra);
}

static int read_nodes(struct hread *r)
{
	size_t n = r->f.n_records;
	int ret = 0;

	r->first_node = malloc((n + 1) * sizeof(*r->first_node));
	r->n_nodes = calloc(n + 1, sizeof(*r->n_nodes));
	if (!r->first_node || !r->n_nodes || ARRAY_ROOM(r->nodes.ids, r->nodes.cap, n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < n; i++)
		ret = add_record(r, i);
	return ret;
}

/* ---- rows ---- */

/* The values of a row, from `at`. */
static int read_row_values(struct hread *r, uint32_t row, uint64_t file_set, size_t at)
{
	const struct session_set *set = &r->s->sets[r->s->rows[row].set];
	const struct tokens *t = &r->f.tokens;
	uint32_t n;
	const uint32_t *places = hread_places(r, file_set, &n);
	union metric_value v;
	int ret;

	for (uint32_t i = 0; i < n && token_at(t, at) != TOKEN_END; i++, at = token_next(t, at)) {
		if (places[i] == PLACE_NONE)
			continue;
		ret = hread_value(r, set->metrics[places[i]], at, &v);
		if (ret > 0)
			hread_store(r, row, places[i], v);
		else if (ret < 0)
			return ret;
	}
	return 0;
}

/* A file that lists no epochs has the one of the whole run. */
static uint32_t epoch_of(const struct hread *r, uint64_t index)
{
	const struct id_map *epochs = &r->tables[TABLE_EPOCHS];

	return !epochs->n && !index ? 0 : hread_map_get(epochs, index);
}

/* [lane, epoch, set, value, value …] of our own key. */
static int read_row(struct hread *r, uint32_t node, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	uint64_t head[3];
	size_t at = token_first(list);
	uint32_t lane, epoch, set, row;

	for (unsigned i = 0; i < ARRAY_SIZE(head); i++) {
		if (!token_u64(t, at, &head[i]))
			return hread_warn(r, WARNING_INDEX);
		at = token_next(t, at);
	}
	lane = hread_map_get(&r->tables[TABLE_LANES], head[0]);
	epoch = epoch_of(r, head[1]);
	set = hread_map_get(&r->sets, head[2]);
	if (set >= r->s->n_sets || epoch == SESSION_NONE || lane == SESSION_NONE)
		return hread_warn(r, WARNING_INDEX);
	row = session_row_intern(r->s, node, lane, epoch, set);
	if (row == SESSION_NONE)
		return -ENOMEM;
	return read_row_values(r, row, head[2], at);
}

static int read_hist(struct hread *r, uint32_t node, size_t map)
{
	struct hist *h = hread_hist(r, node, map);
	int ret;

	if (!h)
		return -ENOMEM;
	ret = hread_bins(r, h, hread_find(r, map, KEY_DURATIONS));
	return ret < 0 ? ret : hread_old_buckets(r, h, hread_find(r, map, KEY_BUCKETS));
}

/* A row of the metrics that were collected in scratch: their set is sorted by id. */
struct row_draft {
	uint32_t lane;
	union metric_value kernel[2];
	bool has_kernel[2];
	uint32_t n; /* of the others */
};

static int draft_value(struct hread *r, struct row_draft *d, uint32_t metric, size_t at)
{
	union metric_value v;
	uint32_t i;
	int ret = hread_value(r, metric, at, &v);

	if (ret <= 0)
		return ret;
	if (metric == METRIC_TIME || metric == METRIC_COUNT) {
		ret = d->has_kernel[metric] ? hread_warn(r, WARNING_TWICE) : 0;
		d->kernel[metric] = v;
		d->has_kernel[metric] = true;
		return ret;
	}
	for (i = d->n; i > 0 && r->scratch[i - 1] > metric; i--)
		;
	if (i > 0 && r->scratch[i - 1] == metric) {
		r->scratch_values[i - 1] = v;
		return hread_warn(r, WARNING_TWICE);
	}
	if (ARRAY_ROOM(r->scratch, r->cap_scratch, d->n + 1) < 0 ||
	    ARRAY_ROOM(r->scratch_values, r->cap_scratch_values, d->n + 1) < 0)
		return -ENOMEM;
	for (i = d->n; i > 0 && r->scratch[i - 1] > metric; i--) {
		r->scratch[i] = r->scratch[i - 1];
		r->scratch_values[i] = r->scratch_values[i - 1];
	}
	r->scratch[i] = metric;
	r->scratch_values[i] = v;
	d->n++;
	return 0;
}

/* [1, 2.5]: one metric an element, "name[0]", "name[1]" … */
static int draft_vector(struct hread *r, struct row_draft *d, uint32_t key, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	char name[GIVEN_KEY_MAX];
	uint32_t i = 0, metric;
	int ret = 0;

	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at), i++) {
		if (i == VECTOR_MAX)
			return hread_warn(r, WARNING_VECTOR);
		if (!token_is_number(t, at))
			continue;
		given_element(strtab_str(r->f.keys, key), i, name);
		ret = hread_add_metric(r, name, r->f.facts[key] & ~FACT_TEXT, &metric);
		if (ret == 0)
			ret = draft_value(r, d, metric, at);
	}
	return ret;
}

static int draft_key(struct hread *r, const struct record *record, struct row_draft *d, size_t at)
{
	const struct tokens *t = &r->f.tokens;
	uint32_t key = (uint32_t)token_payload(t, at), metric;
	int ret;

	if (hread_is_label(r, key) || hread_is_schema(r, record, at + 1))
		return 0;
	if (token_at(t, at + 1) == TOKEN_ARRAY)
		return draft_vector(r, d, key, at + 1);
	if (token_at(t, at + 1) == TOKEN_MAP || token_at(t, at + 1) == TOKEN_NULL)
		return 0;
	ret = hread_metric_of_key(r, key, &metric);
	return ret < 0 || metric == METRIC_NONE ? ret : draft_value(r, d, metric, at + 1);
}

static int draft_lane(struct hread *r, size_t metrics, uint32_t *ret_lane)
{
	struct session_lane lane = session_nowhere;
	size_t id = hread_find(r, metrics, r->is_old ? KEY_OLD_DEVICE_ID : KEY_DEVICE_ID),
	       type = hread_find(r, metrics, r->is_old ? KEY_OLD_DEVICE_TYPE : KEY_DEVICE_TYPE);
	int32_t index;
	int ret = 0;

	if (id && hread_device_index(r, id, &index)) {
		/* The oldest files say the type in another place, and it is nearly always this. */
		uint32_t word = r->is_old && !type ? strtab_adds(r->s->strings, "CUDA")
						   : hread_device_type(r, type);

		if (word == STRTAB_NONE)
			return -ENOMEM;
		ret = hread_device(r, word, index, &lane.device);
	}
	*ret_lane = ret < 0 ? SESSION_NONE : session_lane_intern(r->s, &lane);
	return *ret_lane == SESSION_NONE ? -ENOMEM : 0;
}

static int draft_store(struct hread *r, const struct row_draft *d, uint32_t node)
{
	uint32_t row, set;

	if (d->has_kernel[0] || d->has_kernel[1]) {
		row = session_row_intern(r->s, node, d->lane, 0, SET_KERNEL);
		if (row == SESSION_NONE)
			return -ENOMEM;
		for (uint32_t k = 0; k < 2; k++)
			if (d->has_kernel[k])
				session_row_set(r->s, row, k, d->kernel[k]);
	}
	if (!d->n)
		return 0;
	set = session_set_intern(r->s, r->scratch, d->n);
	row = set == SESSION_NONE ? set : session_row_intern(r->s, node, d->lane, 0, set);
	if (row == SESSION_NONE)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++)
		session_row_set(r->s, row, k, r->scratch_values[k]);
	return 0;
}

/* The rows of a node of which the file knows "metrics" only: the kernel's two first, then one row
 * of all others. The writer leaves our own rows out when they are just these. */
static int rows_from_metrics(struct hread *r, const struct record *record, uint32_t node)
{
	const struct tokens *t = &r->f.tokens;
	struct row_draft d = {0};
	int ret = 0;

	for (size_t at = token_first(record->metrics); ret == 0 && token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1))
		ret = draft_key(r, record, &d, at);
	if (ret < 0 || (!d.n && !d.has_kernel[0] && !d.has_kernel[1]))
		return ret;
	ret = draft_lane(r, record->metrics, &d.lane);
	return ret < 0 ? ret : draft_store(r, &d, node);
}

/* The part of the file's key that says something of node k of a record; 0: none. */
static size_t next_part(const struct hread *r, size_t at)
{
	const struct tokens *t = &r->f.tokens;

	while (token_at(t, at) != TOKEN_END && token_at(t, at) != TOKEN_MAP)
		at = token_next(t, at);
	return token_at(t, at) == TOKEN_END ? 0 : at;
}

/* Call f for the elements of a list that each part of a record has, as hread_each(); *ret_any: one has
 * such a list. */
static int each_of_parts(struct hread *r, uint32_t i, size_t parts, enum hatchet_key key,
			 enum token kind, int (*f)(struct hread *r, uint32_t node, size_t at),
			 bool *ret_any)
{
	const struct tokens *t = &r->f.tokens;
	const uint32_t *node = &r->nodes.ids[r->first_node[i]];
	bool is_list = token_at(t, parts) == TOKEN_ARRAY;
	size_t at = is_list ? next_part(r, token_first(parts)) : parts;
	int ret = 0;

	*ret_any = false;
	while (ret == 0 && at) {
		size_t list = hread_find(r, at, key);

		*ret_any = *ret_any || (list && token_at(t, list) == TOKEN_ARRAY);
		ret = hread_each(r, list, kind, *node++, f);
		at = is_list ? next_part(r, token_next(t, at)) : 0;
	}
	return ret;
}

/* What is said of a record's nodes: the list of its parts, or the one map. 0: nothing. */
static size_t parts_of(const struct hread *r, uint32_t i)
{
	size_t extra = r->f.records[i].extra, parts;

	if (extra && r->nodes.ids[r->first_node[i]] == SESSION_ROOT)
		return hread_find(r, extra, KEY_ROOT);
	parts = extra ? hread_find(r, extra, KEY_PARTS) : 0;
	return parts && token_at(&r->f.tokens, parts) == TOKEN_ARRAY ? parts : extra;
}

/* Rows say more than metrics, and are of no use where these say something else. */
static int read_values(struct hread *r, uint32_t i)
{
	const struct record *record = &r->f.records[i];
	const uint32_t *nodes = &r->nodes.ids[r->first_node[i]];
	size_t parts = parts_of(r, i), n_rows = r->s->n_rows;
	bool rows = false, agree = true, is_new = session_first_row(r->s, nodes[0]) == SESSION_NONE;
	int ret = 0;

	if (parts)
		ret = each_of_parts(r, i, parts, KEY_ROWS, TOKEN_ARRAY, read_row, &rows);
	if (ret == 0 && rows && is_new)
		ret = hread_rows_agree(r, record, nodes, r->n_nodes[i], &agree);
	if (!agree)
		session_rows_cut(r->s, n_rows);
	if (ret == 0 && parts && agree)
		ret = each_of_parts(r, i, parts, KEY_HISTOGRAMS, TOKEN_MAP, read_hist, &(bool){0});
	if (ret == 0 && (!rows || !agree) && record->metrics)
		ret = rows_from_metrics(r, record, nodes[0]);
	return ret;
}

/* ---- the whole ---- */

static int build(struct hread *r)
{
	int ret;

	for (size_t i = 0; i < r->f.n_records && !r->extra; i++)
		if (r->f.records[i].parent == RECORD_NONE)
			r->extra = r->f.records[i].extra;
	ret = hread_tables(r);
	if (ret == 0)
		ret = read_nodes(r);
	for (uint32_t i = 0; ret == 0 && i < r->f.n_records; i++)
		ret = read_values(r, i);
	if (ret == 0)
		ret = hread_note_sums(r);
	if (ret == 0)
		ret = hread_references(r);
	if (ret == 0 && r->f.garbage_at)
		ret = hread_warn(r, WARNING_GARBAGE);
	r->s->ended = true;
	return ret;
}

int hatchet_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct hread r = {.s = s};
	int ret = hatchet_parse(in, s->strings, &r.f, error);

	if (ret == 0) {
		ret = build(&r);
		if (ret < 0)
			format_fail_code(error, ret);
	}
	hread_done(&r);
	return ret;
}

/* A list: whether it is one of ours is for the reader to say, with the place where it is not.
 * "[unknown];main 5" is none. */
bool hatchet_detect(const char *head, size_t n)
{
	size_t i = text_begin(head, n);

	if (i == n || head[i] != '[')
		return false;
	i++;
	i += text_blanks(head + i, n - i);
	return i == n || (head[i] && strchr("{[]\"-0123456789", head[i])) ||
	       (n - i >= 4 && !memcmp(head + i, "null", 4));
}
