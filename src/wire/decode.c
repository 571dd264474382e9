/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/decode.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include "base/clock.h"
#include "base/util.h"
#include "core/row_tables.h"
#include "core/session.h"
#include "wire/counters.h"
#include "wire/decoder.h"
#include "wire/sensors.h"
#include "wire/told_rows.h"

/* Other things that an instance may add to the session: more than the tables of a collector hold. */
#define PEER_THINGS_MAX (UINT64_C(1) << 21)
/* Clocks that differ by less are one. */
#define SAME_CLOCK_NS ((int64_t)NSEC_PER_MSEC)

static int on_bye(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_bye *bye = (const void *)m->payload;

	p->went_on = bye->reason == WIRE_BYE_RUNS;
	d->s->processes[p->process].end = p->went_on ? PROCESS_RUNS : PROCESS_ENDED;
	d->s->generation++;
	return 0;
}

/* Kinds that say nothing to a session: they are for the tape, the disk and the socket. */
static int on_nothing(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	return 0;
}

/* A kind is either an array of entries of one size or has a handler for the whole payload, which is
 * not smaller than that. */
static const struct {
	size_t size;
	int (*entry)(struct wire_decoder *d, struct peer *p, const void *entry);
	int (*whole)(struct wire_decoder *d, struct peer *p, const struct message *m);
	bool adds; /* to the tables of the session, for good */
} handlers[WIRE_N_KINDS] = {
	[WIRE_HELLO] = {sizeof(struct wire_hello), .whole = decode_hello},
	[WIRE_TEXT] = {sizeof(struct wire_text), .whole = decode_text},
	[WIRE_FRAMES] = {sizeof(struct wire_frame_def), decode_frame, NULL, true},
	[WIRE_NODES] = {sizeof(struct wire_node_def), decode_node, NULL, true},
	[WIRE_LANES] = {sizeof(struct wire_lane_def), decode_lane, NULL, true},
	[WIRE_METRICS] = {sizeof(struct wire_metric_def), decode_metric, NULL, true},
	[WIRE_SET] = {sizeof(struct wire_set_def), .whole = decode_set, .adds = true},
	[WIRE_EPOCHS] = {sizeof(struct wire_epoch_def), decode_epoch, NULL, true},
	[WIRE_SLOTS] = {sizeof(struct wire_slot_def), decode_slot, NULL, true},
	[WIRE_VALUES] = {.whole = decode_values},
	[WIRE_KERNELS] = {sizeof(struct wire_kernel_values), decode_kernel, NULL, false},
	[WIRE_HISTS] = {.whole = decode_hists, .adds = true},
	[WIRE_OCTAVES] = {.whole = decode_octaves, .adds = true},
	[WIRE_DEVICE] = {sizeof(struct wire_device), decode_device, NULL, true},
	[WIRE_MODULES] = {sizeof(struct wire_module_def), decode_module, NULL, true},
	[WIRE_SYMBOLS] = {sizeof(struct wire_symbol), decode_symbol, NULL, false},
	[WIRE_CLOCK] = {sizeof(struct wire_clock), decode_clock_pair, NULL, true},
	[WIRE_TICK] = {sizeof(struct wire_tick), .whole = decode_tick},
	[WIRE_NOTE] = {sizeof(struct wire_note), decode_note, NULL, true},
	[WIRE_SEGMENT] = {sizeof(struct wire_segment), .whole = decode_segment},
	[WIRE_BULK] = {sizeof(struct wire_bulk), .whole = decode_bulk},
	[WIRE_SAMPLES] = {sizeof(struct wire_sample), decode_sample, NULL, false},
	[WIRE_INTERVALS] = {sizeof(struct wire_interval), decode_interval, NULL, false},
	[WIRE_KEY] = {.whole = on_nothing},
	[WIRE_RUN] = {.whole = on_nothing},
	[WIRE_SENSORS] = {.whole = on_nothing},
	[WIRE_COUNTERS] = {.whole = on_nothing},
	[WIRE_SESSIONS] = {sizeof(struct wire_session), decode_session, NULL, true},
	[WIRE_MEMBERS] = {sizeof(struct wire_member), decode_member, NULL, true},
	[WIRE_PHASES] = {sizeof(struct wire_phase), decode_phase, NULL, true},
	[WIRE_MERGE] = {sizeof(struct wire_merge), decode_merge, NULL, false},
	[WIRE_ASK] = {sizeof(struct wire_ask), decode_ask, NULL, false},
	[WIRE_BYE] = {sizeof(struct wire_bye), .whole = on_bye},
	[WIRE_COPY_LANES] = {.whole = decode_copy_lanes, .adds = true},
	[WIRE_UNRECORDED] = {sizeof(struct wire_unrecorded), decode_unrecorded, NULL, true},
	[WIRE_USAGE] = {.whole = decode_usage},
	[WIRE_USES] = {sizeof(struct wire_use), decode_use, NULL, false},
	[WIRE_OVERLAPS] = {sizeof(struct wire_overlap), decode_overlap, NULL, false},
	[WIRE_WORKED] = {sizeof(struct wire_worked), decode_worked, NULL, false},
};

