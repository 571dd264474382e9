/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/members.h"
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"

/* Of all epochs of an instance: as many as a collector has. */
#define MEMBERS_MAX (1u << 19)

static uint32_t first_of(const struct members *m, uint32_t epoch)
{
	uint32_t at = idmap_get(&m->first, epoch);

	return at == IDMAP_NONE ? 0 : at;
}

void members_done(struct members *m)
{
	idmap_done(&m->first);
	free(m->v);
}

void members_clear(struct members *m, uint32_t epoch)
{
	uint32_t at = first_of(m, epoch), next;

	if (!at)
		return;
	for (; at; at = next) {
		next = m->v[at - 1].next;
		m->v[at - 1].next = m->spare;
		m->spare = at;
	}
	idmap_set(&m->first, epoch, 0);
}

/* Room for one: its place, or 0 with *error set. */
static uint32_t member_new(struct members *m, int *error)
{
	uint32_t at = m->spare;

	if (at) {
		m->spare = m->v[at - 1].next;
		return at;
	}
	*error = m->n >= MEMBERS_MAX ? -EBADMSG : -ENOMEM;
	if (m->n >= MEMBERS_MAX || ARRAY_ROOM(m->v, m->cap, m->n + 1) < 0)
		return 0;
	return (uint32_t)++m->n;
}

int members_add(struct members *m, uint32_t epoch, uint32_t session, uint32_t phase)
{
	uint32_t first = first_of(m, epoch), at, n = 0;
	int error = 0;

	for (at = first; at; at = m->v[at - 1].next, n++)
		if (m->v[at - 1].session == session && m->v[at - 1].phase == phase)
			return 0;
	if (n >= MEMBERS_OF_EPOCH)
		return -EBADMSG;
	at = member_new(m, &error);
	if (!at)
		return error;
	m->v[at - 1] = (struct member){session, phase, first};
	return idmap_set(&m->first, epoch, at);
}

bool members_has(const struct members *m, uint32_t epoch, uint32_t session, uint32_t phase)
{
	const struct member *its;

	for (uint32_t at = first_of(m, epoch); at; at = its->next) {
		its = &m->v[at - 1];
		if (its->session == session && (phase == MEMBERS_ANY || its->phase == phase))
			return true;
	}
	return false;
}

void members_mark(const struct members *m, uint32_t session, uint32_t phase, uint8_t *epochs,
		  size_t n)
{
	for (size_t epoch = 0; epoch < n; epoch++)
		if (members_has(m, (uint32_t)epoch, session, phase))
			epochs[epoch] = 1;
}

uint32_t members_next_phase(const struct members *m, uint32_t session, uint32_t from, size_t n)
{
	uint32_t next = MEMBERS_ANY;

	for (size_t epoch = 0; epoch < n; epoch++)
		for (uint32_t at = first_of(m, (uint32_t)epoch); at; at = m->v[at - 1].next)
			if (m->v[at - 1].session == session && m->v[at - 1].phase >= from)
				next = MIN(next, m->v[at - 1].phase);
	return next;
}
