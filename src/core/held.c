/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/held.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/activity.h"

void held_done(struct held_list *list)
{
	free(list->v);
	free(list->by);
	*list = (struct held_list){0};
}

/* ---- which there are ---- */

/* A row of a total, or of a pool. Those stand below the root. */
static bool is_total(const struct session *s, const struct session_row *row)
{
	return s->nodes[row->node].parent == SESSION_ROOT &&
	       session_node_kind(s, row->node) == FRAME_ALLOC &&
	       (!isnan(session_row_number(s, row, METRIC_PEAK_AT)) ||
		!isnan(session_row_number(s, row, METRIC_POOL_SIZE)));
}

static bool is_at(const struct session *s, const struct held *h, const struct session_row *row)
{
	const struct session_lane *lane = session_lane_at(s, row->lane);

	return h->node == row->node && h->device == lane->device && h->process == lane->process;
}

static int add_total(struct held_list *list, const struct session *s, const struct session_row *row)
{
	const struct session_lane *lane = session_lane_at(s, row->lane);

	for (size_t i = 0; i < list->n; i++)
		if (is_at(s, &list->v[i], row))
			return 0;
	if (ARRAY_ROOM(list->v, list->cap, list->n + 1) < 0)
		return -ENOMEM;
	list->v[list->n++] = (struct held){
		.process = lane->process,
		.device = lane->device,
		.node = row->node,
		.live = NAN,
		.peak = NAN,
		.peak_at_ns = NAN,
		.allocs = NAN,
		.allocated = NAN,
		.frees = NAN,
		.freed = NAN,
		.left = NAN,
		.reserved = session_row_number(s, row, METRIC_POOL_SIZE),
		.used = NAN,
		.reserved_peak = NAN,
		.used_peak = NAN,
		.unused = NAN,
		.grown = NAN,
		.fragmented = NAN,
		.fragmented_times = NAN,
	};
	return 0;
}