static uint64_t count_told(const struct session *s)
{
	uint64_t n = 0;

	for (unsigned kind = 0; kind < WIRE_N_KINDS; kind++)
		n += told_rows[kind].entry ? s->tables[told_rows[kind].table].n : 0;
	return n;
}

/* What frames add to the session and never take away. */
static uint64_t count_things(const struct session *s)
{
	return s->n_frames + s->n_nodes + s->n_lanes + s->n_rows + s->n_sets + s->n_epochs +
	       s->n_devices + s->n_modules + s->n_notes + s->n_hists + s->n_clocks +
	       s->n_copy_lanes + s->n_unrecorded + count_told(s) + metric_table_count(s->metrics);
}

static bool has_time(const struct wire_decoder *d)
{
	return !d->namer || !d->namer->may_ask || d->namer->may_ask(d->namer->ctx);
}

/* Every entry of an array, also behind one that could not be understood. -EAGAIN: the namer has no
 * time, and the rest is for the next call. */
static int dispatch(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	unsigned kind = m->header->kind;
	const struct told_rows *told;
	size_t size, i, first;
	int r = 0, one;

	if (kind >= WIRE_N_KINDS)
		return 0; /* from the future */
	told = told_rows[kind].entry ? &told_rows[kind] : NULL;
	if ((handlers[kind].adds || told) && p->n_things > PEER_THINGS_MAX)
		return -EBADMSG;
	size = told ? told->entry : handlers[kind].size;
	if (handlers[kind].whole)
		return m->size < size ? -EBADMSG : handlers[kind].whole(d, p, m);
	if (!handlers[kind].entry && !told)
		return 0;
	if (m->header->n > m->size / size)
		return -EBADMSG;
	first = d->next_entry; /* at least this one */
	d->next_entry = 0;
	for (i = first; i < m->header->n; i++) {
		if (kind == WIRE_FRAMES && i > first && !has_time(d)) {
			d->next_entry = i;
			return -EAGAIN;
		}
		one = told ? decode_row(d, p, told, m->payload + i * size)
			   : handlers[kind].entry(d, p, m->payload + i * size);
		r = one ? one : r;
	}
	return r;
}

/* With what it adds on the account of the instance. */
static int dispatch_counted(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	uint64_t before = count_things(d->s);
	int r = dispatch(d, p, m);

	p->n_things += count_things(d->s) - before;
	return r;
}

static int take_of_peer(struct wire_decoder *d, const struct message *m)
{
	const struct wire_header *h = m->header;
	struct peer *p;
	int r = decode_peer(d, h->instance, &p);

	if (r < 0)
		return r;
	if (h->seq == WIRE_NO_SEQ)
		return dispatch_counted(d, p, m);
	/* The first frame that is seen need not be number 0: a late reader. */
	if (p->next_seq && h->seq > p->next_seq)
		d->s->losses[LOSS_WIRE_GAP] += h->seq - p->next_seq;
	p->next_seq = h->seq + 1;
	d->s->processes[p->process].last_ns = h->time_ns;
	/* Its pid was not to be seen (another pid namespace), or its exec failed: but it speaks. */
	d->s->processes[p->process].end = PROCESS_RUNS;
	p->went_on = false;
	return dispatch_counted(d, p, m);
}

/* Whose times are on one clock with others of the session: on this machine they are; on another its wall clock
 * tells, as well as the two agree. A pair that was read in two steps is no difference. */
static void on_key(struct wire_decoder *d, const struct message *m)
{
	const struct wire_key *key = (const void *)m->payload;
	int64_t shift = (int64_t)(key->start_ns - m->header->time_ns + clock_to_monotonic_ns());

	if (!d->origin || d->is_shifted || m->size < sizeof(*key))
		return;
	d->is_shifted = true;
	if (shift <= -SAME_CLOCK_NS || shift >= SAME_CLOCK_NS)
		d->shift_ns = (uint64_t)shift;
}

/* What proton itself put on a tape: a key frame, what was run, what sensors and counters said. */
static int take_of_nobody(struct wire_decoder *d, const struct message *m)
{
	if (!d->is_tape)
		return 0;
	switch (m->header->kind) {
	case WIRE_RUN:
		return wire_run_take(&d->run, d->s, m->payload, m->size);
	case WIRE_SENSORS:
		return wire_sensors_take(d->s, m->payload, m->size);
	case WIRE_COUNTERS:
		return wire_counters_take(d->s, m->payload, m->size);
	case WIRE_KEY:
		on_key(d, m);
		return 0;
	default:
		return 0;
	}
}

