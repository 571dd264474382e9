/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/counting.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "base/clock.h"
#include "base/util.h"
#include "core/device_by_uuid.h"
#include "counters/counter.h"

#define PERIOD_NS (NSEC_PER_SEC / 4)
#define STALE_NS  (3 * NSEC_PER_SEC)
#define HUNG_NS   (30 * NSEC_PER_SEC) /* without a sign of life: opening a device may take seconds */
#define FAREWELL_NS                                                                                \
	(2 * NSEC_PER_SEC)          /* for it to take what is there and to give the hardware back */
#define AWAIT_NS (3 * NSEC_PER_SEC) /* for it to begin */
#define NAP_NS   (NSEC_PER_SEC / 200)
#define KEPT     (COUNTER_TIMES / 4) /* of a device that the run has not used so far */

/* ---- what it says ---- */

static void note(struct session *s, const char *text)
{
	session_note(s, SESSION_NONE, NOTE_WARNING, text);
}

static void take_notes(struct counting *c, struct session *s)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text;

	while ((text = probe_value(&scratch, &c->told, "note", c->n_notes))) {
		note(s, text);
		c->n_notes++;
	}
}

/* One that had nothing to count has said why. */
static void note_end(const struct counting *c, struct session *s)
{
	_cleanup_(buf_done) struct buf text = {0}, scratch = {0};
	const char *why = probe_value(&scratch, &c->told, "no-gpu", 0);

	if (c->told.end == PROBE_ANSWERED && !why)
		return;
	buf_puts(&text, c->has_counted ? COUNTERS_NOTES " are missing from here on: "
				       : COUNTERS_NONE ": ");
	if (c->told.end == PROBE_ANSWERED)
		buf_puts(&text, why);
	else
		probe_say_end(&c->told, &text);
	note(s, buf_str(&text));
}

/* ---- what it counted ---- */

/* The helper has somebody else's library in it, which may write where it likes: its page is read as any
 * file is. */
static bool take_ring(struct counter_ring *ring, struct session *s)
{
	uint32_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
	uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed), first = taken;
	uint32_t device = device_by_uuid(s, ring->uuid, sizeof(ring->uuid));

	if (written - taken > COUNTER_TIMES)
		taken = written;
	if (device == SESSION_NONE && written - taken > KEPT)
		taken = written - KEPT;
	for (; device != SESSION_NONE && taken != written; taken++)
		(void)session_counters_add(
			s, &(struct session_counters){device, ring->times[taken % COUNTER_TIMES]});
	atomic_store_explicit(&ring->taken, taken, memory_order_release);
	return device != SESSION_NONE && taken != first;
}

static bool take_times(struct counting *c, struct session *s)
{
	uint32_t n = MIN(atomic_load_explicit(&c->page->n, memory_order_acquire), COUNTER_DEVICES);
	uint64_t lost = atomic_load(&c->page->lost);
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		any = take_ring(&c->page->rings[i], s) || any;
	if (c->has_counted || any)
		s->losses[LOSS_COUNTERS] = MAX(s->losses[LOSS_COUNTERS], lost);
	c->has_counted = c->has_counted || any;
	return any;
}

/* ---- the helper ---- */

