/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/hatchet_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idindex.h"
#include "format/export.h"

/* ---- what the session says ---- */

const struct metric *hwrite_metric(const struct hwrite *w, uint32_t id)
{
	return metric_table_get(w->s->metrics, id);
}

const char *hwrite_raw_name(const struct session *s, uint32_t node, size_t *ret_len)
{
	const struct session_frame *f = &s->frames[s->nodes[node].frame];
	uint32_t string = f->symbol ? f->symbol : f->name;
	const char *name;

	if (f->symbol || f->module == SESSION_NONE) {
		*ret_len = strtab_len(s->strings, string);
		return strtab_str(s->strings, string);
	}
	name = session_node_name(s, node);
	*ret_len = strlen(name);
	return name;
}

const char *hwrite_name(const struct session *s, uint32_t node, size_t *ret_len)
{
	const char *name = hwrite_raw_name(s, node, ret_len);

	if (*ret_len)
		return name;
	*ret_len = strlen("<unnamed>");
	return "<unnamed>";
}

bool hwrite_frame_is_listed(const struct session_frame *f)
{
	return f->module != SESSION_NONE || f->symbol || f->file || f->line;
}

/* ---- preparation ---- */

static int prepare_columns(struct hwrite *w)
{
	uint32_t n = metric_table_count(w->s->metrics);

	w->occurs = export_occurring(w->s);
	w->values = calloc(n, sizeof(*w->values));
	w->weights = calloc(n, sizeof(*w->weights));
	w->present = calloc(n, sizeof(*w->present));
	if (given_list_init(&w->columns, w->s->metrics, !w->as_given) < 0 || !w->occurs ||
	    !w->values || !w->weights || !w->present)
		return -ENOMEM;
	given_list_add(&w->columns, "device_id", COLUMN_DEVICE_ID);
	given_list_add(&w->columns, "device_type", COLUMN_DEVICE_TYPE);
	given_list_sort(&w->columns);
	return 0;
}

static bool device_key_equal(const void *ctx, uint32_t i, const void *key)
{
	const struct device_key *a = &((const struct hwrite *)ctx)->devices[i], *b = key;

	return !strcmp(a->type, b->type) && !strcmp(a->id, b->id);
}

static uint64_t device_key_hash(const struct device_key *key)
{
	return hash_u64(hash_bytes(key->type, strlen(key->type)) ^
			hash_bytes(key->id, strlen(key->id)) << 1);
}

/* Number a device: id, or the next that no earlier one of its type has. */
static int name_device(struct hwrite *w, struct idindex *names, struct device_key *key, uint32_t id)
{
	uint64_t hash;

	do {
		snprintf(key->id, sizeof(key->id), "%u", id++);
		hash = device_key_hash(key);
	} while (idindex_find(names, hash, device_key_equal, w, key) != IDINDEX_NONE);
	w->renumbered = w->renumbered || (int64_t)id - 1 != w->s->devices[key->device].index;
	return idindex_add(names, hash, key->device);
}

/* Upstream knows a device by (type, index). Two hosts may have the same pair: the later one gets
 * the next free number. */
static int prepare_devices(struct hwrite *w)
{
	const struct session *s = w->s;
	struct idindex names = {0};
	int r = 0;

	w->devices = calloc(s->n_devices + 1, sizeof(*w->devices));
	w->device_time = calloc(s->n_devices + 1, sizeof(*w->device_time));
	if (!w->devices || !w->device_time)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < s->n_devices; i++) {
		w->devices[i].device = i;
		w->devices[i].type = strtab_str(s->strings, s->devices[i].type);
		r = name_device(w, &names, &w->devices[i], (uint32_t)MAX(s->devices[i].index, 0));
	}
	idindex_done(&names);
	return r;
}

static int prepare_frames(struct hwrite *w)
{
	const struct session *s = w->s;
	size_t names = strtab_count(s->strings) + s->n_frames;

	w->seen = calloc(names, sizeof(*w->seen));
	w->group_of = malloc(names * sizeof(*w->group_of));
	w->frame_index = calloc(s->n_frames + 1, sizeof(*w->frame_index));
	if (!w->seen || !w->group_of || !w->frame_index)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_frames; i++)
		if (hwrite_frame_is_listed(&s->frames[i]))
			w->frame_index[i] = ++w->n_listed;
	return 0;
}

static bool rows_name_nodes(const struct hwrite *w)
{
	for (unsigned i = 0; i < TABLE_N; i++)
		if (w->s->tables[i].n && hwrite_has_table(w, (enum table_id)i) &&
		    row_field((enum table_id)i, FIELD_NODE))
			return true;
	return false;
}

int hwrite_init(struct hwrite *w)
{
	const struct session *s = w->s;
	int r = prepare_columns(w);

	if (r == 0)
		r = prepare_devices(w);
	if (r == 0)
		r = prepare_frames(w);
	if (r == 0)
		r = hist_chains_init(&w->hists, s);
	if (r == 0 && rows_name_nodes(w)) {
		w->numbers = calloc(s->n_nodes, sizeof(*w->numbers));
		r = w->numbers ? 0 : -ENOMEM;
	}
	return r;
}

void hwrite_done(struct hwrite *w)
{
	void *all[] = {w->occurs, w->values,   w->weights, w->present, w->devices, w->device_time,
		       w->seen,   w->group_of, w->pool,    w->levels,  w->numbers, w->frame_index};

	given_list_done(&w->columns);
	hist_chains_done(&w->hists);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		free(all[i]);
}
