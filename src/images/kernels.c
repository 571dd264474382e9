/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/kernels.h"
#include <errno.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"

enum { KERNELS_MAX = 1 << 20 };

struct name {
	const char *at;
	size_t len;
};

static bool is_named(const void *ctx, uint32_t id, const void *key)
{
	const struct image_kernel *k = &((const struct image_kernels *)ctx)->v[id];
	const struct name *name = key;

	return k->name_len == name->len && !memcmp(k->name, name->at, name->len);
}

int image_kernels_add(struct image_kernels *kernels, const struct image_kernel *kernel)
{
	int r = 0;

	if (kernels->n >= KERNELS_MAX)
		return -EFBIG;
	if (ARRAY_ROOM(kernels->v, kernels->cap, kernels->n + 1) < 0)
		return -ENOMEM;
	if (!image_kernels_find(kernels, kernel->name, kernel->name_len))
		r = idindex_add(&kernels->by_name, hash_bytes(kernel->name, kernel->name_len),
				(uint32_t)kernels->n);
	if (r == 0)
		kernels->v[kernels->n++] = *kernel;
	return r;
}

void image_kernels_done(struct image_kernels *kernels)
{
	idindex_done(&kernels->by_name);
	free(kernels->v);
	*kernels = (struct image_kernels){0};
}

const struct image_kernel *image_kernels_find(const struct image_kernels *kernels, const char *name,
					      size_t len)
{
	uint32_t id = idindex_find(&kernels->by_name, hash_bytes(name, len), is_named, kernels,
				   &(struct name){name, len});

	return id == IDINDEX_NONE ? NULL : &kernels->v[id];
}
