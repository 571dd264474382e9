/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/live_memory.h"
#include <stddef.h>
#include <sys/mman.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"

enum { LIVE_FIRST = 1 << 10 };

static uint32_t home_of(const struct live_memory *m, uint64_t address)
{
	return (uint32_t)hash_u64(address) & (m->size - 1);
}

static uint32_t after(const struct live_memory *m, uint32_t i)
{
	return (i + 1) & (m->size - 1);
}

struct live_block *live_find(const struct live_memory *m, uint64_t address)
{
	if (!m->n || !address)
		return NULL;
	for (uint32_t i = home_of(m, address); m->cell[i].address; i = after(m, i))
		if (m->cell[i].address == address)
			return &m->cell[i];
	return NULL;
}

static void insert(struct live_memory *m, const struct live_block *b)
{
	uint32_t i = home_of(m, b->address);

	while (m->cell[i].address)
		i = after(m, i);
	m->cell[i] = *b;
	m->n++;
}

static bool grow(struct live_memory *m)
{
	struct live_memory old = *m, wider = {.size = m->size ? m->size * 2 : LIVE_FIRST};

	if (wider.size > LIVE_MAX)
		return false;
	wider.cell = pages_reserve(wider.size * sizeof(*wider.cell));
	if (!wider.cell)
		return false;
	for (uint32_t i = 0; i < m->size; i++)
		if (m->cell[i].address)
			insert(&wider, &m->cell[i]);
	/* A fork at this moment leaves a table that is there. */
	*m = wider;
	live_clear(&old);
	return true;
}

bool live_put(struct live_memory *m, const struct live_block *b)
{
	bool is_full = m->n >= m->size / 4 * 3;

	/* Fuller still, and it takes long to see that something is not there. */
	if (!b->address || (is_full && !grow(m) && m->n >= m->size / 8 * 7))
		return false;
	insert(m, b);
	return true;
}

/* What stands behind it moves up: no cell is ever marked, so the table stays as fast as it is. */
void live_remove(struct live_memory *m, struct live_block *b)
{
	uint32_t hole = (uint32_t)(b - m->cell);

	for (uint32_t i = after(m, hole); m->cell[i].address; i = after(m, i)) {
		uint32_t home = home_of(m, m->cell[i].address);

		if (((i - home) & (m->size - 1)) < ((i - hole) & (m->size - 1)))
			continue;
		m->cell[hole] = m->cell[i];
		hole = i;
	}
	m->cell[hole].address = 0;
	m->n--;
}

void live_clear(struct live_memory *m)
{
	if (m->cell)
		munmap(m->cell, m->size * sizeof(*m->cell));
	*m = (struct live_memory){0};
}
