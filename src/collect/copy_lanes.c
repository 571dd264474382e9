/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/copy_lanes.h"
#include <stdatomic.h>
#include <string.h>
#include "backends/pages.h"
#include "base/util.h"
#include "collect/internal.h"
#include "core/hidden.h"

enum {
	OWN_LANES = 128, /* behind them one of each device, for all others */
	N_LANES = OWN_LANES + MAX_DEVICES,
	NO_LANE = 255,
	LANE_SPANS = 1 << 12, /* pieces of time remembered a lane */
};
_Static_assert(N_LANES < NO_LANE, "lanes have numbers of 8 bits");
_Static_assert(COPY_LANES_RUN <= LANE_SPANS / 2, "a run is a part of what is remembered");

struct lane {
	struct session_copy_lane of;
	struct hidden hidden; /* without room before its first copy */
	uint32_t next;        /* + 1, of the same device; 0: none */
	bool is_used;
};

/* owner: whoever holds the taker's place */
static struct {
	struct lane lane[N_LANES];
	uint32_t n;                                     /* own lanes */
	uint32_t first[MAX_DEVICES], last[MAX_DEVICES]; /* + 1; last: that was asked for */
	uint64_t since[MAX_DEVICES];
	struct span *scratch; /* of all: LANE_SPANS */
	struct span run[COPY_LANES_RUN];
	bool is_copy[COPY_LANES_RUN];
	uint8_t at[COPY_LANES_RUN]; /* lanes of copies of a run that are not taken yet */
} lanes;

/* owner: the sender thread */
static struct {
	struct session_copy_lane now[N_LANES], sent[N_LANES];
	bool is_used[N_LANES];
} ready;
static _Atomic uint64_t n_bytes;

/* ---- places ---- */

static bool is_of(const struct lane *l, const struct wire_epoch_interval *v,
		  const struct copy_way *way)
{
	const struct lane_entry *at = &collector->lane[v->of.lane];

	return l->of.context == at->context && l->of.stream == at->stream &&
	       l->of.direction == way->direction && l->of.channel == way->channel &&
	       l->of.channel_kind == way->channel_kind;
}

static bool lane_init(struct lane *l, uint32_t device)
{
	struct span *room = pages_reserve(LANE_SPANS * sizeof(*room));

	if (!lanes.scratch)
		lanes.scratch = pages_reserve(LANE_SPANS * sizeof(*room));
	if (!room || !lanes.scratch)
		return false;
	hidden_init(&l->hidden, room, lanes.scratch, LANE_SPANS);
	hidden_reset(&l->hidden, lanes.since[device]);
	return true;
}

/* A new one, in the chain of its device; NULL: out of memory. */
static struct lane *lane_add(uint32_t device, uint32_t at)
{
	struct lane *l = &lanes.lane[at];

	if (!l->hidden.lane.v && !lane_init(l, device))
		return NULL;
	l->of = (struct session_copy_lane){
		.device = device, .context = WIRE_NONE, .stream = WIRE_NONE};
	l->is_used = true;
	l->next = lanes.first[device];
	lanes.first[device] = at + 1;
	return l;
}

static struct lane *lane_make(uint32_t device, const struct wire_epoch_interval *v,
			      const struct copy_way *way)
{
	const struct lane_entry *at = &collector->lane[v->of.lane];
	struct lane *l;

	if (lanes.n == OWN_LANES) {
		l = &lanes.lane[OWN_LANES + device];
		return l->is_used ? l : lane_add(device, OWN_LANES + device);
	}
	l = lane_add(device, lanes.n);
	if (!l)
		return NULL;
	lanes.n++;
	l->of.context = at->context;
	l->of.stream = at->stream;
	l->of.direction = way->direction;
	l->of.channel = way->channel;
	l->of.channel_kind = way->channel_kind;
	return l;
}

/* NULL: out of memory. */
static struct lane *lane_of(uint32_t device, const struct wire_epoch_interval *v,
			    const struct copy_way *way)
{
	struct lane *l = lanes.last[device] ? &lanes.lane[lanes.last[device] - 1] : NULL;

	if (l && is_of(l, v, way))
		return l;
	for (uint32_t i = lanes.first[device]; i; i = l->next) {
		l = &lanes.lane[i - 1];
		if (is_of(l, v, way)) {
			lanes.last[device] = i;
			return l;
		}
	}
	return lane_make(device, v, way);
}

/* ---- time ---- */

/* Where the copies of a run are at home. */
static void find_lanes(uint32_t device, const struct wire_epoch_interval *v,
		       const struct copy_way *way, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct lane *l = lanes.is_copy[i] ? lane_of(device, &v[i], &way[i]) : NULL;

		lanes.at[i] = l ? (uint8_t)(l - lanes.lane) : NO_LANE;
		if (lanes.is_copy[i] && !l)
			lose(LOSS_INTERVALS, 1);
	}
}

