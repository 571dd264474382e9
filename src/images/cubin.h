/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_CUBIN_H
#define PROTON_IMAGES_CUBIN_H
/* What a cubin says of its kernels, of how it was made, and the PTX that it may hold. Lines and functions that kernels call:
 * naming/cubin.h.
 *   thread  one */
#include "base/buf.h"
#include "images/image.h"
#include "images/kernels.h"

/* Add its kernels: 0; -EBADMSG: it is no cubin; -ENOMEM; -EFBIG. */
int cubin_kernels(struct elf_part cubin, struct image_kernels *ret);

/* "sm_90a": as its assembler was told, else as its header says; "": it is no cubin. */
void cubin_arch(struct elf_part cubin, char ret[IMAGE_ARCH_MAX]);
/* The options that its assembler had, in a text of the cubin; "": it does not say. */
const char *cubin_options(struct elf_part cubin);

/* The PTX that it was assembled from, its lines as the assembler kept them: 0; -ENOENT: it holds none; -ENOMEM. */
int cubin_ptx(struct elf_part cubin, struct buf *ret);

#endif
