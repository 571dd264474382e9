/* SPDX-License-Identifier: MIT */
/* Sessions that programs start themselves, their phases, and what they ask for. */
#include "config.h" // IWYU pragma: keep
#include "wire/decoder.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/session.h"

/* Sessions that an instance starts itself: as many as a collector has. */
#define SESSIONS_MAX 4096
/* Questions of all instances that nobody has taken yet. */
#define ASKS_MAX 1024

/* The state of one that was not sent is 0, of others theirs + 1, and whether its end was seen to. */
#define SESSION_TAKEN UINT32_C(0x80000000)

/* Its name, if that is told with it: in *ret_name, to be freed, when it is another one than it had. False: there is
 * none. */
static bool session_name(struct peer *p, const struct wire_session *w, char **ret_name)
{
	const char *had = p->sessions[w->id].name;

	*ret_name = NULL;
	if (!(w->name & WIRE_STRING_SESSION))
		return true;
	if (!p->session_name || p->its_session != w->name)
		return had;
	if (!had || strcmp(had, p->session_name) != 0) {
		*ret_name = p->session_name;
		p->session_name = NULL;
	}
	return true;
}

/* The place of a session, made where it is not there. 0 or -ENOMEM. */
static int session_room(struct peer *p, uint32_t id)
{
	if (ARRAY_ROOM(p->sessions, p->cap_sessions, id + 1) < 0)
		return -ENOMEM;
	for (; p->n_sessions <= id; p->n_sessions++)
		p->sessions[p->n_sessions] =
			(struct told_session){.w = {.id = (uint32_t)p->n_sessions}};
	return 0;
}

int decode_session(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_session *w = entry;
	bool own_name = w->name & WIRE_STRING_SESSION, is_new;
	struct wire_session s = {w->id,
				 w->state + 1,
				 own_name ? 0 : idmap_get(&p->strings, w->name),
				 idmap_get(&p->strings, w->context),
				 idmap_get(&p->strings, w->device_type),
				 idmap_get(&p->strings, w->format)};
	struct told_session *t;
	char *name;

	if (w->id >= SESSIONS_MAX || w->state > WIRE_SESSION_FINALIZED || s.name == SESSION_NONE ||
	    s.context == SESSION_NONE || s.device_type == SESSION_NONE || s.format == SESSION_NONE)
		return -EBADMSG;
	if (session_room(p, w->id) < 0)
		return -ENOMEM;
	if (!session_name(p, w, &name))
		return -EBADMSG;
	t = &p->sessions[w->id];
	is_new = !t->w.state || name ||
		 ((t->w.state & ~SESSION_TAKEN) == WIRE_SESSION_FINALIZED + 1 &&
		  w->state != WIRE_SESSION_FINALIZED);
	if (is_new)
		t->serial = p->n_begun++;
	else
		s.state |= t->w.state & SESSION_TAKEN;
	if (name) {
		free(t->name);
		t->name = name;
	}
	t->w = s;
	d->s->generation++;
	return 0;
}

static int member_add(struct peer *p, uint32_t its_epoch, uint32_t session, uint32_t phase)
{
	uint32_t epoch = idmap_get(&p->epochs, its_epoch);

	if (epoch == SESSION_NONE || epoch == 0)
		return -EBADMSG;
	return members_add(&p->members, epoch, session, phase);
}

int decode_member(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_member *w = entry;

	return member_add(p, w->epoch, w->session, 0);
}

int decode_phase(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_phase *w = entry;

	return member_add(p, w->epoch, w->session, w->phase);
}

/* A tape is asked by nobody, and what nobody takes is not kept for ever. */
int decode_ask(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_ask *w = entry;
	struct told_ask a = {p, *w};

	a.ask.format = idmap_get(&p->strings, w->format);
	if (a.ask.format == SESSION_NONE || w->session >= p->n_sessions)
		return -EBADMSG;
	if (d->is_tape || d->n_asked >= ASKS_MAX)
		return 0;
	if (ARRAY_ROOM(d->asked, d->cap_asked, d->n_asked + 1) < 0)
		return -ENOMEM;
	d->asked[d->n_asked++] = a;
	return 0;
}

/* The i-th session of all instances, with whose it is; NULL: there are not so many. */
static struct told_session *session_at(const struct wire_decoder *d, size_t i,
				       const struct peer **ret_peer)
{
	for (size_t k = 0; k < d->n_peers; i -= d->peers[k++]->n_sessions) {
		if (i >= d->peers[k]->n_sessions)
			continue;
		*ret_peer = d->peers[k];
		return &d->peers[k]->sessions[i];
	}
	return NULL;
}

