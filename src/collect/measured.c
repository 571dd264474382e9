/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/measured.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "collect/epochs.h"
#include "collect/internal.h"
#include "collect/late_values.h"
#include "collect/slots.h"
#include "core/activity.h"
#include "core/frame.h"
#include "core/ranges_wanted.h"

enum { COUNT, TIME, FIRST }; /* places in the set */

_Atomic bool measured_by_scope;
static _Atomic(const char *) asked;

static struct {
	struct ranges_wanted wanted;
	_Atomic bool is_read;
	uint32_t set;
} measured = {.set = WIRE_NONE};

/* The one before stays where it is: somebody may read it. */
void measured_ask(const char *names)
{
	atomic_store(&asked, names ? strdup(names) : NULL);
}

const char *measured_asked(void)
{
	return atomic_load(&asked);
}

static bool has_name(const char *names, const char *name, size_t len)
{
	for (; names; names = strchr(names, ','), names += names != NULL)
		if (strcspn(names, ",") == len && !memcmp(names, name, len))
			return true;
	return false;
}

const char *measured_missing(const char *names)
{
	while (names && has_name(measured_asked(), names, strcspn(names, ","))) {
		names = strchr(names, ',');
		names += names != NULL;
	}
	return names;
}

static bool read_file(char *text, size_t size)
{
	char path[sizeof(collector->dir) + sizeof(RANGES_FILE) + 1];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/" RANGES_FILE, collector->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 && (size_t)n < size - 1; /* one that is cut off would have half a name */
}

static bool make_set(const struct ranges_wanted *w)
{
	uint32_t ids[SET_MAX];
	uint16_t metrics[SET_MAX];
	unsigned n = FIRST + (unsigned)w->n;

	ids[COUNT] = metric_intern(RANGES_COUNT, "", METRIC_U64, METRIC_INCLUSIVE, METRIC_SUM);
	ids[TIME] = metric_intern(RANGES_TIME, "ns", METRIC_U64, METRIC_INCLUSIVE, METRIC_SUM);
	for (size_t i = 0; i < w->n; i++)
		ids[FIRST + i] = metric_intern_weighed(w->metrics[i].name, w->metrics[i].unit,
						       w->metrics[i].add, ids[TIME]);
	for (unsigned i = 0; i < n; i++) {
		if (ids[i] == WIRE_NONE)
			return false;
		metrics[i] = (uint16_t)ids[i];
	}
	measured.set = set_intern(metrics, n);
	return measured.set != WIRE_NONE;
}

const struct ranges_wanted *measured_wanted(void)
{
	char text[20480]; /* more than RANGES_METRICS_MAX of the longest names */

	if (!atomic_exchange(&measured.is_read, true) && read_file(text, sizeof(text)) &&
	    ranges_wanted_parse(text, &measured.wanted) && !make_set(&measured.wanted))
		lose(LOSS_SLOTS_FULL, 1);
	if (measured.set == WIRE_NONE)
		return NULL;
	if (measured.wanted.of == RANGES_OF_SCOPES || measured.wanted.of == RANGES_OF_NVTX)
		atomic_store(&measured_by_scope, true);
	return &measured.wanted;
}

/* The innermost one with ranges that a node is in; the root: none. */
static uint32_t ranged_node(uint32_t node)
{
	for (; node; node = collector->node[node].parent) {
		uint32_t kind = collector->frame[collector->node[node].frame].kind;

		if (kind == FRAME_NVTX ||
		    (kind == FRAME_SCOPE && measured.wanted.of == RANGES_OF_SCOPES))
			break;
	}
	return node;
}

/* A thread without scopes of its own is in those of the main thread, whose number is that of the process. */
static uint32_t scopes_of(const struct thread_state *t)
{
	return t->depth || t->is_main ? t->tid : (uint32_t)getpid();
}

bool measured_place(const struct context_entry *e, struct range_place *ret)
{
	uint32_t node = measured.wanted.of == RANGES_OF_GRAPHS ? e->node : ranged_node(e->node);

	if (!node && measured.wanted.of != RANGES_OF_GRAPHS)
		return false;
	ret->thread = scopes_of(thread_state());
	ret->use = epoch_use(e->epoch);
	ret->slot =
		slot_intern(node, lane_intern(WIRE_NONE, 0, 0, e->thread), measured.set, e->epoch);
	return ret->slot != WIRE_NONE;
}

bool measured_beside(uint32_t slot, struct range_place *ret)
{
	const struct slot_entry *e;

	if (slot == WIRE_NONE)
		return false;
	e = &collector->slot[slot];
	*ret = (struct range_place){
		.slot = slot_intern(e->node, e->lane, measured.set, e->epoch),
		.use = epoch_use(e->epoch),
	};
	return ret->slot != WIRE_NONE;
}

void measured_moved(const struct thread_state *t)
{
	backends_moved(t->tid);
}

static double get_f64(uint32_t slot, unsigned i)
{
	uint64_t bits = atomic_load_explicit(&collector->value[collector->slot[slot].values + i],
					     memory_order_relaxed);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_f64(uint32_t slot, unsigned i, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	slot_store(slot, i, bits);
}

static uint64_t get_u64(uint32_t slot, unsigned i)
{
	return atomic_load_explicit(&collector->value[collector->slot[slot].values + i],
				    memory_order_relaxed);
}

/* What a metric is after a kernel or a range: of n before it, which ran for was_ns. */
static double joined(uint8_t add, double old, uint64_t n, double was_ns, double v, double ns)
{
	if (!n || isnan(old))
		return v;
	if (isnan(v))
		return old;
	switch (add) {
	case METRIC_SUM:
		return old + v;
	case METRIC_MIN:
		return v < old ? v : old;
	case METRIC_MAX:
		return v > old ? v : old;
	default:
		return was_ns + ns > 0 ? (old * was_ns + v * ns) / (was_ns + ns) : old;
	}
}

/* The slot that has the values now: of the place's epoch, or of none. */
static uint32_t slot_told(const struct range_place *at)
{
	const struct slot_entry *e = &collector->slot[at->slot];

	return slot_intern(e->node, e->lane, e->set, epoch_told_late(e->epoch, at->use));
}

static void add(uint32_t slot, uint64_t time_ns, const double *values)
{
	uint64_t n, was_ns;

	if (slot == WIRE_NONE)
		return;
	n = get_u64(slot, COUNT);
	was_ns = get_u64(slot, TIME);
	for (unsigned i = 0; i < measured.wanted.n; i++)
		put_f64(slot, FIRST + i,
			joined(measured.wanted.metrics[i].add, get_f64(slot, FIRST + i), n,
			       (double)was_ns, values[i], (double)time_ns));
	slot_add_u64(slot, COUNT, 1);
	slot_add_u64(slot, TIME, time_ns);
	slot_touch(slot);
}

void measured_add(const struct range_place *at, uint64_t time_ns, const double *values)
{
	bool has_begun = late_values_begin();

	add(slot_told(at), time_ns, values);
	late_values_end(has_begun);
}
