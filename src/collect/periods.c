/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/periods.h"
#include <string.h>
#include "collect/idle.h"
#include "collect/internal.h"
#include "collect/steps.h"
#include "core/period.h"
#include "core/steps.h"

enum {
	STREAMS = 4, /* the first that have work: each takes 200 KiB, and 2 MiB for what waits */
	WAITING_MAX = 1 << 17, /* operations of a stream, until those before them are all there */
	LEAST_TOLD = 16,       /* steps; and where some did not fit, … */
	SURE_OTHERS = 4,       /* … so many of these, or */
	SURE_STEPS = 128,      /* so many steps: else it may be a part of something larger */
};

/* An operation that came. */
struct work {
	uint64_t start_ns;
	uint32_t frame, pad;
};

/* Records come thread by thread, and by several threads at once: they wait until all that began before is there. */
static struct stream {
	uint32_t lane;                    /* + 1, the first that it had; 0: free */
	uint32_t device, context, stream; /* the vendor's */
	bool is_told, in_order;
	uint32_t slots[STEP_N_SETS]; /* + 1 */
	uint64_t n_changes, n_looked;
	struct steps_told told; /* what there was at the last look … */
	struct step_work_told work_told;
	bool is_sure; /* … and is it certain? */
	uint32_t n_waiting;
	struct work waiting[WAITING_MAX];
	struct period period;
	struct steps steps;
	struct step_work work; /* what devices did in them */
} streams[STREAMS];

static _Atomic bool is_reset;

static bool is_of(const struct stream *s, const struct lane_entry *lane)
{
	return s->device == lane->device && s->context == lane->context &&
	       s->stream == lane->stream;
}

static struct stream *stream_of(uint32_t id)
{
	const struct lane_entry *lane = &collector->lane[id];

	for (unsigned i = 0; i < STREAMS; i++) {
		struct stream *s = &streams[i];

		if (!s->lane) {
			s->lane = id + 1;
			s->device = lane->device;
			s->context = lane->context;
			s->stream = lane->stream;
			s->in_order = true;
		}
		if (is_of(s, lane))
			return s;
	}
	return NULL;
}

/* ---- in order ---- */

/* Shell's: it needs no memory, and what comes is a few runs that are sorted. */
static void sort(struct work *v, uint32_t n)
{
	static const uint32_t gaps[] = {29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};

	for (unsigned g = 0; g < ARRAY_SIZE(gaps); g++)
		for (uint32_t i = gaps[g]; i < n; i++) {
			struct work w = v[i];
			uint32_t at = i;

			for (; at >= gaps[g] && v[at - gaps[g]].start_ns > w.start_ns;
			     at -= gaps[g])
				v[at] = v[at - gaps[g]];
			v[at] = w;
		}
}

static void forget(struct stream *s)
{
	s->n_waiting = 0;
	s->in_order = true;
	period_break(&s->period);
}

static void wait_for_others(struct stream *s, const struct work *w)
{
	if (s->n_waiting == WAITING_MAX)
		forget(s);
	if (s->n_waiting && w->start_ns < s->waiting[s->n_waiting - 1].start_ns)
		s->in_order = false;
	s->waiting[s->n_waiting++] = *w;
}

static void add_step(struct stream *s, uint64_t start_ns, uint64_t end_ns)
{
	const struct step_ended step = {start_ns,          end_ns,     end_ns - start_ns,
					s->period.n_steps, s->steps.n, !s->steps.first_ns};

	steps_add(&s->steps, step.number, step.ns);
	step_ran_ended(&s->work, &step);
}

static void add(struct stream *s, uint32_t frame, uint64_t start_ns)
{
	uint64_t step_ns;
	enum period_news news = period_add(&s->period, frame, start_ns, &step_ns);

	if (_likely_(news == PERIOD_NOTHING))
		return;
	s->n_changes++;
	if (news == PERIOD_STEP)
		add_step(s, step_ns, MAX(start_ns, step_ns));
	else
		steps_clear(&s->steps);
}

/* Of a backend that does not say what is all there, the order is not known. */
static bool is_looked_at(const struct lane_entry *lane)
{
	return lane->device < MAX_DEVICES && idle_is_told(collector->device[lane->device].source);
}

