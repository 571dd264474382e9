/* SPDX-License-Identifier: MIT */
#ifndef PROTON_OVERRIDE_ORIGIN_H
#define PROTON_OVERRIDE_ORIGIN_H
/* Of all images that a module has, the PTX that its kernels can be made of anew, and what the driver would run of it:
 *
 *     PTX for just this chip, which says lines  >  what is in a cubin for it  >  PTX for the nearest chip below it
 *
 *   thread  one */
#include "base/buf.h"
#include "base/elf_bytes.h"
#include "images/image.h"
#include "images/kernels.h"

struct origin {
	struct buf ptx;
	char arch[IMAGE_ARCH_MAX];  /* that it is to be assembled for */
	struct image_content cubin; /* of the chip; empty: the driver assembles the PTX by itself */
	struct image_kernels before; /* … its kernels, else those of the PTX */
};

/* chip: 90 for sm_90; 0: not known. 0; -ENODATA: there is no PTX for it; else as images_find(). Names of kernels lie in the module
 * and in *ret, which origin_done() frees whatever is returned. */
int origin_find(struct elf_part module, unsigned chip, struct origin *ret);
void origin_done(struct origin *s);

#endif
