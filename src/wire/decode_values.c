/* SPDX-License-Identifier: MIT */
/* Metrics, the slots that have values of them, these, and how long executions took. */
#include "config.h" // IWYU pragma: keep
#include "wire/decoder.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "core/session.h"

/* Values that may be looked at when metrics turn out to have fractions: each time all are. */
#define WIDENED_MAX 100000000

/* What this instance sends of a metric; of one that it never declared, what the session has. */
static enum metric_type sent_type(const struct wire_decoder *d, const struct peer *p, uint32_t id)
{
	uint32_t type = idmap_get(&p->types, id);

	return type == IDMAP_NONE ? metric_table_get(d->s->metrics, id)->type
				  : (enum metric_type)type;
}

/* Instances agree on a metric by its name, and each may send numbers of its own type, which are
 * converted as they come. A text is no number: it is an error, but *ret_id is set, so that the rest
 * of a set can be read. Two types from one instance could not be told apart. */
static int metric_join(struct wire_decoder *d, struct peer *p, const struct metric *m,
		       uint32_t *ret_id)
{
	uint32_t id, known;

	if (session_metric_widens(d->s, m)) {
		d->n_widened += d->s->n_values + d->s->n_rows;
		if (d->n_widened > WIDENED_MAX)
			return -EBADMSG;
	}
	id = session_metric_add(d->s, m);
	if (id == METRIC_NONE)
		return -ENOMEM;
	known = idmap_get(&p->types, id);
	if (known != IDMAP_NONE && known != m->type)
		return -EBADMSG;
	if (idmap_set(&p->types, id, m->type) < 0)
		return -ENOMEM;
	*ret_id = id;
	return (metric_table_get(d->s->metrics, id)->type == METRIC_TEXT) ==
			       (m->type == METRIC_TEXT)
		       ? 0
		       : -EBADMSG;
}

int decode_metric(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_metric_def *w = entry;
	struct metric m;
	uint32_t id = METRIC_NONE, name, unit;
	int r;

	name = idmap_get(&p->strings, w->name);
	unit = idmap_get(&p->strings, w->unit);
	if (name == SESSION_NONE || unit == SESSION_NONE || w->type > METRIC_TEXT ||
	    w->scope > METRIC_PROPERTY || w->add > METRIC_WMEAN)
		return -EBADMSG;
	m = (struct metric){strtab_str(d->s->strings, name),
			    strtab_str(d->s->strings, unit),
			    w->type,
			    w->scope,
			    w->rule && w->rule < METRIC_N_ADDS ? w->rule : w->add,
			    METRIC_NONE};
	if (w->weight != WIRE_NONE)
		m.weight = idmap_get(&p->metrics, w->weight);
	r = metric_join(d, p, &m, &id);
	d->s->generation++;
	if (id != METRIC_NONE && idmap_set(&p->metrics, w->id, id) < 0)
		return -ENOMEM;
	return r;
}

/* A few: WIRE_SET has 64 at most. */
static bool is_among(uint32_t metric, const uint32_t *metrics, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && metrics[i] != metric; i++)
		;
	return i < n;
}

int decode_set(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_set_def *w = (const void *)m->payload;
	uint32_t metrics[64], i, id;

	if (w->n > ARRAY_SIZE(metrics) || w->n * sizeof(uint32_t) > m->size - sizeof(*w) ||
	    w->id == 0)
		return -EBADMSG;
	memcpy(metrics, m->payload + sizeof(*w), w->n * sizeof(uint32_t));
	for (i = 0; i < w->n; i++) {
		metrics[i] = idmap_get(&p->metrics, metrics[i]);
		if (metrics[i] == SESSION_NONE || is_among(metrics[i], metrics, i))
			return -EBADMSG;
	}
	id = session_set_intern(d->s, metrics, w->n);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->sets, w->id, id);
}

int decode_slot(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_slot_def *w = entry;
	uint32_t node = idmap_get(&p->nodes, w->node), lane = idmap_get(&p->lanes, w->lane);
	uint32_t epoch = idmap_get(&p->epochs, w->epoch), set = idmap_get(&p->sets, w->set), row;

	if (node == SESSION_NONE || lane == SESSION_NONE || epoch == SESSION_NONE ||
	    set == SESSION_NONE)
		return -EBADMSG;
	row = session_row_intern(d->s, node, lane, epoch, set);
	if (row == SESSION_NONE || shared_rows_claim(&p->shared, d->s, w->id, row) < 0)
		return -ENOMEM;
	return idmap_set(&p->slots, w->id, row);
}

