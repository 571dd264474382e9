/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_KERNEL_SHADOW_H
#define PROTON_CMD_KERNEL_SHADOW_H
/* A folder with a ptxas that is "proton kernel ptxas", for compilers to find in place of NVIDIA's:
 *
 *   $XDG_CACHE_HOME/proton/ptxas/HASH/
 *     probe.rules          the rules, as they were
 *     ptxas                for Triton: TRITON_PTXAS_PATH
 *     ptxas-blackwell      … of newer chips
 *     toolkit/             links into the CUDA toolkit, whose bin/nvcc takes bin/ptxas: ours, which changes nvcc's PTX as well
 *
 * Its name is the hash of all that is in it, so that what was compiled by other rules is not mixed up, neither by Triton's cache,
 * whose key the version of ptxas is a part of, nor by build systems, which remember the path of nvcc.
 *   thread  one */
#include "base/buf.h"

struct kernel_shadow_wish {
	const char *rules;  /* their text */
	const char *mode;   /* --intra-mode; NULL: as usual */
	const char *python; /* the program of a prefix whose Triton is asked; NULL: none */
};

struct kernel_shadow {
	char *folder;
	bool has_triton, has_blackwell, has_nvcc; /* which are there */
};

/* 0; -ENOENT: there is neither a ptxas nor a home; else -errno. Fills *ret; kernel_shadow_done() frees it whatever is returned. */
int kernel_shadow_make(const struct kernel_shadow_wish *wish, struct kernel_shadow *ret);
void kernel_shadow_done(struct kernel_shadow *shadow);

#endif
