/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/idmap.h"
#include <errno.h>
#include <stdlib.h>
#include "base/hash.h"
#include "base/util.h"

/* The array may be this much larger than the ids that are known to be in use. */
#define SPARE 64

void idmap_done(struct idmap *m)
{
	free(m->v);
	free(m->far);
	idindex_done(&m->index);
}

static bool far_equal(const void *ctx, uint32_t at, const void *key)
{
	const struct idmap *m = ctx;

	return m->far[at].id == *(const uint32_t *)key;
}

static uint32_t far_find(const struct idmap *m, uint32_t id)
{
	return idindex_find(&m->index, hash_u64(id), far_equal, m, &id);
}

uint32_t idmap_get_far(const struct idmap *m, uint32_t id)
{
	uint32_t at = far_find(m, id);

	return at == IDINDEX_NONE ? IDMAP_NONE : m->far[at].value;
}

static int far_set(struct idmap *m, uint32_t id, uint32_t value)
{
	uint32_t at = far_find(m, id);

	if (at != IDINDEX_NONE) {
		m->far[at].value = value;
		return 0;
	}
	if (ARRAY_ROOM(m->far, m->cap_far, m->n_far + 1) < 0 ||
	    idindex_add(&m->index, hash_u64(id), (uint32_t)m->n_far) < 0)
		return -ENOMEM;
	m->far[m->n_far++] = (struct idmap_far){id, value};
	m->n_known++;
	return 0;
}

int idmap_set(struct idmap *m, uint32_t id, uint32_t value)
{
	if (id >= m->n && id > 2 * m->n_known + SPARE)
		return far_set(m, id, value);
	if (ARRAY_ROOM(m->v, m->cap, (size_t)id + 1) < 0)
		return -ENOMEM;
	while (m->n <= id)
		m->v[m->n++] = IDMAP_NONE;
	m->n_known += m->v[id] == IDMAP_NONE;
	m->v[id] = value;
	return 0;
}
