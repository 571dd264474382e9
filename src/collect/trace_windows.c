/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/trace_windows.h"
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/unrecorded.h"
#include "core/coverage.h"

enum {
	WINDOWS_MAX = 4096,
	ENTER_TRIES = 64,
};
#define OPEN    UINT64_MAX
#define LATE_NS (2 * NSEC_PER_SEC) /* records of what ended longer ago have come */

/* One that was opened. Numbers count up and are never 0. */
struct window {
	_Atomic uint32_t number;           /* 0: none, or one that is being written */
	_Atomic uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; OPEN */
};

static struct window windows[WINDOWS_MAX];
static _Atomic uint32_t n_windows; /* numbers that were given away */
static _Atomic uint32_t profiler;  /* window of the CUDA profiler; 0: it is off */

/* Those that were looked at, to tell when none was open. owner: the taker */
static struct {
	uint32_t n;        /* so many are over … */
	uint32_t begun;    /* … and the start of this one is told */
	uint64_t until_ns; /* the end of the last that is over; 0: none is */
} seen;

/* ---- the program's threads ---- */

/* Records of a window that makes place for this one may still come. */
static void look_at_last(const struct window *w, uint64_t now)
{
	uint64_t end_ns = atomic_load_explicit(&w->end_ns, memory_order_relaxed);

	if (atomic_load_explicit(&w->number, memory_order_relaxed) && end_ns + LATE_NS > now)
		lose(LOSS_WINDOWS, 1);
}

static uint32_t window_open(void)
{
	uint64_t now = clock_monotonic_ns();

	for (int i = 0; i < ENTER_TRIES; i++) {
		uint32_t number =
			atomic_fetch_add_explicit(&n_windows, 1, memory_order_relaxed) + 1;
		struct window *w = &windows[number % WINDOWS_MAX];

		if (!number || (atomic_load_explicit(&w->number, memory_order_relaxed) &&
				atomic_load_explicit(&w->end_ns, memory_order_relaxed) == OPEN))
			continue;
		look_at_last(w, now);
		atomic_store(&w->number, 0);
		atomic_store(&w->start_ns, now);
		atomic_store(&w->end_ns, OPEN);
		atomic_store(&w->number, number);
		return number;
	}
	lose(LOSS_WINDOWS, 1);
	return 0;
}

uint32_t trace_window_enter(const char *name, size_t len)
{
	const struct trace_window *wanted = &collector->control->wanted.window;

	if (_likely_(wanted->kind != TRACE_WINDOW_NVTX) || len != wanted->name_len ||
	    len > sizeof(wanted->name) || memcmp(name, wanted->name, len) != 0)
		return 0;
	return window_open();
}

uint32_t trace_window_step(uint64_t number)
{
	const struct trace_window *wanted = &collector->control->wanted.window;

	if (number < wanted->from_ns || number > wanted->to_ns)
		return 0;
	return window_open();
}

void trace_window_leave(uint32_t number)
{
	struct window *w = &windows[number % WINDOWS_MAX];

	if (number && atomic_load(&w->number) == number)
		atomic_store(&w->end_ns, clock_monotonic_ns());
}

/* Starts do not nest. */
void trace_window_profiler(bool on)
{
	uint32_t none = 0, number;

	if (collector->control->wanted.window.kind != TRACE_WINDOW_PROFILER)
		return;
	if (!on) {
		trace_window_leave(atomic_exchange(&profiler, 0));
		return;
	}
	if (atomic_load(&profiler))
		return;
	number = window_open();
	if (!atomic_compare_exchange_strong(&profiler, &none, number))
		trace_window_leave(number);
}

void trace_windows_forked(void)
{
	for (size_t i = 0; atomic_load(&n_windows) && i < WINDOWS_MAX; i++)
		atomic_store(&windows[i].number, 0);
	atomic_store(&profiler, 0);
	seen.n = atomic_load(&n_windows);
	seen.begun = 0;
	seen.until_ns = 0;
}

uint32_t trace_window_again(void)
{
	return window_open();
}

/* ---- who takes the records ---- */

/* Windows that may hold some of the intervals at hand. owner: the taker */
static struct span found[WINDOWS_MAX];

static bool overlaps(const struct span *s, uint64_t start, uint64_t end)
{
	return end >= s->start && start < s->end;
}

/* The program opens windows while this looks: one whose number changes meanwhile is another one. */
static uint32_t find_windows(uint64_t start, uint64_t end)
{
	uint32_t n = 0;

	for (size_t i = 0; i < WINDOWS_MAX; i++) {
		struct window *w = &windows[i];
		uint32_t number = atomic_load(&w->number);
		struct span span = {atomic_load(&w->start_ns), atomic_load(&w->end_ns)};

		if (number && atomic_load(&w->number) == number && overlaps(&span, start, end))
			found[n++] = span;
	}
	return n;
}

