/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_PTX_TEXT_H
#define PROTON_IMAGES_PTX_TEXT_H
/* What an image of PTX is, as far as a list of images says it. It is not checked.
 *   thread  any */
#include <stdbool.h>
#include "images/image.h"
#include "images/kernels.h"

/* Is it PTX: directives and comments before anything else, ".version" the first of them? */
bool is_ptx_text(struct elf_part all);
/* "sm_90a" of its .target; "": it has none. */
void ptx_text_arch(struct elf_part all, char ret[IMAGE_ARCH_MAX]);
/* Does it say which lines its instructions are of? */
bool ptx_text_has_lines(struct elf_part all);

/* Add the kernels that are defined in it, not those that are only declared: 0, -ENOMEM, -EFBIG. */
int ptx_text_kernels(struct elf_part all, struct image_kernels *ret);

#endif
