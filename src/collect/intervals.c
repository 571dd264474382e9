/* SPDX-License-Identifier: MIT */
/* When each operation ran.
 *
 *   record(), any thread ──> ring ──> taker ─┬─> coverage of the device ──> USES, OVERLAPS
 *                                            ├─> file of the backend ─────> CLOCK, SEGMENT
 *                                            └─> gaps between work (idle.h)
 *   scopes, waits, pages ──> ring ──> taker ──> file of the host
 *
 * The sender empties the ring once a period. A thread that finds it half full empties it too,
 * unless another one is at it; where a trace is written, which only the sender can do, it asks
 * the sender. Nobody waits for long: an operation that finds no room is counted, and missing
 * only in BUSY and in the trace. Files are written, not mapped: a full disk is an error here,
 * not a SIGBUS in the program. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backends/pages.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "collect/copy_lanes.h"
#include "collect/counted_work.h"
#include "collect/idle.h"
#include "collect/internal.h"
#include "collect/own_fd.h"
#include "collect/periods.h"
#include "collect/step_ran.h"
#include "collect/steps.h"
#include "collect/trace_windows.h"
#include "collect/unrecorded.h"
#include "core/coverage.h"
#include "core/session.h"
#include "wire/encode.h"

enum {
	RUN_MAX = COPY_LANES_RUN, /* intervals that are handed on together */
	SPANS_MAX = 1 << 15,      /* pieces of covered time remembered a device */
	TAKE_TRIES = 1000,
	HOST_FILE = N_SOURCES, /* what is beside operations; before it a file of each backend */
	N_FILES
};
/* A clock that moved this far was set: well below what lies between a call and what it is in. */
#define CLOCK_STEP_NS (10 * NSEC_PER_USEC)
#define REALTIME      "realtime" /* CLOCK_REALTIME, as files know it */

/* A bulk file of a backend. */
struct trace_file {
	struct own_fd file;
	bool failed;
	uint64_t size;        /* bytes written */
	uint32_t path, clock; /* strings */
	struct wire_clock pair;
};

/* owner: who holds `taking` */
static struct taker {
	_Atomic bool taking;
	struct overlap covered[MAX_DEVICES]; /* by all else and by copies; without room before the
					      * first interval of a device */
	struct span worked[MAX_DEVICES];     /* from the first work to the last; 0: none yet */
	_Atomic uint64_t n_spans;            /* of all devices; anybody may read it */
	struct trace_file trace[N_FILES];
	uint64_t n_traced, n_traced_host; /* of that scopes and waits of the host, and pages */
	struct wire_epoch_interval batch[RUN_MAX];
	struct wire_epoch_interval host[RUN_MAX];
	uint32_t n_host;
	uint64_t to_monotonic_ns; /* from CLOCK_REALTIME, when it took last */
	struct span run[RUN_MAX];
	struct copy_way way[RUN_MAX]; /* of the batch */
	struct idle_work work[RUN_MAX];
} taker = {.trace = {[0 ... N_FILES - 1] = {.file = {.fd = -1}}}};

/* What was taken when the limits of the tables were read, and what of it proton knows.
 * owner: the sender thread */
static struct {
	struct session_use now[MAX_DEVICES], sent[MAX_DEVICES];
	bool again[MAX_DEVICES]; /* whatever was sent */
	struct {
		struct wire_segment now;
		uint64_t sent_size;
		struct wire_clock pair, sent_pair;
	} trace[N_FILES];
} ready;

/* ---- the ring ---- */

/* Of the ring a cell that is nobody's yet; NULL: max cells are in use. How many are before it. */
static struct interval_cell *ring_room(uint32_t max, uint32_t *ret_used)
{
	struct interval_ring *r = &collector->intervals;
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed), used;

	do {
		used = head - atomic_load_explicit(&r->tail, memory_order_acquire);
		/* "Negative": head is old, and the exchange will say so. */
		if (used >= max && used <= INT32_MAX)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&r->head, &head, head + 1, memory_order_relaxed, memory_order_relaxed));
	*ret_used = used;
	return &r->cell[head % MAX_INTERVALS];
}

