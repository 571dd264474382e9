/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/launch_choice.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"

enum { BLOCK_BYTES = 4096 }; /* what even a small file takes */

static uint32_t n_first(uint32_t most)
{
	return (most + 2) / 3;
}

static uint32_t n_last(uint32_t most)
{
	return most / 3;
}

/* ---- kernels ---- */

static bool is_kernel(const void *ctx, uint32_t id, const void *key)
{
	const struct launch_choice *c = ctx;

	return c->kernels[id].key == *(const uint64_t *)key;
}

/* NULL: nothing was told of it. */
static struct choice_kernel *find_kernel(const struct launch_choice *c, uint64_t key)
{
	uint32_t at = idindex_find(&c->index, hash_u64(key), is_kernel, c, &key);

	return at == IDINDEX_NONE ? NULL : &c->kernels[at];
}

/* NULL: no memory. */
static struct choice_kernel *kernel_of(struct launch_choice *c, uint64_t key)
{
	struct choice_kernel *k = find_kernel(c, key);

	if (k)
		return k;
	if (ARRAY_ROOM(c->kernels, c->cap, c->n + 1) < 0 ||
	    idindex_add(&c->index, hash_u64(key), (uint32_t)c->n) < 0)
		return NULL;
	c->kernels[c->n] = (struct choice_kernel){.key = key};
	return &c->kernels[c->n++];
}

/* ---- launches ---- */

static size_t fastest(const struct choice_kernel *k, size_t from, size_t to)
{
	size_t at = from;

	for (size_t i = from + 1; i < to; i++)
		if (k->kept[i].took_ns < k->kept[at].took_ns)
			at = i;
	return at;
}

static void leave_out(struct launch_choice *c, struct choice_kernel *k, size_t at)
{
	const struct choice_launch was = k->kept[at];

	k->n--;
	memmove(&k->kept[at], &k->kept[at + 1], (k->n - at) * sizeof(*k->kept));
	k->bytes -= was.bytes;
	c->bytes -= was.bytes;
	c->gone(c->ctx, was.id);
}

/* Of those with more than one launch; NULL: there is none. */
static struct choice_kernel *largest(const struct launch_choice *c)
{
	struct choice_kernel *found = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (c->kernels[i].n > 1 && (!found || c->kernels[i].bytes > found->bytes))
			found = &c->kernels[i];
	return found;
}

/* The newest of this kernel is the one that there may be no room for. */
static void keep_below_limit(struct launch_choice *c, struct choice_kernel *newest)
{
	struct choice_kernel *k;

	while (c->bytes > c->bytes_most && (k = largest(c)))
		leave_out(c, k, fastest(k, 1, k->n));
	if (c->bytes > c->bytes_most)
		leave_out(c, newest, newest->n - 1);
}

/* Room for one that began then. */
static struct choice_launch *insert(struct choice_kernel *k, uint64_t began_ns)
{
	size_t at = k->n++;

	for (; at > 0 && k->kept[at - 1].began_ns > began_ns; at--)
		k->kept[at] = k->kept[at - 1];
	return &k->kept[at];
}

int launch_choice_add(struct launch_choice *c, uint64_t kernel, const struct choice_launch *launch)
{
	struct choice_kernel *k = kernel_of(c, kernel);
	struct choice_launch *new;

	if (!k || ARRAY_ROOM(k->kept, k->cap, k->n + 1) < 0)
		return -ENOMEM;
	new = insert(k, launch->began_ns);
	*new = *launch;
	new->bytes += BLOCK_BYTES;
	k->bytes += new->bytes;
	c->bytes += new->bytes;
	if (k->n > c->most)
		leave_out(c, k, fastest(k, n_first(c->most), k->n - n_last(c->most)));
	keep_below_limit(c, k);
	return 0;
}

/* ---- what may be kept ---- */

/* The older half of twice as many as are asked for. */
static void forget_older(struct choice_kernel *k, size_t last)
{
	if (k->n_latest < 2 * last)
		return;
	memmove(k->latest, k->latest + last, last * sizeof(*k->latest));
	k->n_latest = last;
}

/* Without memory it is not known to be there, and one more is kept. */
void launch_choice_ran(struct launch_choice *c, uint64_t kernel, uint64_t began_ns)
{
	struct choice_kernel *k = kernel_of(c, kernel);
	size_t last = n_last(c->most), at;

	if (!k || !last || ARRAY_ROOM(k->latest, k->cap_latest, k->n_latest + 1) < 0)
		return;
	for (at = k->n_latest++; at > 0 && k->latest[at - 1] > began_ns; at--)
		k->latest[at] = k->latest[at - 1];
	k->latest[at] = began_ns;
	forget_older(k, last);
}

/* Has it launches that took less, from there to there? */
static bool has_faster(const struct choice_kernel *k, size_t from, size_t to, uint64_t took_ns)
{
	return from < to && k->kept[fastest(k, from, to)].took_ns < took_ns;
}

/* Is it this kernel of which one goes where another one comes, for its bytes? */
static bool gives_way(const struct launch_choice *c, const struct choice_kernel *k)
{
	return c->bytes + k->bytes / k->n > c->bytes_most && largest(c) == (k->n > 1 ? k : NULL);
}

/* Not as many as are kept as the first ones are before it, or as the last ones behind it, as far as is known. */
static bool is_at_an_end(const struct launch_choice *c, const struct choice_kernel *k,
			 uint64_t began_ns)
{
	size_t last = n_last(c->most);

	return began_ns < k->kept[n_first(c->most) - 1].began_ns ||
	       (last && (k->n_latest < last || began_ns >= k->latest[k->n_latest - last]));
}

bool launch_choice_may_keep(const struct launch_choice *c, uint64_t kernel, uint64_t began_ns,
			    uint64_t took_ns)
{
	const struct choice_kernel *k = find_kernel(c, kernel);

	if (!k || k->n == 0)
		return true;
	if (gives_way(c, k))
		return has_faster(k, 1, k->n, took_ns);
	return k->n < c->most || is_at_an_end(c, k, began_ns) ||
	       has_faster(k, n_first(c->most), k->n - n_last(c->most), took_ns);
}

static void free_kernel(struct choice_kernel *k)
{
	free(k->kept);
	free(k->latest);
}

void launch_choice_done(struct launch_choice *c)
{
	for (size_t i = 0; i < c->n; i++)
		free_kernel(&c->kernels[i]);
	free(c->kernels);
	idindex_done(&c->index);
	*c = (struct launch_choice){0};
}