static void map_page(struct counting *c, uint64_t interval_ns, struct session *s)
{
	void *page = mmap(NULL, sizeof(*c->page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*c = (struct counting){.begun_ns = clock_monotonic_ns()};
	s->counters_asked = true;
	if (page == MAP_FAILED)
		return;
	c->page = page;
	(void)sem_init(&c->page->wake, 1, 0);
	c->page->interval_ns = interval_ns;
	c->beat_ns = c->begun_ns;
}

static void start(struct counting *c, struct session *s)
{
	if (!probe_begin(counter_main, c->page, &c->told, &c->child))
		note_end(c, s);
}

void counting_begin(struct counting *c, uint64_t interval_ns, const char *dir, struct session *s)
{
	map_page(c, interval_ns, s);
	if (!c->page)
		return;
	snprintf(c->page->dir, sizeof(c->page->dir), "%s", dir);
	start(c, s);
}

void counting_begin_known(struct counting *c, uint64_t interval_ns, struct session *s)
{
	map_page(c, interval_ns, s);
	if (!c->page)
		return;
	for (size_t i = 0; i < MIN(s->n_devices, (size_t)COUNTER_DEVICES); i++) {
		struct counter_wanted *of = &c->page->wanted[c->page->n_wanted++];

		snprintf(of->uuid, sizeof(of->uuid), "%s", session_text(s, s->devices[i].uuid));
		of->number = s->devices[i].index;
	}
	start(c, s);
}

static void look(struct counting *c, struct session *s, uint64_t now_ns)
{
	uint64_t beats = atomic_load(&c->page->beats);
	bool has_ended = probe_look(&c->child, &c->told);

	if (beats != c->beats) {
		c->beats = beats;
		c->beat_ns = now_ns;
	} else if (!has_ended && now_ns - c->beat_ns > HUNG_NS) {
		probe_stop(&c->child, HUNG_NS / NSEC_PER_SEC, &c->told);
		has_ended = true;
	}
	take_notes(c, s);
	if (has_ended)
		note_end(c, s);
}

static bool take(struct counting *c, struct session *s, uint64_t now_ns)
{
	bool is_new = take_times(c, s);

	if (is_new)
		c->new_ns = now_ns;
	s->counting = c->new_ns && now_ns - c->new_ns < STALE_NS && c->child.pid;
	return is_new;
}

static bool has_begun(const struct counting *c)
{
	return atomic_load_explicit(&c->page->n, memory_order_acquire) ||
	       atomic_load(&c->page->state) == COUNTER_OVER;
}

void counting_await(struct counting *c, struct session *s)
{
	const struct timespec nap = {0, NAP_NS};

	while (c->child.pid && !has_begun(c) && clock_monotonic_ns() - c->begun_ns < AWAIT_NS) {
		nanosleep(&nap, NULL);
		look(c, s, clock_monotonic_ns());
	}
}

bool counting_update(struct counting *c, struct session *s)
{
	uint64_t now = clock_monotonic_ns();
	bool is_new;

	if (c->is_over || !c->child.pid || now < c->next_ns)
		return false;
	c->next_ns = now + PERIOD_NS;
	is_new = take(c, s, now);
	look(c, s, now);
	return is_new;
}

void counting_stop(struct counting *c)
{
	if (!c->page)
		return;
	atomic_store(&c->page->stop, 1);
	(void)sem_post(&c->page->wake);
}

/* One that counted has said all when it has given the hardware back; of another the end tells, too. */
static bool is_awaited(const struct counting *c)
{
	switch (atomic_load(&c->page->state)) {
	case COUNTER_STARTS:
		return false;
	case COUNTER_OVER:
		return c->child.pid && !c->has_counted;
	default:
		return c->child.pid;
	}
}

/* One who is stuck in a driver is put down; it has counted what it has counted. */
static void put_down(struct counting *c, struct session *s, uint64_t now_ns)
{
	probe_stop(&c->child, (unsigned)((now_ns - c->begun_ns) / NSEC_PER_SEC), &c->told);
	take_notes(c, s);
	note_end(c, s);
}

static void end_helper(struct counting *c, struct session *s)
{
	const struct timespec nap = {0, NAP_NS};
	uint64_t now = clock_monotonic_ns(), end = now + FAREWELL_NS;

	while (is_awaited(c) && now < end) {
		nanosleep(&nap, NULL);
		now = clock_monotonic_ns();
		look(c, s, now);
		(void)take_times(c, s);
	}
	if (c->child.pid)
		look(c, s, now);
	if (c->child.pid && is_awaited(c))
		put_down(c, s, now);
	else if (c->child.pid && atomic_load(&c->page->state) == COUNTER_STARTS)
		note(s, COUNTERS_NONE ": the run was over before they could be opened");
}

void counting_finish(struct counting *c, struct session *s)
{
	if (!c->page || c->is_over)
		return;
	counting_stop(c);
	if (c->child.pid)
		end_helper(c, s);
	(void)take_times(c, s);
	s->counting = false;
	c->is_over = true;
}

void counting_done(struct counting *c)
{
	if (!c->page)
		return;
	probe_stop(&c->child, 0, &c->told);
	probe_done(&c->told);
	munmap(c->page, sizeof(*c->page));
	c->page = NULL;
}
