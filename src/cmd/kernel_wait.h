/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_KERNEL_WAIT_H
#define PROTON_CMD_KERNEL_WAIT_H
/* Assembling, with a line on the terminal while it takes long: "assembling: 12 of 60 s at most". */
#include "assemble/assemble.h"

/* As image_assemble(). */
int kernel_assemble_shown(struct elf_part ptx, const struct assemble_options *options,
			  struct assembled *ret);

#endif
