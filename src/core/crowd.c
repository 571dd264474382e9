/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/crowd.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/idindex.h"
#include "base/util.h"
#include "core/alike.h"

enum {
	CROWD_MIN = 100, /* fewer alike names did not fill the table */
	PATTERN_MAX = 1024,
	BEFORE_NUMBER = 36,
	NAME_MAX_SHOWN = 60,
};

/* Of a long name print the part around the first number: it is what makes the names differ. */
static void pattern_print(const char *name, char *out, size_t size)
{
	char all[PATTERN_MAX];
	const char *from = all, *number;

	alike_pattern(name, all, sizeof(all));
	number = strchr(all, '#');
	if (number && number - all > BEFORE_NUMBER)
		from = number - BEFORE_NUMBER;
	while (((unsigned char)*from & 0xc0) == 0x80) /* not within a character */
		from++;
	snprintf(out, size, "%s%.*s", from > all ? "…" : "", (int)size - 4, from);
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
	       names_alike(session_node_name(f->s, f->v[id].one), session_node_name(f->s, node));
}

static int crowd_add(struct search *f, uint32_t node)
{
	uint32_t parent = f->s->nodes[node].parent, id;
	uint64_t hash = alike_hash(session_node_name(f->s, node), parent);

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

const char *crowd_loss_text(const struct session *s, enum loss loss, uint64_t n,
			    char out[LOSS_TEXT_MAX])
{
	char pattern[NAME_MAX_SHOWN];
	struct crowd c;
	size_t len;

	loss_text(loss, n, out);
	if (!is_of_contexts(loss) || crowd_find(s, &c) < 0 || c.n < CROWD_MIN)
		return out;
	len = strlen(out);
	pattern_print(session_node_name(s, c.one), pattern, sizeof(pattern));
	snprintf(out + len, LOSS_TEXT_MAX - len, ": too many names, %u like '%s' in '%.*s'", c.n,
		 pattern, NAME_MAX_SHOWN, session_node_name(s, c.parent));
	return out;
}
