/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/crowd.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"

enum {
	CROWD_MIN = 100, /* fewer are no reason for a full table */
	NAME_MAX_SHOWN = 80,
};

/* ---- names but for their digits ---- */

/* The next character; a number is one '#'. 0: the end. */
static char next_char(const char **p)
{
	char c = **p;

	if (!c)
		return 0;
	(*p)++;
	if (!isdigit((unsigned char)c))
		return c;
	while (isdigit((unsigned char)**p))
		(*p)++;
	return '#';
}

static uint64_t pattern_hash(const char *name, uint32_t parent)
{
	uint64_t h = parent;
	char c;

	while ((c = next_char(&name)))
		h = h * 31 + (unsigned char)c;
	return hash_u64(h);
}

static bool pattern_equal(const char *a, const char *b)
{
	char c;

	do {
		c = next_char(&a);
		if (c != next_char(&b))
			return false;
	} while (c);
	return true;
}

static void pattern_print(const char *name, char *out, size_t size)
{
	size_t n = 0;
	char c;

	while (n + 1 < size && (c = next_char(&name)))
		out[n++] = c;
	out[n] = '\0';
}

/* ---- crowds ---- */

struct search {
	const struct session *s;
	struct idindex index;
	struct crowd *v;
	uint32_t n;
};

static bool same_crowd(const void *ctx, uint32_t id, const void *key)
{
	const struct search *f = ctx;
	uint32_t node = *(const uint32_t *)key;

	return f->v[id].parent == f->s->nodes[node].parent &&
	       pattern_equal(session_node_name(f->s, f->v[id].one), session_node_name(f->s, node));
}

static int crowd_add(struct search *f, uint32_t node)
{
	uint32_t parent = f->s->nodes[node].parent, id;
	uint64_t hash = pattern_hash(session_node_name(f->s, node), parent);

	id = idindex_find(&f->index, hash, same_crowd, f, &node);
	if (id != IDINDEX_NONE) {
		f->v[id].n++;
		return 0;
	}
	f->v[f->n] = (struct crowd){1, parent, node};
	return idindex_add(&f->index, hash, f->n++);
}

int crowd_find(const struct session *s, struct crowd *ret)
{
	struct search f = {.s = s, .v = calloc(s->n_nodes + 1, sizeof(*f.v))};
	int r = f.v ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 1; r == 0 && i < s->n_nodes; i++)
		r = crowd_add(&f, i);
	*ret = (struct crowd){0};
	for (i = 0; r == 0 && i < f.n; i++)
		if (f.v[i].n > ret->n)
			*ret = f.v[i];
	idindex_done(&f.index);
	free(f.v);
	return r;
}

static bool is_of_contexts(enum loss loss)
{
	return loss == LOSS_NODES_FULL || loss == LOSS_SLOTS_FULL || loss == LOSS_STRINGS_FULL ||
	       loss == LOSS_CONTEXTS_FULL;
}

const char *crowd_loss_text(const struct session *s, enum loss loss, char out[LOSS_TEXT_MAX])
{
	char pattern[NAME_MAX_SHOWN];
	struct crowd c;

	if (is_of_contexts(loss) && crowd_find(s, &c) == 0 && c.n >= CROWD_MIN) {
		pattern_print(session_node_name(s, c.one), pattern, sizeof(pattern));
		snprintf(out, LOSS_TEXT_MAX, "%s: '%.*s' has %u like '%s'", loss_sentence(loss),
			 NAME_MAX_SHOWN, session_node_name(s, c.parent), c.n, pattern);
	} else {
		snprintf(out, LOSS_TEXT_MAX, "%s", loss_sentence(loss));
	}
	return out;
}