void periods_add(const struct wire_epoch_interval *v, uint32_t n)
{
	struct stream *s = NULL;
	uint32_t lane = WIRE_NONE;

	if (collector->control->wanted.steps.kind != STEPS_WANTED_AUTO || !idle_is_wanted())
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].of.lane != lane) {
			lane = v[i].of.lane;
			s = is_looked_at(&collector->lane[lane]) ? stream_of(lane) : NULL;
		}
		if (s)
			wait_for_others(s, &(struct work){v[i].of.start_ns,
							  collector->node[v[i].of.node].frame, 0});
	}
}

static void settle(struct stream *s, uint64_t until_ns)
{
	uint32_t i;

	if (!s->in_order)
		sort(s->waiting, s->n_waiting);
	s->in_order = true;
	for (i = 0; i < s->n_waiting && s->waiting[i].start_ns < until_ns; i++)
		add(s, s->waiting[i].frame, s->waiting[i].start_ns);
	s->n_waiting -= i;
	memmove(s->waiting, s->waiting + i, s->n_waiting * sizeof(s->waiting[0]));
}

void periods_settle(bool is_whole)
{
	bool reset = atomic_exchange_explicit(&is_reset, false, memory_order_acquire);

	for (unsigned i = 0; i < STREAMS && streams[i].lane; i++) {
		struct stream *s = &streams[i];

		if (reset)
			steps_clear(&s->steps);
		if (!is_whole)
			forget(s);
		settle(s, MIN(step_ran_until_ns(),
			      idle_until_ns(collector->device[s->device].source)));
	}
}

/* ---- values ---- */

static bool is_sure(const struct stream *s, const struct steps_told *told)
{
	uint64_t n_others = s->period.n_others;

	return s->period.length && told->n >= LEAST_TOLD &&
	       (!n_others || n_others >= SURE_OTHERS || told->n >= SURE_STEPS);
}

static void tell(struct stream *s, const struct steps_told *t, const struct step_work_told *work)
{
	struct step_values values = {
		.v = {[STEP_VALUE_STEP_WORKS] = t->n ? s->period.length : 0,
		      [STEP_VALUE_STEP_OTHERS] = t->n ? s->period.n_others : 0}};

	steps_values(t, work, &values);
	steps_put(s->slots, 0, s->lane - 1, &values);
	s->is_told = t->n > 0;
}

/* What several streams do may be parts of one step: of a process one is told, that of which more operations are steps. */
static struct stream *likeliest(void)
{
	struct stream *best = NULL;

	for (unsigned i = 0; i < STREAMS && streams[i].lane; i++) {
		struct stream *s = &streams[i];

		if (s->is_sure &&
		    (!best || s->told.n * s->period.length > best->told.n * best->period.length))
			best = s;
	}
	return best;
}

/* Has anything come since the last look? */
static bool learn(struct stream *s)
{
	if (s->n_looked == s->n_changes)
		return false;
	s->n_looked = s->n_changes;
	steps_tell(&s->steps, &s->told);
	step_ran_tell(&s->work, s->told.median_ns, &s->work_told);
	s->is_sure = is_sure(s, &s->told);
	return true;
}

void periods_look(void)
{
	static const struct step_work_told nothing;
	bool is_new[STREAMS];
	const struct stream *best;

	for (unsigned i = 0; i < STREAMS && streams[i].lane; i++)
		is_new[i] = learn(&streams[i]);
	best = likeliest();
	for (unsigned i = 0; i < STREAMS && streams[i].lane; i++) {
		struct stream *s = &streams[i];

		if (s != best && s->is_told)
			tell(s, &(struct steps_told){0}, &nothing);
		else if (s == best && (is_new[i] || !s->is_told))
			tell(s, &s->told, &s->work_told);
	}
}

void periods_reset(void)
{
	atomic_store_explicit(&is_reset, true, memory_order_release);
}

void periods_forked(void)
{
	for (unsigned i = 0; i < STREAMS && streams[i].lane; i++)
		memset((void *)&streams[i], 0, sizeof(streams[i]));
	atomic_store(&is_reset, false);
}