uint32_t interval_push(const struct activity *a, uint32_t slot)
{
	uint32_t used = 0;
	struct interval_cell *cell = ring_room(MAX_INTERVALS, &used);

	if (!cell) {
		lose(LOSS_INTERVALS, 1);
		idle_missed();
		return 0;
	}
	cell->start_ns = a->start_ns;
	cell->launched_ns = a->launched_ns;
	cell->node = collector->slot[slot].node;
	cell->lane = collector->slot[slot].lane;
	cell->epoch = collector->slot[slot].epoch;
	cell->graph = a->kind == ACTIVITY_GRAPH ? 0 : a->graph;
	cell->is_copy = a->kind == ACTIVITY_COPY;
	cell->bytes = a->bytes;
	cell->direction = a->direction;
	cell->channel_kind = a->channel_kind;
	cell->channel = a->channel;
	cell->is_wait = a->kind == ACTIVITY_SYNC;
	cell->is_host = cell->is_pages = false;
	cell->blocks = !a->async && (a->kind == ACTIVITY_COPY || a->kind == ACTIVITY_SET);
	atomic_store_explicit(&cell->end_ns, a->end_ns, memory_order_release);
	return used;
}

struct pages_cell {
	uint32_t amount;
	uint8_t source;
};

/* What the trace has beside operations; pages NULL: a scope. */
static uint32_t push_beside(const struct wire_interval *v, const struct pages_cell *pages)
{
	uint32_t used = 0;
	struct interval_cell *cell = ring_room(MAX_BESIDE, &used);

	if (!cell) {
		lose(LOSS_SCOPES, 1);
		return 0;
	}
	cell->start_ns = v->start_ns;
	cell->launched_ns = 0;
	cell->bytes = pages ? pages->amount : 0;
	cell->channel = pages ? pages->source : 0;
	cell->node = v->node;
	cell->lane = v->lane;
	cell->epoch = cell->graph = 0;
	cell->is_copy = cell->is_wait = cell->blocks = false;
	cell->is_host = !pages;
	cell->is_pages = pages;
	atomic_store_explicit(&cell->end_ns, v->end_ns, memory_order_release);
	return used;
}

uint32_t interval_push_scope(uint32_t node, uint32_t lane, uint64_t start_ns, uint64_t end_ns)
{
	return push_beside(&(struct wire_interval){start_ns, end_ns, node, lane}, NULL);
}

uint32_t interval_push_pages(uint8_t source, uint32_t amount, const struct wire_interval *v)
{
	return push_beside(v, &(struct pages_cell){amount, source});
}

static struct idle_work work_of(const struct interval_cell *cell, uint64_t end_ns)
{
	return (struct idle_work){{.start = cell->start_ns,
				   .end = end_ns,
				   .launched = cell->launched_ns,
				   .who = (uint64_t)cell->node << 32 | cell->lane,
				   .thread = collector->lane[cell->lane].thread,
				   .graph = cell->graph,
				   .blocks = cell->blocks},
				  cell->is_wait};
}

static uint32_t latency_of(const struct interval_cell *cell)
{
	return cell->launched_ns ? interval_latency((int64_t)(cell->start_ns - cell->launched_ns))
				 : 0;
}

enum ring_taken { TAKEN_NOTHING, TAKEN_WORK, TAKEN_WAIT, TAKEN_SCOPE, TAKEN_PAGES };

static enum ring_taken ring_take(struct wire_epoch_interval *ret, struct copy_way *ret_way,
				 struct idle_work *ret_work)
{
	struct interval_ring *r = &collector->intervals;
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	struct interval_cell *cell = &r->cell[tail % MAX_INTERVALS];
	uint64_t end_ns = atomic_load_explicit(&cell->end_ns, memory_order_acquire);
	enum ring_taken is;

	if (!end_ns) /* none, or one that is being written */
		return TAKEN_NOTHING;
	is = cell->is_host    ? TAKEN_SCOPE
	     : cell->is_pages ? TAKEN_PAGES
	     : cell->is_wait  ? TAKEN_WAIT
			      : TAKEN_WORK;
	*ret = (struct wire_epoch_interval){
		{cell->start_ns, end_ns, cell->node, cell->lane}, cell->epoch, latency_of(cell)};
	*ret_way = (struct copy_way){cell->is_copy, cell->direction, cell->channel_kind,
				     cell->channel, cell->bytes};
	*ret_work = work_of(cell, end_ns);
	atomic_store_explicit(&cell->end_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
	return is;
}

/* ---- busy time ---- */

static struct overlap *device_coverage(uint32_t device)
{
	struct overlap *o = &taker.covered[device];
	void *room;

