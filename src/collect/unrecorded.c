/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/unrecorded.h"
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/internal.h"

enum { SPANS_MAX = 65536 }; /* of a reason: windows of the steps of a long training */

struct span_entry {
	_Atomic uint64_t start_ns, end_ns; /* end 0: it goes on */
};

/* owner: see the header, but for what is atomic */
static struct {
	struct span_entry v[SPANS_MAX];
	_Atomic uint32_t n;
	_Atomic uint32_t told; /* so many were sent, and have not changed since */
} spans[UNRECORDED_N];

/* What came while we were paused, to be added to the last pause; start UINT64_MAX: nothing. */
static struct {
	_Atomic uint64_t start_ns, end_ns;
} missed = {.start_ns = UINT64_MAX};

static bool is_steered; /* the sender has looked once. owner: the sender */

static void changed(enum unrecorded_reason reason, uint32_t i)
{
	uint32_t told = atomic_load(&spans[reason].told);

	while (told > i && !atomic_compare_exchange_weak(&spans[reason].told, &told, i))
		;
}

static struct span_entry *last_of(enum unrecorded_reason reason)
{
	uint32_t n = atomic_load(&spans[reason].n);

	return n ? &spans[reason].v[n - 1] : NULL;
}

bool unrecorded_goes_on(enum unrecorded_reason reason)
{
	const struct span_entry *last = last_of(reason);

	return last && !atomic_load(&last->end_ns);
}

void unrecorded_begin(enum unrecorded_reason reason, uint64_t start_ns)
{
	uint32_t n = atomic_load(&spans[reason].n);

	if (unrecorded_goes_on(reason))
		return;
	if (n == SPANS_MAX) {
		lose(LOSS_UNRECORDED, 1);
		atomic_store(&spans[reason].v[n - 1].end_ns, 0);
		changed(reason, n - 1);
		return;
	}
	if (n)
		start_ns = MAX(start_ns, atomic_load(&spans[reason].v[n - 1].end_ns));
	atomic_store(&spans[reason].v[n].start_ns, start_ns);
	atomic_store(&spans[reason].v[n].end_ns, 0);
	atomic_store(&spans[reason].n, n + 1);
}

void unrecorded_end(enum unrecorded_reason reason, uint64_t end_ns)
{
	struct span_entry *last = last_of(reason);

	if (!unrecorded_goes_on(reason))
		return;
	atomic_store(&last->end_ns, MAX(MAX(end_ns, atomic_load(&last->start_ns)), UINT64_C(1)));
	changed(reason, (uint32_t)(last - spans[reason].v));
}

static void widen_span(enum unrecorded_reason reason, uint32_t i, uint64_t start_ns,
		       uint64_t end_ns)
{
	struct span_entry *span = &spans[reason].v[i];

	if (start_ns < atomic_load(&span->start_ns))
		atomic_store(&span->start_ns, start_ns);
	else if (!atomic_load(&span->end_ns) || end_ns <= atomic_load(&span->end_ns))
		return;
	if (atomic_load(&span->end_ns))
		atomic_store(&span->end_ns, MAX(end_ns, atomic_load(&span->end_ns)));
	changed(reason, i);
}

void unrecorded_widen(enum unrecorded_reason reason, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t n = atomic_load(&spans[reason].n);

	if (n)
		widen_span(reason, n - 1, start_ns, end_ns);
}

/* Those before the last one that it touches end before. */
void unrecorded_dropped(enum unrecorded_reason reason, uint64_t start_ns, uint64_t end_ns)
{
	bool touched = false;

	for (uint32_t i = atomic_load(&spans[reason].n); i-- > 0;) {
		const struct span_entry *span = &spans[reason].v[i];
		uint64_t until_ns = atomic_load(&span->end_ns);
		bool is_before = until_ns && until_ns < start_ns;

		if (is_before && touched)
			return;
		if (!is_before && atomic_load(&span->start_ns) > end_ns)
			continue;
		widen_span(reason, i, is_before ? until_ns : start_ns, end_ns);
		touched = true;
		if (is_before)
			return;
	}
}

/* ---- pauses ---- */

