/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/diff_impl.h"
#include "core/flat.h"

/* All contexts of the frames of one name: frames that differ in more are one here, as paths are. */
struct kernel {
	uint32_t node; /* of the comparison */
	uint32_t first, n;
};

struct diff_flat {
	struct numbers *numbers;
	struct kernel *kernels;
	uint32_t n;
	uint32_t *contexts; /* kernel by kernel */
	struct number_cache cache;
};

static uint32_t intern(const struct diff_picture *p, const struct flat_row *row)
{
	uint32_t node = snapshot_node(p->snap, row->node)->session_node;

	return diff_node_intern(p->d, 0, session_node_name(snapshot_session(p->snap), node),
				row->kind);
}

/* By row: the number of its kernel; malloc'd. NULL: out of memory. */
static uint32_t *find_kernels(struct diff_flat *f, const struct diff_picture *p,
			      const struct flat *rows)
{
	uint32_t n = flat_n(rows), *of = malloc(((size_t)n + 1) * sizeof(*of));
	_cleanup_(freep) uint32_t *known = NULL; /* by node: its kernel + 1 */
	size_t cap = 0, n_known = 0;

	for (uint32_t i = 0; of && i < n; i++) {
		uint32_t node = intern(p, flat_row(rows, i));

		if (node == DIFF_NONE || ARRAY_ROOM(known, cap, p->d->n) < 0) {
			free(of);
			return NULL;
		}
		while (n_known < p->d->n)
			known[n_known++] = 0;
		if (!known[node]) {
			f->kernels[f->n++] = (struct kernel){.node = node};
			known[node] = f->n;
		}
		of[i] = known[node] - 1;
		f->kernels[of[i]].n += flat_row(rows, i)->n;
	}
	return of;
}

static int place(struct diff_flat *f, const struct flat *rows, const uint32_t *of)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		f->kernels[i].first = end;
		end += f->kernels[i].n;
		f->kernels[i].n = 0;
	}
	f->contexts = malloc(((size_t)end + 1) * sizeof(*f->contexts));
	if (!f->contexts)
		return -ENOMEM;
	for (uint32_t i = 0; i < flat_n(rows); i++) {
		struct kernel *k = &f->kernels[of[i]];

		for (uint32_t c = 0; c < flat_row(rows, i)->n; c++)
			f->contexts[k->first + k->n++] = flat_nodes(rows, i)[c];
	}
	return 0;
}

static int fill(struct diff_flat *f, const struct diff_picture *p, struct flat *rows)
{
	_cleanup_(freep) uint32_t *of = NULL;
	int r = flat_update(rows);

	if (r < 0)
		return r;
	f->kernels = malloc(((size_t)flat_n(rows) + 1) * sizeof(*f->kernels));
	of = f->kernels ? find_kernels(f, p, rows) : NULL;
	return of ? place(f, rows, of) : -ENOMEM;
}

struct diff_flat *diff_flat_new(const struct diff_picture *p)
{
	struct diff_flat *f = calloc(1, sizeof(*f));
	struct flat *rows = flat_new(p->numbers, false);
	int r = f && rows ? fill(f, p, rows) : -ENOMEM;

	flat_free(rows);
	if (r < 0) {
		diff_flat_free(f);
		return NULL;
	}
	f->numbers = p->numbers;
	return f;
}

void diff_flat_free(struct diff_flat *f)
{
	if (!f)
		return;
	number_cache_done(&f->cache);
	free(f->kernels);
	free(f->contexts);
	free(f);
}

uint32_t diff_flat_n(const struct diff_flat *f)
{
	return f->n;
}

uint32_t diff_flat_node(const struct diff_flat *f, uint32_t i)
{
	return f->kernels[i].node;
}

double diff_flat_value(struct diff_flat *f, uint32_t i, const struct derived *m, size_t slot)
{
	static const uint32_t root = 0;
	const struct kernel *k = &f->kernels[i];
	const struct number_ask ask = {.metric = m, .slot = (unsigned)slot};
	const struct number_row whole = {{&root, 1, 1, true, false}, f->n};
	const struct number_row row = {{f->contexts + k->first, k->n, k->n, false, true}, i};

	return number_row_value(f->numbers, &f->cache, &ask, &row, &whole);
}
