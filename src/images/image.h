/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_IMAGE_H
#define PROTON_IMAGES_IMAGE_H
/* The code of kernels in one of its forms, as it lies in some bytes (images.h), which stay the caller's and must live as long.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/elf_bytes.h"

enum image_kind { IMAGE_PTX, IMAGE_CUBIN, IMAGE_LTO, N_IMAGE_KINDS };
enum image_packing { IMAGE_RAW, IMAGE_LZ4, IMAGE_ZSTD };

#define IMAGE_ARCH_MAX 16 /* "sm_103a" */

struct image {
	enum image_kind kind;
	enum image_packing packing;
	struct elf_part stored; /* as it lies there */
	size_t size;            /* unpacked */
	char arch
		[IMAGE_ARCH_MAX]; /* what it is for, as is written around it, else in it; "": nothing */
};

struct images {
	struct image *v; /* in the order of the bytes */
	size_t n, cap;
};

/* 0; -ENOMEM; -EFBIG: more images than anybody makes. */
int images_add(struct images *images, const struct image *image);
void images_done(struct images *images);
/* "ptx", "cubin", "lto" */
const char *image_kind_name(enum image_kind kind);

/* An image unpacked: one that is not packed stays where it is. PTX is without the zeros behind it; nothing ends its text. */
struct image_content {
	struct elf_part part;
	char *owned; /* NULL: the bytes are those of the image */
};

/* 0; -EBADMSG: it does not unpack; -ENOTSUP: packed by zstd, whose library is not here; -ENOMEM. */
int image_open(const struct image *image, struct image_content *ret);
void image_content_done(struct image_content *content);

#endif