/* Those of one lane together. */
static void add_copies(uint32_t device, const struct coverage *others, const struct span *run,
		       uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t at = lanes.at[i];
		struct lane *l;
		uint32_t n_run = 0;

		if (at == NO_LANE)
			continue;
		l = &lanes.lane[at];
		for (uint32_t k = i; k < n; k++) {
			if (lanes.at[k] != at)
				continue;
			lanes.at[k] = NO_LANE;
			lanes.run[n_run++] = run[k];
			l->of.count += run[k].start >= lanes.since[device];
		}
		hidden_add(&l->hidden, others, lanes.run, n_run);
	}
}

void copy_lanes_cover(uint32_t device, struct overlap *o, const struct span *run,
		      const struct wire_epoch_interval *v, const struct copy_way *way, uint32_t n)
{
	uint64_t from = run->start, to = 0;
	struct lane *l;
	uint32_t i;

	for (i = 0; i < n; i++) {
		lanes.is_copy[i] = way[i].is_copy;
		to = MAX(to, run[i].end);
	}
	overlap_make_room(o, n);
	for (i = lanes.first[device]; i; i = l->next) {
		l = &lanes.lane[i - 1];
		hidden_before(&l->hidden, overlap_first(o), from, to);
	}
	overlap_add(o, run, lanes.is_copy, n, lanes.run);
	for (i = lanes.first[device]; i; i = l->next) {
		l = &lanes.lane[i - 1];
		hidden_after(&l->hidden, overlap_first(o), from, to);
	}
	if (o->is_told_apart && memchr(lanes.is_copy, true, n)) {
		find_lanes(device, v, way, n);
		add_copies(device, overlap_first(o), run, n);
	}
}

void copy_lanes_reset(uint32_t device, uint64_t since)
{
	struct lane *l;

	lanes.since[device] = MAX(since, lanes.since[device]);
	for (uint32_t i = lanes.first[device]; i; i = l->next) {
		l = &lanes.lane[i - 1];
		hidden_reset(&l->hidden, lanes.since[device]);
		l->of.count = 0;
	}
}

void copy_lanes_forked(void)
{
	for (uint32_t i = 0; i < N_LANES; i++) {
		struct hidden *h = &lanes.lane[i].hidden;

		if (h->lane.v)
			hidden_init(h, h->lane.v, lanes.scratch, LANE_SPANS);
		lanes.lane[i].is_used = false;
	}
	lanes.n = 0;
	memset(lanes.first, 0, sizeof(lanes.first));
	memset(lanes.last, 0, sizeof(lanes.last));
	memset(lanes.since, 0, sizeof(lanes.since));
	memset(&ready, 0, sizeof(ready));
	atomic_store(&n_bytes, 0);
}

/* ---- for the sender ---- */

static void look(uint32_t i, uint64_t *n_spans)
{
	struct lane *l = &lanes.lane[i];

	*n_spans += l->hidden.lane.n;
	l->of.time_ns = hidden_copies_ns(&l->hidden);
	l->of.hidden_ns = l->hidden.hidden_ns;
	l->of.unsure_ns = MIN(l->hidden.late_ns, l->of.time_ns - l->of.hidden_ns);
	ready.now[i] = l->of;
	ready.is_used[i] = true;
}

void copy_lanes_look(void)
{
	uint64_t n_spans = 0;

	for (uint32_t device = 0; device < MAX_DEVICES; device++)
		for (uint32_t i = lanes.first[device]; i; i = lanes.lane[i - 1].next)
			look(i - 1, &n_spans);
	atomic_store(&n_bytes, n_spans * sizeof(struct span));
}

static int lane_send(struct wire_encoder *e, uint32_t i)
{
	const struct session_copy_lane *now = &ready.now[i];
	const struct wire_copy_lane w = {.device = now->device,
					 .n = COPY_LANE_N,
					 .context = now->context,
					 .stream = now->stream,
					 .channel = now->channel,
					 .direction = now->direction,
					 .channel_kind = now->channel_kind};

	if (!memcmp(now->v, ready.sent[i].v, sizeof(now->v)))
		return 0;
	wire_put_numbers(e, WIRE_COPY_LANES, &w, sizeof(w), now->v, w.n);
	if (wire_encoder_flush(e) < 0)
		return e->error;
	ready.sent[i] = *now;
	return 0;
}

int copy_lanes_send(struct wire_encoder *e, uint32_t n_devices)
{
	int r = 0;

	for (uint32_t i = 0; i < N_LANES && r == 0; i++)
		if (ready.is_used[i] && ready.now[i].device < n_devices)
			r = lane_send(e, i);
	return r;
}

/* Numbers that no lane has: those that are 0 since a reset are told, too. */
void copy_lanes_resend(void)
{
	for (uint32_t i = 0; i < N_LANES; i++)
		ready.sent[i].count = UINT64_MAX;
}

uint64_t copy_lanes_bytes(void)
{
	return atomic_load(&n_bytes);
}