/* Where the values of a merged slot go must be of the same kind. */
int decode_merge(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_merge *w = entry;
	uint32_t from = idmap_get(&p->slots, w->from), into = idmap_get(&p->slots, w->into);

	if (from == SESSION_NONE || from == into)
		return -EBADMSG;
	if (w->into != WIRE_NONE &&
	    (into == SESSION_NONE || d->s->rows[from].set != d->s->rows[into].set))
		return -EBADMSG;
	shared_rows_merge(&p->shared, d->s, w->from, from, w->into, into);
	return 0;
}

int decode_kernel(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_kernel_values *w = entry;
	const uint64_t v[] = {w->time_ns, w->count, w->min_ns, w->max_ns};
	uint32_t row = idmap_get(&p->slots, w->slot), i;

	if (row == SESSION_NONE || d->s->rows[row].set != SET_KERNEL)
		return -EBADMSG;
	for (i = 0; i < ARRAY_SIZE(v); i++)
		shared_rows_set(&p->shared, d->s, w->slot, row, i,
				(union metric_value){.u64 = v[i]});
	return 0;
}

/* A value as the session has its metric. 1, 0: it cannot have it (decode_metric() has counted that), or
 * -EBADMSG. */
static int value_take(const struct wire_decoder *d, const struct peer *p, uint32_t metric,
		      union metric_value *v)
{
	enum metric_type type = metric_table_get(d->s->metrics, metric)->type;
	enum metric_type sent = sent_type(d, p, metric);

	if ((type == METRIC_TEXT) != (sent == METRIC_TEXT))
		return 0;
	if (type != METRIC_TEXT)
		return metric_convert(sent, type, v) ? 1 : -EBADMSG;
	v->text = idmap_get(&p->strings, (uint32_t)v->u64);
	return v->text == SESSION_NONE ? -EBADMSG : 1;
}

static int values_row(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_values *w = entry;
	const uint64_t *values = (const uint64_t *)(w + 1);
	uint32_t row = idmap_get(&p->slots, w->slot), i;
	const struct session_set *set;
	union metric_value v;
	int r = 0, one;

	if (row == SESSION_NONE)
		return -EBADMSG;
	set = &d->s->sets[d->s->rows[row].set];
	if (set->n != w->n)
		return -EBADMSG;
	for (i = 0; i < w->n; i++) {
		if (!(w->present >> i & 1))
			continue;
		v.u64 = values[i];
		one = value_take(d, p, set->metrics[i], &v);
		if (one < 0)
			r = one;
		else if (one)
			shared_rows_set(&p->shared, d->s, w->slot, row, i, v);
	}
	return r;
}

int decode_values(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	static const struct many rows = MANY(wire_values, uint64_t, 64, values_row);

	return decode_many(d, p, m, &rows);
}

static int hist_one(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_hist *w = entry;
	uint32_t node = idmap_get(&p->nodes, w->node);
	uint32_t device = idmap_get(&p->devices, w->device);
	const struct wire_bucket *b = (const struct wire_bucket *)(w + 1);
	struct hist *h;
	int r = 0;

	if (node == SESSION_NONE || device == SESSION_NONE)
		return -EBADMSG;
	h = session_hist_part(d->s, node, device, p->process, decode_node_part(p, node, w->node));
	if (!h)
		return -ENOMEM;
	hist_done(h);
	for (uint32_t i = 0; r == 0 && i < w->n; i++)
		r = b[i].bucket < HIST_OLD_BUCKETS ? hist_count_old(h, b[i].bucket, b[i].count)
						   : -EBADMSG;
	return r;
}

int decode_hists(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	static const struct many hists =
		MANY(wire_hist, struct wire_bucket, HIST_OLD_BUCKETS, hist_one);

	return decode_many(d, p, m, &hists);
}

static int octave_one(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_octave *w = entry;
	uint32_t node = idmap_get(&p->nodes, w->node);
	uint32_t device = idmap_get(&p->devices, w->device), n[HIST_WIDTH] = {0};
	struct hist *h;

	if (node == SESSION_NONE || device == SESSION_NONE || w->octave >= HIST_OCTAVES ||
	    w->first > HIST_WIDTH || w->n > (uint32_t)HIST_WIDTH - w->first)
		return -EBADMSG;
	h = session_hist_part(d->s, node, device, p->process, decode_node_part(p, node, w->node));
	if (!h)
		return -ENOMEM;
	memcpy(n + w->first, w + 1, w->n * sizeof(*n));
	return hist_put(h, w->octave, n);
}

int decode_octaves(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	static const struct many octaves = MANY(wire_octave, uint32_t, HIST_WIDTH, octave_one);

	return decode_many(d, p, m, &octaves);
}
