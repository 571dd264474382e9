/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/epochs.h"
#include <string.h>
#include "collect/epoch_file.h"
#include "collect/session_table.h"
#include "core/session_words.h"

static uint32_t n_epochs(void)
{
	return atomic_load_explicit(&collector->n_epochs, memory_order_acquire);
}

static uint32_t state_of(uint32_t epoch)
{
	return atomic_load_explicit(&collector->epochs[epoch].state, memory_order_acquire);
}

/* ---- what is in flight ---- */

/* Launches of a thread that have a record, as far as is known. */
static uint64_t launched_by(const struct thread_state *t)
{
	return atomic_load_explicit(&t->n_launches, memory_order_relaxed) -
	       atomic_load_explicit(&t->n_unlaunched, memory_order_relaxed);
}

/* The launch at hand is counted already. The old epoch gets its part before the thread turns away from it:
 * who looks meanwhile counts it twice, and looks again. */
void epoch_enter(struct thread_state *t, uint32_t epoch)
{
	uint64_t before = launched_by(t) - 1;
	uint32_t old = atomic_load_explicit(&t->context_epoch, memory_order_relaxed);

	atomic_fetch_add(&collector->epochs[old].n_launched,
			 before - atomic_load_explicit(&t->epoch_base, memory_order_relaxed));
	atomic_store(&t->epoch_base, before);
	atomic_store(&t->context_epoch, epoch);
}

/* Launches of an epoch less those that have ended; more where a thread is on its way to another one. */
static int64_t in_flight(uint32_t epoch)
{
	const struct epoch_entry *e = &collector->epochs[epoch];
	uint64_t ended = atomic_load(&e->n_ended), launched = 0;
	uint32_t n = atomic_load(&collector->n_threads);

	for (uint32_t i = 0; i < n; i++) {
		const struct thread_state *t = &collector->thread[i];
		uint64_t base = atomic_load(&t->epoch_base);

		if (atomic_load(&t->context_epoch) == epoch)
			launched += launched_by(t) - base;
	}
	return (int64_t)(launched + atomic_load(&e->n_launched) - ended);
}

/* A record that came in vain, as one that the vendor dropped, is no epoch's: nothing is in flight at all. */
static bool nothing_is_in_flight(void)
{
	uint32_t n = atomic_load(&collector->n_threads);
	uint64_t records = 0, launched = 0;

	for (uint32_t i = 0; i < n; i++)
		records +=
			atomic_load_explicit(&collector->thread[i].n_records, memory_order_acquire);
	for (uint32_t i = 0; i < n; i++)
		launched += launched_by(&collector->thread[i]);
	return (int64_t)(launched - records) <= 0;
}

bool epoch_is_quiet(uint32_t epoch)
{
	return in_flight(epoch) <= 0 || nothing_is_in_flight();
}

uint32_t epoch_told_late(uint32_t epoch, uint32_t use)
{
	/* In this order: one that is alive in another use has that already. */
	return epoch && state_of(epoch) == EPOCH_LIVE && epoch_use(epoch) == use ? epoch : 0;
}

/* Operations go to proton beside the pipe, and name their epoch: it stays what it is. */
void epoch_give_back(uint32_t epoch)
{
	struct epoch_entry *e = &collector->epochs[epoch];
	bool run_too = collector->control->wanted.trace;

	if (atomic_exchange(&e->warps, false))
		epoch_file_remove(epoch, EPOCH_FILE_SCOPES);
	if (atomic_exchange(&e->kept, false))
		epoch_file_remove(epoch, EPOCH_FILE_KEPT);
	atomic_store(&e->state,
		     atomic_load(&e->traced) || (run_too && atomic_load(&collector->traced))
			     ? EPOCH_SPENT
			     : EPOCH_FREE);
}

/* What has not ended by now counts as if it had. */
static void give_up(uint32_t epoch)
{
	int64_t n = in_flight(epoch);

	if (n > 0)
		epoch_end(epoch, (uint64_t)n);
}

/* ---- members ---- */

