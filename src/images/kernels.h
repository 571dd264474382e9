/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_KERNELS_H
#define PROTON_IMAGES_KERNELS_H
/* The kernels of an image, and what they take of a multiprocessor as far as it says.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"

struct image_kernel {
	const char *name; /* raw, in the bytes of the image; nothing ends it */
	size_t name_len;
	bool is_assembled;     /* the rest is known */
	uint32_t registers;    /* of a thread */
	uint64_t shared_bytes; /* static, without what the driver keeps for itself */
	uint64_t local_bytes;  /* of a thread: what it spills, and arrays */
	uint64_t code_bytes;
	uint32_t
		threads_max; /* of a block, as its source says (__launch_bounds__); 0: it does not */
};

struct image_kernels {
	struct image_kernel *v; /* in the image's order */
	size_t n, cap;
	struct idindex by_name;
};

/* 0; -ENOMEM; -EFBIG: more than anybody writes. */
int image_kernels_add(struct image_kernels *kernels, const struct image_kernel *kernel);
void image_kernels_done(struct image_kernels *kernels);
/* The first of that name; NULL: there is none. */
const struct image_kernel *image_kernels_find(const struct image_kernels *kernels, const char *name,
					      size_t len);

#endif