static uint32_t find_time(const struct trace_window *w)
{
	uint64_t run = atomic_load(&collector->control->start_ns);

	found[0] = (struct span){run + w->from_ns,
				 w->to_ns > UINT64_MAX - run ? UINT64_MAX : run + w->to_ns};
	return run != 0;
}

static bool is_found(uint32_t n, uint64_t start, uint64_t end)
{
	uint32_t i = 0;

	while (i < n && !overlaps(&found[i], start, end))
		i++;
	return i < n;
}

/* Of a device, which somebody launched: what has no stream nobody did (core/pages.h). */
static bool is_work(const struct wire_epoch_interval *v)
{
	const struct lane_entry *lane = &collector->lane[v->of.lane];

	return lane->device != WIRE_NONE && lane->stream != STREAM_NONE;
}

/* Work of a step may run when the host is in the next one: it is of when it was launched, where that is known. */
static struct span times_of(const struct wire_epoch_interval *v, uint64_t to_monotonic_ns)
{
	struct span ran = {v->of.start_ns + to_monotonic_ns, v->of.end_ns + to_monotonic_ns};

	if (collector->control->wanted.window.kind == TRACE_WINDOW_STEPS && is_work(v) &&
	    v->latency_ns)
		ran.start = ran.end = ran.start - v->latency_ns;
	return ran;
}

/* ---- what is in no window ---- */

/* A window that begins ends the time without one, which began where the last of those before had ended. */
static void look_at_start(uint32_t number, uint64_t start_ns)
{
	if (seen.begun == number)
		return;
	seen.begun = number;
	if (start_ns > seen.until_ns)
		unrecorded_begin(UNRECORDED_WINDOW, seen.until_ns);
	unrecorded_end(UNRECORDED_WINDOW, start_ns);
}

/* False: no more is known of them by now. One that made place for another is not remembered, which was counted. */
static bool look_at_next(void)
{
	uint32_t next = seen.n + 1, number;
	const struct window *w = &windows[next % WINDOWS_MAX];
	struct span span;

	if (seen.n == atomic_load(&n_windows)) {
		unrecorded_begin(UNRECORDED_WINDOW, seen.until_ns);
		return false;
	}
	number = atomic_load(&w->number);
	span = (struct span){atomic_load(&w->start_ns), atomic_load(&w->end_ns)};
	if (!number || number != atomic_load(&w->number)) /* it is being written */
		return false;
	if (number == next) {
		look_at_start(next, span.start);
		if (span.end == OPEN)
			return false;
		seen.until_ns = MAX(seen.until_ns, span.end);
	}
	seen.n = next;
	return true;
}

static void look_at_time(const struct trace_window *w)
{
	struct span span;

	if (seen.n || !find_time(w))
		return;
	seen.n = 1;
	span = found[0];
	if (w->from_ns) {
		unrecorded_begin(UNRECORDED_WINDOW, 0);
		unrecorded_end(UNRECORDED_WINDOW, span.start);
	}
	if (span.end != UINT64_MAX)
		unrecorded_begin(UNRECORDED_WINDOW, span.end);
}

static void look_at_windows(const struct trace_window *wanted)
{
	if (wanted->kind == TRACE_WINDOW_TIME) {
		look_at_time(wanted);
		return;
	}
	while (look_at_next())
		;
}

/* Work of another step may run in one. */
static void not_kept(const struct wire_epoch_interval *v, uint64_t to_monotonic_ns)
{
	if (collector->control->wanted.window.kind == TRACE_WINDOW_STEPS && is_work(v))
		unrecorded_dropped(UNRECORDED_WINDOW, v->of.start_ns + to_monotonic_ns,
				   v->of.end_ns + to_monotonic_ns);
}

uint32_t trace_windows_keep(struct wire_epoch_interval *v, uint32_t n, uint64_t to_monotonic_ns)
{
	const struct trace_window *wanted = &collector->control->wanted.window;
	uint64_t start = UINT64_MAX, end = 0;
	uint32_t n_found, kept = 0;

	if (wanted->kind == TRACE_WINDOW_ALL)
		return n;
	look_at_windows(wanted);
	for (uint32_t i = 0; i < n; i++) {
		start = MIN(start, times_of(&v[i], to_monotonic_ns).start);
		end = MAX(end, times_of(&v[i], to_monotonic_ns).end);
	}
	n_found = wanted->kind == TRACE_WINDOW_TIME ? find_time(wanted) : find_windows(start, end);
	for (uint32_t i = 0; i < n; i++)
		if (is_found(n_found, times_of(&v[i], to_monotonic_ns).start,
			     times_of(&v[i], to_monotonic_ns).end))
			v[kept++] = v[i];
		else
			not_kept(&v[i], to_monotonic_ns);
	return kept;
}