static uint32_t active_members(struct epoch_member members[static MAX_LIVE_SESSIONS])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_sessions() && n < MAX_LIVE_SESSIONS; i++)
		if (session_state(i) == WIRE_SESSION_ACTIVE)
			members[n++] = (struct epoch_member){i, collector->session[i].phase};
	return n;
}

/* One that nobody uses: the lowest, so that few are in use over all; WIRE_NONE: there is none. */
static uint32_t epoch_take(void)
{
	uint32_t i, n = n_epochs();

	for (i = 1; i < n && state_of(i) != EPOCH_FREE; i++)
		;
	if (i == MAX_EPOCHS)
		return WIRE_NONE;
	give_up(i); /* of a use before */
	return i;
}

static uint32_t without_of(const struct session_entry *e)
{
	return session_kinds_without(collector->string[e->context].s);
}

/* What sessions of an epoch have traced, before anybody is in it. */
static void set_traced(struct epoch_entry *epoch)
{
	bool traced = false, warps = false;
	uint32_t without = UINT32_MAX;

	for (uint32_t i = 0; i < epoch->n; i++) {
		const struct session_entry *e = &collector->session[epoch->members[i].session];

		traced |= e->traced;
		warps |= e->warps;
		without &= e->warps ? without_of(e) : UINT32_MAX;
	}
	atomic_store(&epoch->traced, traced);
	epoch->warps_without = without;
	atomic_store(&epoch->warps, warps);
}

static uint32_t epoch_make(const struct epoch_member *members, uint32_t n)
{
	uint32_t i = epoch_take();
	struct epoch_entry *e;

	if (i == WIRE_NONE)
		return i;
	e = &collector->epochs[i];
	e->n = n;
	memcpy(e->members, members, n * sizeof(*members));
	set_traced(e);
	e->version++;
	atomic_fetch_add(&e->use, 1);
	atomic_store_explicit(&e->state, EPOCH_LIVE, memory_order_release);
	if (i >= n_epochs())
		atomic_store_explicit(&collector->n_epochs, i + 1, memory_order_release);
	return i;
}

static bool is_of(uint32_t epoch, const struct epoch_member *members, uint32_t n)
{
	const struct epoch_entry *e = &collector->epochs[epoch];

	return e->n == n && state_of(epoch) == EPOCH_LIVE &&
	       !memcmp(e->members, members, n * sizeof(*members));
}

/* The epoch of a set, made where there is none. WIRE_NONE: there are too many. */
static uint32_t epoch_of(const struct epoch_member *members, uint32_t n)
{
	uint32_t i, n_all = n_epochs();

	if (!n)
		return 0;
	for (i = 1; i < n_all; i++)
		if (is_of(i, members, n))
			return i;
	return epoch_make(members, n);
}

/* Another one of the set than the one of now, in which nothing is under way. */
static uint32_t epoch_beside(const struct epoch_member *members, uint32_t n)
{
	uint32_t i, n_all = n_epochs(), now = atomic_load(&collector->epoch);

	for (i = 1; i < n_all; i++)
		if (i != now && is_of(i, members, n) && in_flight(i) <= 0)
			return i;
	return epoch_make(members, n);
}

static _Atomic bool is_changed;

bool epochs_changed(void)
{
	return atomic_exchange(&is_changed, false);
}

bool epochs_update(void)
{
	struct epoch_member members[MAX_LIVE_SESSIONS];
	uint32_t epoch = epoch_of(members, active_members(members));

	atomic_store(&collector->epoch, epoch == WIRE_NONE ? 0 : epoch);
	atomic_store(&is_changed, true);
	if (epoch == WIRE_NONE)
		note_add(
			NOTE_WARNING,
			"the program had more sets of sessions and phases than are told apart: the "
			"profiles of sessions lack what ran then");
	return epoch != WIRE_NONE;
}

