/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_FATBIN_H
#define PROTON_IMAGES_FATBIN_H
/* Fatbins, as nvcc makes them: containers, one behind the other, of entries that are an image each.
 *
 *   header of 16 bytes     u32 FATBIN_MAGIC | u16 version | u16 size of this | u64 bytes that follow
 *   entry                  u16 kind: 1 PTX, 2 cubin, 8 code for linking | u16 | u32 size of this header, with options and name
 *                          +8 u64 bytes of the image as it lies here, with what fills them up
 *                          +16 u32 of these, those that are packed; 0: it is not
 *                          +28 u32 number of the chip  +40 u64 flags  +56 u64 bytes when unpacked
 *
 * NVIDIA documents none of it: read off what nvcc 13.0 writes.
 *   thread  any */
#include "images/image.h"

#define FATBIN_MAGIC         UINT32_C(0xBA55ED50)
#define FATBIN_WRAPPER_MAGIC UINT32_C(0x466243B1)

/* Add the images of all containers in it to ret, which may hold some: 0, or as images_find(). Between containers may lie zeros. */
int fatbin_find(struct elf_part fatbin, struct images *ret);
/* How many bytes the container has that begins there, of which a header can be read; 0: it is none. */
size_t fatbin_size(const void *at);

#endif