/* What was before there was such a clock was before all that we look at. */
static uint64_t monotonic(uint64_t realtime_ns, uint64_t shift_ns)
{
	return (uint64_t)MAX((int64_t)(realtime_ns + shift_ns), INT64_C(0));
}

void unrecorded_paused(uint64_t start_ns, uint64_t end_ns)
{
	uint64_t shift_ns = clock_to_monotonic_ns(), least = atomic_load(&missed.start_ns),
		 most = atomic_load(&missed.end_ns);

	start_ns = monotonic(start_ns, shift_ns);
	end_ns = monotonic(end_ns, shift_ns);
	while (end_ns > most && !atomic_compare_exchange_weak(&missed.end_ns, &most, end_ns))
		;
	while (start_ns < least &&
	       !atomic_compare_exchange_weak(&missed.start_ns, &least, start_ns))
		;
}

static void take_missed(void)
{
	uint64_t start_ns = atomic_exchange(&missed.start_ns, UINT64_MAX),
		 end_ns = atomic_exchange(&missed.end_ns, 0);

	if (start_ns != UINT64_MAX)
		unrecorded_widen(UNRECORDED_PAUSED, start_ns, MAX(start_ns, end_ns));
}

void unrecorded_pause(bool paused)
{
	uint64_t now = clock_monotonic_ns();

	if (paused)
		unrecorded_begin(UNRECORDED_PAUSED, is_steered ? now : 0);
	else
		unrecorded_end(UNRECORDED_PAUSED, now);
	is_steered = true;
}

/* ---- for others ---- */

static bool has_part(enum unrecorded_reason reason, uint64_t start_ns, uint64_t end_ns)
{
	for (uint32_t i = atomic_load(&spans[reason].n); i-- > 0;) {
		uint64_t until_ns = atomic_load(&spans[reason].v[i].end_ns);

		if (until_ns && until_ns <= start_ns)
			return false;
		if (atomic_load(&spans[reason].v[i].start_ns) < end_ns)
			return true;
	}
	return false;
}

bool unrecorded_hides(uint64_t start_ns, uint64_t end_ns)
{
	uint64_t shift_ns;

	if (_likely_(!atomic_load(&spans[UNRECORDED_PAUSED].n) &&
		     !atomic_load(&spans[UNRECORDED_ASIDE].n)))
		return false;
	shift_ns = clock_to_monotonic_ns();
	start_ns = monotonic(start_ns, shift_ns);
	end_ns = monotonic(end_ns, shift_ns);
	return has_part(UNRECORDED_PAUSED, start_ns, end_ns) ||
	       has_part(UNRECORDED_ASIDE, start_ns, end_ns) ||
	       (atomic_load(&missed.start_ns) < end_ns && atomic_load(&missed.end_ns) > start_ns);
}

/* Of what an error keeps back all is sent again. */
static int send_all_of(struct wire_encoder *e, enum unrecorded_reason reason)
{
	uint32_t n = atomic_load(&spans[reason].n), i = atomic_exchange(&spans[reason].told, n);

	for (uint32_t k = i; k < n; k++) {
		const struct span_entry *span = &spans[reason].v[k];
		const struct wire_unrecorded w = {atomic_load(&span->start_ns),
						  atomic_load(&span->end_ns),
						  reason * SPANS_MAX + k, reason};

		wire_put(e, WIRE_UNRECORDED, &w, sizeof(w));
	}
	if (i == n || wire_encoder_flush(e) == 0)
		return 0;
	changed(reason, i);
	return e->error;
}

int unrecorded_send(struct wire_encoder *e)
{
	int r = 0;

	take_missed();
	for (unsigned i = 0; i < UNRECORDED_N && r == 0; i++)
		r = send_all_of(e, (enum unrecorded_reason)i);
	return r;
}

void unrecorded_resend(void)
{
	for (unsigned i = 0; i < UNRECORDED_N; i++)
		atomic_store(&spans[i].told, 0);
}

void unrecorded_forked(void)
{
	for (unsigned i = 0; i < UNRECORDED_N; i++) {
		atomic_store(&spans[i].n, 0);
		atomic_store(&spans[i].told, 0);
	}
	atomic_store(&missed.start_ns, UINT64_MAX);
	atomic_store(&missed.end_ns, 0);
	is_steered = false;
}