static struct wire_session_state state_of(const struct wire_decoder *d, const struct peer *p,
					  const struct told_session *t)
{
	const struct wire_session *w = &t->w;

	return (struct wire_session_state){
		.instance = p->instance,
		.id = w->id,
		.state = w->state ? (w->state & ~SESSION_TAKEN) - 1 : WIRE_SESSION_GONE,
		.taken = w->state & SESSION_TAKEN,
		.process = p->process,
		.serial = t->serial,
		.name = t->name ? t->name : strtab_str(d->s->strings, w->name),
		.context = strtab_str(d->s->strings, w->context),
		.device_type = strtab_str(d->s->strings, w->device_type),
		.format = strtab_str(d->s->strings, w->format),
	};
}

bool wire_decoder_session(const struct wire_decoder *d, size_t i, struct wire_session_state *ret)
{
	const struct peer *p;
	const struct told_session *t = session_at(d, i, &p);

	if (t)
		*ret = state_of(d, p, t);
	return t;
}

void wire_decoder_session_take(struct wire_decoder *d, size_t i)
{
	const struct peer *p;
	struct told_session *t = session_at(d, i, &p);

	if (t)
		t->w.state |= SESSION_TAKEN;
}

/* One whose values have all become those of another says nothing. */
static bool row_says(const struct session *s, const struct session_row *row)
{
	for (uint32_t i = 0; i < s->sets[row->set].n; i++)
		if (s->present[row->values + i])
			return true;
	return false;
}

static int phase_rows(const struct wire_decoder *d, const struct peer *p, uint32_t session,
		      uint32_t phase, uint8_t *rows)
{
	const struct session *s = d->s;
	_cleanup_(freep) uint8_t *in = calloc(s->n_epochs, 1);

	if (!in)
		return -ENOMEM;
	members_mark(&p->members, session, phase, in, s->n_epochs);
	for (size_t k = 0; k < s->n_rows; k++)
		rows[k] = in[s->rows[k].epoch] &&
			  session_lane_at(s, s->rows[k].lane)->process == p->process &&
			  row_says(s, &s->rows[k]);
	return 0;
}

int wire_decoder_session_rows(const struct wire_decoder *d, size_t i, uint8_t *rows)
{
	const struct peer *p;
	const struct told_session *t = session_at(d, i, &p);

	return t ? phase_rows(d, p, t->w.id, MEMBERS_ANY, rows) : -ENOENT;
}

uint32_t wire_decoder_session_phase(const struct wire_decoder *d, size_t i, uint32_t from)
{
	const struct peer *p;
	const struct told_session *t = session_at(d, i, &p);

	return t ? members_next_phase(&p->members, t->w.id, from, d->s->n_epochs) : WIRE_NONE;
}

bool wire_decoder_ask(struct wire_decoder *d, struct wire_ask_state *ret)
{
	struct told_ask a;

	if (!d->n_asked)
		return false;
	a = d->asked[0];
	memmove(d->asked, d->asked + 1, --d->n_asked * sizeof(*d->asked));
	*ret = (struct wire_ask_state){
		.session = state_of(d, a.peer, &a.peer->sessions[a.ask.session]),
		.id = a.ask.id,
		.what = a.ask.what,
		.phase = a.ask.phase,
		.format = strtab_str(d->s->strings, a.ask.format),
	};
	return true;
}

_Static_assert(MEMBERS_ANY == WIRE_NONE, "any phase");

uint32_t wire_decoder_phase_epoch(struct wire_decoder *d, uint64_t instance, uint32_t session,
				  uint32_t phase, uint32_t from)
{
	struct peer *p;
	uint32_t epoch;

	if (decode_peer(d, instance, &p) < 0)
		return WIRE_NONE;
	for (uint32_t its = from; its < p->epochs.n; its++) {
		epoch = idmap_get(&p->epochs, its);
		if (epoch != IDMAP_NONE && members_has(&p->members, epoch, session, phase))
			return its;
	}
	return WIRE_NONE;
}

int wire_decoder_phase_rows(struct wire_decoder *d, uint64_t instance, uint32_t session,
			    uint32_t phase, uint8_t *rows)
{
	struct peer *p;
	int r = decode_peer(d, instance, &p);

	return r < 0 ? r : phase_rows(d, p, session, phase, rows);
}