static int take_frame(struct wire_decoder *d, const unsigned char *at)
{
	union {
		struct wire_header header;
		unsigned char bytes[WIRE_FRAME_MAX];
	} copy;
	const struct wire_header *h = (const void *)at;
	struct message m;
	int r;

	/* Entries are read where they lie; after a tear that may not be where their types want it. */
	if ((uintptr_t)at % _Alignof(struct wire_header)) {
		memcpy(&copy.header, at, sizeof(copy.header));
		memcpy(copy.bytes, at, copy.header.length);
		h = &copy.header;
	}
	m = (struct message){h, (const unsigned char *)(h + 1), h->length - sizeof(*h)};
	d->frames++;
	r = h->instance ? take_of_peer(d, &m) : take_of_nobody(d, &m);
	if (r == -EBADMSG) {
		d->s->losses[LOSS_WIRE_ERROR]++;
		r = 0;
	}
	return r;
}

/* Whole frames from the front of a buffer; returns the bytes used or -ENOMEM. */
static ssize_t take_frames(struct wire_decoder *d, const unsigned char *data, size_t n)
{
	size_t at = 0, size;
	int r;

	while ((size = wire_frame_size(data + at, n - at)) != 0) {
		if (size == SIZE_MAX) {
			if (!d->torn)
				d->s->losses[LOSS_WIRE_ERROR]++;
			d->torn = true;
			at++;
			continue;
		}
		d->torn = false;
		r = take_frame(d, data + at);
		d->stalled = r == -EAGAIN;
		if (d->stalled)
			break;
		if (r < 0)
			return r;
		at += size;
	}
	return (ssize_t)at;
}

/* Keep what is left over for the next call. */
static int keep_pending(struct wire_decoder *d, const unsigned char *data, size_t n)
{
	d->n_pending = 0;
	if (!n)
		return 0;
	if (array_reserve((void **)&d->pending, &d->cap_pending, n, 1) < 0)
		return -ENOMEM;
	memmove(d->pending, data, n);
	d->n_pending = n;
	return 0;
}

int wire_decoder_feed(struct wire_decoder *d, const void *data, size_t n)
{
	const unsigned char *p = data;
	ssize_t used;

	if (!n && !d->stalled)
		return 0;
	if (d->n_pending) {
		if (array_reserve((void **)&d->pending, &d->cap_pending, d->n_pending + n, 1) < 0)
			return -ENOMEM;
		if (n)
			memcpy(d->pending + d->n_pending, data, n);
		n += d->n_pending;
		p = d->pending;
	}
	used = take_frames(d, p, n);
	if (used < 0)
		return (int)used;
	return keep_pending(d, p + used, n - (size_t)used);
}

struct wire_decoder *wire_decoder_new(struct session *s)
{
	struct wire_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->s = s;
	buf_init(&d->scratch, 1 << 20);
	return d;
}

struct wire_decoder *wire_decoder_free(struct wire_decoder *d)
{
	size_t i;

	if (!d)
		return NULL;
	for (i = 0; i < d->n_peers; i++)
		decode_peer_free(d->peers[i]);
	free(d->peers);
	buf_done(&d->scratch);
	free(d->asked);
	idindex_done(&d->by_instance);
	free(d->pending);
	wire_run_reader_done(&d->run);
	free(d);
	return NULL;
}

void wire_decoder_set_namer(struct wire_decoder *d, const struct native_namer *namer)
{
	d->namer = namer;
}

void wire_decoder_of_tape(struct wire_decoder *d, uint64_t origin)
{
	d->is_tape = true;
	d->origin = origin;
}

void wire_decoder_cut_off(struct wire_decoder *d)
{
	for (size_t i = 0; i < d->n_peers; i++) {
		uint8_t *end = &d->s->processes[d->peers[i]->process].end;

		if (*end == PROCESS_RUNS && !d->peers[i]->went_on)
			*end = PROCESS_VANISHED;
	}
}

bool wire_decoder_vanish(struct wire_decoder *d)
{
	struct session_run *run = d->run.run ? &d->s->runs[d->run.run - 1] : NULL;
	bool ran = run && run->end == PROCESS_RUNS;

	wire_decoder_cut_off(d);
	if (ran)
		run->end = PROCESS_VANISHED;
	d->s->generation++;
	return ran || !run;
}

uint32_t wire_decoder_host(const struct wire_decoder *d)
{
	return d->n_peers ? d->s->processes[d->peers[0]->process].host : SESSION_NONE;
}

bool wire_decoder_is_elsewhere(const struct wire_decoder *d)
{
	return d->shift_ns;
}

bool wire_decoder_stalled(const struct wire_decoder *d)
{
	return d->stalled;
}

size_t wire_decoder_pending(const struct wire_decoder *d)
{
	return d->n_pending;
}

void wire_decoder_cut(struct wire_decoder *d)
{
	d->s->losses[LOSS_WIRE_ERROR] += d->n_pending > 0;
	d->n_pending = 0;
}

uint64_t wire_decoder_frames(const struct wire_decoder *d)
{
	return d->frames;
}