/* Its values may be in several rows. */
static void fill_total(struct held *h, const struct session *s, const struct session_row *row)
{
	if (!is_at(s, h, row))
		return;
	h->peak = fmax(h->peak, session_row_number(s, row, METRIC_MEM_PEAK));
	h->peak_at_ns = fmax(h->peak_at_ns, session_row_number(s, row, METRIC_PEAK_AT));
	h->reserved = fmax(h->reserved, session_row_number(s, row, METRIC_POOL_SIZE));
	h->used = fmax(h->used, session_row_number(s, row, METRIC_POOL_USED));
	h->reserved_peak = fmax(h->reserved_peak, session_row_number(s, row, METRIC_POOL_PEAK));
	h->used_peak = fmax(h->used_peak, session_row_number(s, row, METRIC_POOL_USED_PEAK));
	h->unused = fmax(h->unused, session_row_number(s, row, METRIC_POOL_UNUSED));
	if (!isnan(h->used_peak)) { /* who tells this tells how it grew */
		add_present(&h->fragmented, 0);
		add_present(&h->fragmented_times, 0);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (held_is_pool(x) != held_is_pool(y))
		return held_is_pool(x) ? 1 : -1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* ---- what they come to ---- */

/* "alloc device" is the kind of "alloc device pool", too. */
static bool is_kind_of(const char *kind, const char *name)
{
	size_t n = strlen(kind);

	return !strncmp(kind, name, n) && (!name[n] || name[n] == ' ');
}

bool held_is_of_pool(const char *name, const char *pool)
{
	const char *end = strstr(name, ALLOC_FROM);
	size_t len = end ? (size_t)(end - name) : strlen(name), n = strlen(pool);

	if (!strcmp(pool, TORCH_POOL))
		return is_kind_of(ALLOC_TENSORS, name);
	return len > n && name[len - n - 1] == ' ' && !strncmp(name + len - n, pool, n);
}

/* Whichever process the row is of. */
static bool may_be_part(const struct session *s, const struct session_row *row,
			const struct held *h, bool pool)
{
	const char *name = session_node_name(s, row->node), *own = session_node_name(s, h->node);

	return held_is_pool(h) == pool && h->device == session_lane_at(s, row->lane)->device &&
	       (pool ? held_is_of_pool(name, own) : is_kind_of(own, name));
}

/* The total, or the pool, that a row is a part of; NULL: there is none. Tools that change a file leave out processes: it
 * is of the only one that has such memory, and where several have of none. */
static struct held *whole_of(struct held_list *list, const struct session *s,
			     const struct session_row *row, bool pool)
{
	uint32_t process = session_lane_at(s, row->lane)->process;
	struct held *only = NULL;

	for (size_t i = 0; i < list->n; i++) {
		struct held *h = &list->v[i];

		if (!may_be_part(s, row, h, pool))
			continue;
		if (h->process == process)
			return h;
		if (process == SESSION_NONE && only)
			h->is_partial = only->is_partial = true;
		only = h;
	}
	return process == SESSION_NONE && only && !only->is_partial ? only : NULL;
}

static void forget_sums(struct held *h)
{
	h->live = h->allocs = h->allocated = h->frees = h->freed = h->left = NAN;
	h->grown = h->fragmented = h->fragmented_times = NAN;
}

/* How its pool grew by it. */
static void add_growth(struct held_list *list, const struct session *s,
		       const struct session_row *row)
{
	struct held *h = whole_of(list, s, row, true);

	if (!h)
		return;
	add_present(&h->grown, session_row_number(s, row, METRIC_POOL_GROWN));
	add_present(&h->fragmented, session_row_number(s, row, METRIC_FRAGMENTED));
	add_present(&h->fragmented_times, session_row_number(s, row, METRIC_FRAGMENTED_TIMES));
}

static void add_row(struct held_list *list, const struct session *s, const struct session_row *row)
{
	struct held *h = whole_of(list, s, row, false);

	add_growth(list, s, row);
	if (!h)
		return;
	add_present(&h->live, session_row_number(s, row, METRIC_MEM_LIVE));
	add_present(&h->allocs, session_row_number(s, row, METRIC_ALLOCS));
	add_present(&h->allocated, session_row_number(s, row, METRIC_ALLOCATED));
	add_present(&h->frees, session_row_number(s, row, METRIC_FREES));
	add_present(&h->freed, session_row_number(s, row, METRIC_FREED));
	add_present(&h->left, session_row_number(s, row, METRIC_NOT_FREED));
}

/* ---- by whom ---- */

const char *held_allocator(const char *name)
{
	const char *from =
		strncmp(name, ALLOC_WORD, strlen(ALLOC_WORD)) ? NULL : strstr(name, ALLOC_FROM);

	return from ? from + strlen(ALLOC_FROM) : NULL;
}

static struct held_by *by_of(struct held_list *list, const struct session *s,
			     const struct session_row *row)
{
	const struct session_lane *lane = session_lane_at(s, row->lane);
	const char *name = session_node_name(s, row->node);
	const struct held *whole = whole_of(list, s, row, false);
	uint32_t process = whole ? whole->process : lane->process;

	for (size_t i = 0; i < list->n_by; i++) {
		struct held_by *b = &list->by[i];

		if (b->device == lane->device && b->process == process &&
		    !strcmp(session_node_name(s, b->node), name))
			return b;
	}
	if (ARRAY_ROOM(list->by, list->cap_by, list->n_by + 1) < 0)
		return NULL;
	list->by[list->n_by] = (struct held_by){.process = process,
						.device = lane->device,
						.node = row->node,
						.live = NAN,
						.at_peak = NAN,
						.allocs = NAN,
						.allocated = NAN,
						.frees = NAN,
						.freed = NAN,
						.left = NAN};
	return &list->by[list->n_by++];
}

static int add_by(struct held_list *list, const struct session *s, const struct session_row *row)
{
	struct held_by *b;

	if (!held_allocator(session_node_name(s, row->node)))
		return 0;
	b = by_of(list, s, row);
	if (!b)
		return -ENOMEM;
	add_present(&b->live, session_row_number(s, row, METRIC_MEM_LIVE));
	add_present(&b->at_peak, session_row_number(s, row, METRIC_AT_PEAK));
	add_present(&b->allocs, session_row_number(s, row, METRIC_ALLOCS));
	add_present(&b->allocated, session_row_number(s, row, METRIC_ALLOCATED));
	add_present(&b->frees, session_row_number(s, row, METRIC_FREES));
	add_present(&b->freed, session_row_number(s, row, METRIC_FREED));
	add_present(&b->left, session_row_number(s, row, METRIC_NOT_FREED));
	return 0;
}

static double number(double v)
{
	return isnan(v) ? 0 : v;
}

static int by_held(const void *a, const void *b)
{
	const struct held_by *x = a, *y = b;
	double d = number(y->live) - number(x->live);

	if (d == 0)
		d = number(y->at_peak) - number(x->at_peak);
	if (d == 0)
		d = number(y->allocated) - number(x->allocated);
	return d < 0 ? -1 : d > 0 ? 1 : x->node < y->node ? -1 : x->node > y->node;
}

static int add_totals(struct held_list *list, const struct session *s)
{
	for (size_t i = 0; i < s->n_rows; i++)
		if (is_total(s, &s->rows[i]) && add_total(list, s, &s->rows[i]) < 0)
			return -ENOMEM;
	return 0;
}

int held_make(struct held_list *list, const struct session *s)
{
	list->n = list->n_by = 0;
	if (!session_has_values(s, METRIC_MEM_PEAK) && !session_has_values(s, METRIC_POOL_SIZE))
		return 0;
	if (add_totals(list, s) < 0) {
		list->n = 0;
		return -ENOMEM;
	}
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_place);
	for (size_t i = 0; list->n && i < s->n_rows; i++) {
		if (session_node_kind(s, s->rows[i].node) != FRAME_ALLOC)
			continue;
		if (add_by(list, s, &s->rows[i]) < 0) {
			list->n = list->n_by = 0;
			return -ENOMEM;
		}
		for (size_t k = 0; k < list->n; k++)
			fill_total(&list->v[k], s, &s->rows[i]);
		add_row(list, s, &s->rows[i]);
	}
	for (size_t k = 0; k < list->n; k++)
		if (list->v[k].is_partial)
			forget_sums(&list->v[k]);
	if (list->n_by)
		qsort(list->by, list->n_by, sizeof(*list->by), by_held);
	return 0;
}

const char *held_why_none(const struct session *s)
{
	return session_note_about(s, NO_MEMORY_EVENTS);
}

/* What another user of CUPTI has kept from us may have allocated, and released what is here. Of the tensors PyTorch told
 * all the same, and OpenCL of what is its own. */
const char *held_why_unsure(const struct session *s)
{
	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].losses[LOSS_ASIDE])
			return HELD_UNSURE;
	return NULL;
}

