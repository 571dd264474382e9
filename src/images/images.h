/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_IMAGES_H
#define PROTON_IMAGES_IMAGES_H
/* The code of kernels in some bytes, whatever they are:
 *
 *   PTX text ───────────────────────────────────────────────> PTX
 *   cubin (ELF, EM_CUDA) ─────────────────────────────────┬─> cubin
 *                                                         └─> the PTX it was made of (cubin_ptx())
 *   fatbin: containers, one behind the other (fatbin.h) ────> PTX and cubins, packed or not
 *   program or library (ELF): .nv_fatbin, __nv_relfatbin ───> as of a fatbin
 *
 * No number in them is believed. Images are found without unpacking them (image.h).
 *   thread  any */
#include "images/cubin.h"
#include "images/image.h"
#include "images/kernels.h"

/* 0; -EBADMSG: it is none of these, or what stands in it does not fit together; -ENODATA: a program or library without
 * any; -ENOMEM; -EFBIG. */
int images_find(const void *bytes, size_t n, struct images *ret);

/* The kernels of an image that was opened: none of one for linking. 0; -EBADMSG; -ENOMEM; -EFBIG. */
int image_kernels(const struct image *image, struct elf_part content, struct image_kernels *ret);

/* What a program hands to its driver as an image, which takes no length: PTX, a cubin, a fatbin, or the wrapper of one. False:
 * it begins like none of them. That it is whole must be so. */
bool image_in_memory(const void *at, struct elf_part *ret);

#endif