	if (o->either.v)
		return o;
	room = pages_reserve(OVERLAP_SPANS * SPANS_MAX * sizeof(struct span));
	if (!room)
		return NULL;
	overlap_init(o, room, SPANS_MAX);
	return o;
}

static void note_worked(uint32_t device, const struct span *run, uint32_t n)
{
	struct span *worked = &taker.worked[device];

	if (!worked->start || run->start < worked->start)
		worked->start = run->start;
	for (uint32_t i = 0; i < n; i++)
		worked->end = MAX(worked->end, run[i].end);
}

static void cover(uint32_t device, const struct span *run, const struct wire_epoch_interval *v,
		  const struct copy_way *way, uint32_t n)
{
	struct overlap *o = device < MAX_DEVICES ? device_coverage(device) : NULL;
	uint64_t before = o ? overlap_spans(o) : 0;

	if (o && n) {
		note_worked(device, run, n);
		copy_lanes_cover(device, o, run, v, way, n);
		/* may have become fewer */
		atomic_fetch_add(&taker.n_spans, overlap_spans(o) - before);
	} else if (n) {
		lose(LOSS_INTERVALS, n);
		idle_missed();
	}
}

/* Of a backend that does not say what is all there no gap is known. */
static void look_for_gaps(uint32_t device, const struct idle_work *work, uint32_t n)
{
	if (n && device < MAX_DEVICES && idle_is_told(collector->device[device].source))
		idle_add(device, work, n);
}

/* Operations on one device, up to i of the batch, sorted by their start. */
static void take_run(uint32_t device, const struct wire_epoch_interval *v,
		     const struct copy_way *way, uint32_t i, uint32_t n_run)
{
	cover(device, taker.run, v + i - n_run, way + i - n_run, n_run);
	look_for_gaps(device, taker.work + i - n_run, n_run);
	counted_work_add(device, v + i - n_run, n_run);
	step_ran_add(device, taker.run, n_run);
	step_ran_copied(device, taker.run, way + i - n_run, n_run);
}

/* Runs on one device, sorted by their start, as records of one stream come. */
static void cover_all(const struct wire_epoch_interval *v, const struct copy_way *way, uint32_t n)
{
	struct span *run = taker.run;
	uint32_t i, n_run = 0, device = WIRE_NONE;

	for (i = 0; i < n; i++) {
		uint32_t its = collector->lane[v[i].of.lane].device;

		if (n_run && (its != device || v[i].of.start_ns < run[n_run - 1].start)) {
			take_run(device, v, way, i, n_run);
			n_run = 0;
		}
		device = its;
		run[n_run++] = (struct span){v[i].of.start_ns, v[i].of.end_ns};
	}
	take_run(device, v, way, n, n_run);
}

/* ---- the trace ---- */

static unsigned source_of(const struct wire_epoch_interval *v)
{
	uint32_t device = collector->lane[v->of.lane].device;

	return device < MAX_DEVICES ? collector->device[device].source : 0;
}

static bool trace_open(struct trace_file *t, unsigned id)
{
	char name[WIRE_SEGMENT_NAME_MAX], path[sizeof(collector->dir) + sizeof(name)];

	snprintf(name, sizeof(name), WIRE_SEGMENT_NAME, collector->instance, (uint32_t)id);
	snprintf(path, sizeof(path), "%s/%s", collector->dir, name);
	if (!t->path)
		t->path = string_intern(name, strlen(name));
	return own_fd_open(&t->file, path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
			   S_IFREG);
}

/* All or nothing. A file that could not take one piece takes no other: its pieces are in order. */
static bool trace_write(struct trace_file *t, unsigned id, const void *v, size_t size)
{
	int r;

	if (t->failed || !trace_open(t, id))
		return false;
	r = own_fd_append(&t->file, v, size, &t->size);
	if (r == 0)
		return true;
	t->failed = true;
	log_debug(1, "sender", "trace: %s", strerror(-r));
	return false;
}

static void clock_look(struct trace_file *t)
{
	struct wire_clock now = {.monotonic_ns = 0};
	int64_t moved;

	now.monotonic_ns = clock_with_realtime_ns(clock_monotonic_ns, &now.clock_ns);
	moved = (int64_t)((now.monotonic_ns - now.clock_ns) -
			  (t->pair.monotonic_ns - t->pair.clock_ns));
	if (t->clock && moved < (int64_t)CLOCK_STEP_NS && moved > -(int64_t)CLOCK_STEP_NS)
		return;
	if (!t->clock)
		t->clock = string_intern(REALTIME, strlen(REALTIME));
	now.name = t->clock;
	t->pair = now;
}

/* An epoch may be another one later, unless a session has a trace. */
static void forget_epochs(struct wire_epoch_interval *v, uint32_t n)
{
	if (atomic_load_explicit(&collector->traced, memory_order_relaxed))
		return;
	for (uint32_t i = 0; i < n; i++)
		v[i].epoch = 0;
}

/* How many more it may have. What is beside operations may have half of it: a program of very many scopes, or one whose
 * pages go to and fro, has room for them. */
static uint32_t trace_room(unsigned id)
{
	uint64_t max = collector->control->wanted.trace_max,
		 left = max > taker.n_traced ? max - taker.n_traced : 0;

	if (id == HOST_FILE)
		left = MIN(left, max / 2 > taker.n_traced_host ? max / 2 - taker.n_traced_host : 0);
	return (uint32_t)MIN(left, UINT32_MAX);
}

/* The trace takes no more: from the first operation that it lacks on nobody knows what ran. */
static void not_kept(unsigned id, const struct wire_epoch_interval *v, uint32_t n)
{
	uint64_t to_monotonic_ns =
		taker.trace[id].pair.monotonic_ns - taker.trace[id].pair.clock_ns;

	for (uint32_t i = 0; id != HOST_FILE && i < n; i++) {
		unrecorded_begin(UNRECORDED_FULL, v[i].of.start_ns + to_monotonic_ns);
		unrecorded_widen(UNRECORDED_FULL, v[i].of.start_ns + to_monotonic_ns,
				 v[i].of.end_ns + to_monotonic_ns);
	}
}

/* Intervals of one file. */
static void trace_run(unsigned id, struct wire_epoch_interval *v, uint32_t n)
{
	struct trace_file *t = &taker.trace[id];
	uint32_t left;

	if (id != HOST_FILE)
		clock_look(t);
	n = trace_windows_keep(v, n, t->pair.monotonic_ns - t->pair.clock_ns);
	left = trace_room(id);
	if (n > left) {
		not_kept(id, v + left, n - left);
		lose(id == HOST_FILE ? LOSS_SCOPES_FULL : LOSS_TRACE_FULL, n - left);
		n = left;
	}
	if (!n)
		return;
	forget_epochs(v, n);
	if (!trace_write(t, id, v, n * sizeof(*v))) {
		not_kept(id, v, n);
		lose(LOSS_TRACE_UNWRITTEN, n);
		return;
	}
	taker.n_traced += n;
	taker.n_traced_host += id == HOST_FILE ? n : 0;
}

/* Where only sessions ask for it: what is theirs. */
static uint32_t keep_traced(struct wire_epoch_interval *v, uint32_t n)
{
	uint32_t i, kept = 0;

	if (is_run_traced())
		return n;
	for (i = 0; i < n; i++)
		if (atomic_load_explicit(&collector->epochs[v[i].epoch].traced,
					 memory_order_relaxed))
			v[kept++] = v[i];
	return kept;
}

static void trace_all(struct wire_epoch_interval *v, uint32_t n)
{
	uint32_t from, to;

	for (from = 0; from < n; from = to) {
		unsigned source = source_of(&v[from]);

		for (to = from + 1; to < n && source_of(&v[to]) == source; to++)
			;
		trace_run(source, v + from, to - from);
	}
}

/* Of the thread that waited, as its scopes are, and on their clock. Traces of sessions are as Triton's Proton has them:
 * without. */
static void take_wait(const struct wire_epoch_interval *v, const struct idle_work *work)
{
	struct wire_epoch_interval *wait = &taker.host[taker.n_host];

	idle_waited(work);
	if (!is_run_traced())
		return;
	*wait = *v;
	wait->of.start_ns += taker.to_monotonic_ns;
	wait->of.end_ns += taker.to_monotonic_ns;
	wait->of.lane = lane_intern(WIRE_NONE, 0, 0, collector->lane[v->of.lane].thread);
	taker.n_host++;
}

/* Beside what ran, in time, too: on the clock of that. */
static void take_pages(const struct wire_epoch_interval *v, const struct copy_way *way)
{
	struct trace_file *t = &taker.trace[way->channel];
	struct wire_epoch_interval *pages = &taker.host[taker.n_host++];

	clock_look(t);
	*pages = *v;
	pages->of.start_ns += t->pair.monotonic_ns - t->pair.clock_ns;
	pages->of.end_ns += t->pair.monotonic_ns - t->pair.clock_ns;
	pages->latency_ns = (uint32_t)way->bytes;
}

/* What keeps devices busy; waits of the host only explain why they were not, and its scopes and pages are for the
 * trace. */
static uint32_t take_some(void)
{
	enum ring_taken is = TAKEN_WORK;
	uint32_t n = 0;

	taker.n_host = 0;
	while (n + taker.n_host < RUN_MAX && is) {
		is = ring_take(&taker.batch[n], &taker.way[n], &taker.work[n]);
		if (_likely_(is == TAKEN_WORK))
			n++;
		else if (is == TAKEN_WAIT)
			take_wait(&taker.batch[n], &taker.work[n]);
		else if (is == TAKEN_PAGES)
			take_pages(&taker.batch[n], &taker.way[n]);
		else if (is == TAKEN_SCOPE)
			taker.host[taker.n_host++] = taker.batch[n];
	}
	return n;
}

/* Steps are held against what is all there, and so are samples of hardware counters. */
static void settle_others(bool is_whole)
{
	counted_work_settle(is_whole);
	step_ran_settle(is_whole);
	steps_settle();
	periods_settle(is_whole);
	step_ran_forget();
}

static void take(void)
{
	struct interval_ring *r = &collector->intervals;
	struct wire_epoch_interval *v = taker.batch;
	bool trace = is_traced();
	uint32_t n, total = 0, head;

	idle_look();
	taker.to_monotonic_ns = clock_to_monotonic_ns();
	head = atomic_load(&r->head);
	/* Not for ever, when records come as fast as they are taken. */
	for (n = RUN_MAX; n == RUN_MAX && total < 2 * MAX_INTERVALS; total += n) {
		n = take_some();
		cover_all(v, taker.way, n);
		periods_add(v, n);
		if (trace)
			trace_all(v, keep_traced(v, n));
		if (taker.n_host)
			trace_run(HOST_FILE, taker.host, taker.n_host);
		n += taker.n_host;
	}
	/* One that is being written holds up those behind it. */
	if (idle_is_wanted() && (int32_t)(atomic_load(&r->tail) - head) >= 0)
		settle_others(idle_settle(step_ran_in_graphs));
}

void intervals_help(void)
{
	if (atomic_exchange(&taker.taking, true))
		return;
	take();
	atomic_store(&taker.taking, false);
}

/* ---- for the sender ---- */

/* Another thread takes for a moment only; but it may be one that the kernel does not let run. */
static bool taker_lock(void)
{
	unsigned i;

	for (i = 0; i < TAKE_TRIES; i++) {
		if (!atomic_exchange(&taker.taking, true))
			return true;
		sched_yield();
	}
	return false;
}

static void make_ready(uint32_t device)
{
	const struct overlap *o = &taker.covered[device];

	ready.now[device] = (struct session_use){.busy_ns = o->either.covered_ns,
						 .copies_ns = o->second.covered_ns,
						 .hidden_ns = overlap_both_ns(o),
						 .first_ns = taker.worked[device].start,
						 .last_ns = taker.worked[device].end};
}

void intervals_take(void)
{
	unsigned i;

	if (!taker_lock())
		return; /* next time */
	take();
	for (i = 0; i < MAX_DEVICES; i++)
		make_ready(i);
	copy_lanes_look();
	periods_look();
	steps_settled();
	for (i = 0; i < N_FILES; i++) {
		const struct trace_file *t = &taker.trace[i];

		ready.trace[i].pair = t->pair;
		ready.trace[i].now =
			(struct wire_segment){i, WIRE_SEGMENT_EPOCHS, t->path, t->clock, t->size};
	}
	atomic_store(&taker.taking, false);
}

static int use_send(struct wire_encoder *e, uint32_t device)
{
	const struct wire_usage w = {device, USE_N};
	const uint64_t *now = ready.now[device].v, *sent = ready.sent[device].v;

	if (!ready.again[device] && !memcmp(now, sent, sizeof(ready.now[device].v)))
		return 0;
	wire_put_numbers(e, WIRE_USAGE, &w, sizeof(w), now, w.n);
	if (wire_encoder_flush(e) < 0)
		return e->error;
	ready.sent[device] = ready.now[device];
	ready.again[device] = false;
	return 0;
}

static int trace_send(struct wire_encoder *e, unsigned source)
{
	const struct wire_clock *pair = &ready.trace[source].pair;
	const struct wire_segment *now = &ready.trace[source].now;

	if (ready.trace[source].sent_size == now->size)
		return 0;
	if (pair->monotonic_ns != ready.trace[source].sent_pair.monotonic_ns)
		wire_put(e, WIRE_CLOCK, pair, sizeof(*pair));
	wire_put(e, WIRE_SEGMENT, now, sizeof(*now));
	if (wire_encoder_flush(e) < 0)
		return e->error;
	ready.trace[source].sent_pair = *pair;
	ready.trace[source].sent_size = now->size;
	return 0;
}

int intervals_send(struct wire_encoder *e, uint32_t n_devices)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < n_devices && r == 0; i++)
		r = use_send(e, i);
	r = r ? r : copy_lanes_send(e, n_devices);
	for (i = 0; i < N_FILES && r == 0; i++)
		r = trace_send(e, i);
	return r;
}