bool epochs_turn(void)
{
	struct epoch_member members[MAX_LIVE_SESSIONS];
	uint32_t n = active_members(members), epoch = n ? epoch_beside(members, n) : 0;

	if (epoch == WIRE_NONE)
		return false;
	atomic_store(&collector->epoch, epoch);
	atomic_store(&is_changed, true);
	return true;
}

/* Where a session is among the members, in one of these phases; e->n: it is not. */
static uint32_t member_at(const struct epoch_entry *e, uint32_t session, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = 0; i < e->n; i++)
		if (e->members[i].session == session && e->members[i].phase >= from &&
		    e->members[i].phase <= to)
			break;
	return i;
}

static bool is_in(uint32_t epoch, uint32_t session, uint32_t from, uint32_t to)
{
	const struct epoch_entry *e = &collector->epochs[epoch];

	return state_of(epoch) == EPOCH_LIVE && member_at(e, session, from, to) < e->n;
}

bool epochs_have(uint32_t session, uint32_t phase)
{
	for (uint32_t i = 1; i < n_epochs(); i++)
		if (is_in(i, session, phase, phase))
			return true;
	return false;
}

bool epochs_are_complete(uint32_t session, uint32_t phase)
{
	for (uint32_t i = 1; i < n_epochs(); i++)
		if (is_in(i, session, phase, phase) && !epoch_is_quiet(i))
			return false;
	return true;
}

uint64_t epochs_n_unended(uint32_t session)
{
	uint32_t now = atomic_load(&collector->epoch);
	int64_t n, sum = 0;

	for (uint32_t i = 1; i < n_epochs() && !nothing_is_in_flight(); i++) {
		n = i != now && is_in(i, session, 0, WIRE_NONE) ? in_flight(i) : 0;
		sum += n > 0 ? n : 0;
	}
	return (uint64_t)sum;
}

uint32_t epochs_next_phase(uint32_t session, uint32_t from)
{
	uint32_t next = WIRE_NONE;

	for (uint32_t i = 1; i < n_epochs(); i++) {
		const struct epoch_entry *e = &collector->epochs[i];
		uint32_t at = is_in(i, session, from, WIRE_NONE)
				      ? member_at(e, session, from, WIRE_NONE)
				      : e->n;

		if (at < e->n)
			next = MIN(next, e->members[at].phase);
	}
	return next;
}

void epochs_leave(uint32_t session, uint32_t from, uint32_t to)
{
	for (uint32_t i = 1; i < n_epochs(); i++) {
		struct epoch_entry *e = &collector->epochs[i];
		uint32_t at;

		if (!is_in(i, session, from, to))
			continue;
		at = member_at(e, session, from, to);
		memmove(&e->members[at], &e->members[at + 1],
			(--e->n - at) * sizeof(e->members[0]));
		e->version++;
		if (!e->n)
			atomic_store_explicit(&e->state, EPOCH_LEFT, memory_order_release);
	}
}

void epochs_give_up(uint32_t session, uint32_t phase)
{
	for (uint32_t i = 1; phase && i < n_epochs(); i++)
		if (is_in(i, session, 0, phase - 1) || state_of(i) == EPOCH_LEFT)
			give_up(i);
}

uint32_t epochs_n_left(void)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < n_epochs(); i++)
		n += state_of(i) == EPOCH_LEFT;
	return n;
}

void epochs_forked(void)
{
	for (uint32_t i = 1; i < n_epochs(); i++) {
		struct epoch_entry *e = &collector->epochs[i];

		e->n = 0;
		e->version++;
		atomic_store(&e->state, EPOCH_FREE);
	}
	for (uint32_t i = 0; i < atomic_load(&collector->n_threads); i++) {
		atomic_store(&collector->thread[i].context_epoch, 0);
		atomic_store(&collector->thread[i].epoch_base, 0);
	}
	for (uint32_t i = 0; i < n_epochs(); i++) {
		atomic_store(&collector->epochs[i].n_launched, 0);
		atomic_store(&collector->epochs[i].n_ended, 0);
	}
	atomic_store(&collector->epoch, 0);
	atomic_store(&collector->traced, false);
}