const char *held_left_remark(const struct session *s)
{
	for (size_t i = 0; i < s->n_rows; i++)
		if (session_row_number(s, &s->rows[i], METRIC_LEFT_BYTES) > 0 &&
		    !strcmp(session_node_name(s, s->rows[i].node), ALLOC_TENSORS))
			return HELD_LEFT_TENSORS;
	return NULL;
}

bool held_has_unified(const struct session *s)
{
	return session_has_values(s, METRIC_MIGRATIONS) || session_has_values(s, METRIC_CPU_FAULTS);
}

static bool is_managed(const struct session *s, const struct held *h)
{
	return !strcmp(session_node_name(s, h->node), ALLOC_WORD "managed");
}

const char *held_why_no_unified(const struct session *s, const struct held_list *list)
{
	const char *note = session_note_about(s, NO_UNIFIED_EVENTS);

	if (note || held_has_unified(s))
		return note;
	for (size_t i = 0; i < list->n; i++)
		if (is_managed(s, &list->v[i]))
			return "what it did is recorded with --unified";
	return NULL;
}

/* Where it is, and of which kind: `len` bytes of a name without its word. */
static void place_name(const struct session *s, uint32_t device, uint32_t process, const char *kind,
		       int len, const char *before, char out[HELD_NAME])
{
	char word[DEVICE_WORD] = "host", pid[32] = "";

	if (device < s->n_devices)
		session_device_word(s, device, word);
	if (s->n_processes > 1 && process < s->n_processes)
		snprintf(pid, sizeof(pid), ", pid %" PRIu32, s->processes[process].pid);
	snprintf(out, HELD_NAME, "%.96s%s %.*s%s", before, word, len, kind, pid);
}

enum { KIND_MAX = 32 };

void held_name(const struct session *s, const struct held *h, char out[HELD_NAME])
{
	const char *name = session_node_name(s, h->node);

	if (!strncmp(name, ALLOC_WORD, strlen(ALLOC_WORD)))
		name += strlen(ALLOC_WORD);
	place_name(s, h->device, h->process, name, KIND_MAX, "", out);
}

void held_by_name(const struct session *s, const struct held_by *b, char out[HELD_NAME])
{
	const char *name = session_node_name(s, b->node), *allocator = held_allocator(name),
		   *kind = name + strlen(ALLOC_WORD);
	char before[HELD_NAME];

	snprintf(before, sizeof(before), "%s, ", allocator);
	place_name(s, b->device, b->process, kind,
		   MIN((int)(allocator - kind - (ptrdiff_t)strlen(ALLOC_FROM)), KIND_MAX), before,
		   out);
}