void intervals_resend(void)
{
	unsigned i;

	memset(ready.sent, 0, sizeof(ready.sent));
	copy_lanes_resend();
	for (i = 0; i < N_FILES; i++) {
		ready.trace[i].sent_size = 0;
		ready.trace[i].sent_pair.monotonic_ns = 0;
	}
}

void intervals_break(void)
{
	if (!taker_lock()) {
		idle_missed();
		return;
	}
	idle_break();
	settle_others(false);
	atomic_store(&taker.taking, false);
}

static void reset_device(uint32_t device)
{
	struct overlap *o = &taker.covered[device];
	const struct coverage *all = &o->either;
	uint64_t before = overlap_spans(o);

	copy_lanes_reset(device, all->n ? all->v[all->n - 1].end : 0);
	overlap_reset(o);
	atomic_fetch_add(&taker.n_spans, overlap_spans(o) - before);
}

void intervals_reset(void)
{
	unsigned i;

	if (!taker_lock())
		return;
	for (i = 0; i < MAX_DEVICES; i++) {
		if (taker.covered[i].either.v)
			reset_device(i);
		taker.worked[i] = (struct span){0, 0};
		ready.again[i] = true;
	}
	copy_lanes_resend();
	idle_break();
	atomic_store(&taker.taking, false);
}

void intervals_close(void)
{
	unsigned i;

	if (!taker_lock())
		return;
	for (i = 0; i < N_FILES; i++)
		own_fd_close(&taker.trace[i].file);
	atomic_store(&taker.taking, false);
}

uint64_t intervals_bytes(void)
{
	uint64_t n = MIN(atomic_load(&collector->intervals.head), (uint32_t)MAX_INTERVALS) *
		     sizeof(struct interval_cell);

	return n + copy_lanes_bytes() + atomic_load(&taker.n_spans) * 2 * sizeof(struct span);
}

void intervals_forked(void)
{
	struct interval_ring *r = &collector->intervals;
	unsigned i;

	/* Threads of the parent may have been writing or taking: all begins anew. */
	madvise(r->cell, MAX_INTERVALS * sizeof(*r->cell), MADV_DONTNEED);
	atomic_store(&r->head, 0);
	atomic_store(&r->tail, 0);
	for (i = 0; i < MAX_DEVICES; i++)
		if (taker.covered[i].either.v)
			overlap_init(&taker.covered[i], taker.covered[i].either.v, SPANS_MAX);
	memset(taker.worked, 0, sizeof(taker.worked));
	atomic_store(&taker.n_spans, 0);
	/* The parent's files stay open in the parent. */
	for (i = 0; i < N_FILES; i++) {
		own_fd_close(&taker.trace[i].file);
		taker.trace[i] = (struct trace_file){.file = {.fd = -1}};
	}
	taker.n_traced = taker.n_traced_host = 0;
	copy_lanes_forked();
	idle_forked();
	unrecorded_forked();
	periods_forked();
	step_ran_forked();
	counted_work_forked();
	memset(&ready, 0, sizeof(ready));
	atomic_store(&taker.taking, false);
}
