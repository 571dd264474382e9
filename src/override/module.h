/* SPDX-License-Identifier: MIT */
#ifndef PROTON_OVERRIDE_MODULE_H
#define PROTON_OVERRIDE_MODULE_H
/* A module as a program hands it to its driver, made anew with scopes within its kernels:
 *
 *     module ─ origin.h: PTX ─ ptx/probe.h: PTX that records ─ assemble/assemble.h ─> cubin, or the PTX where nothing here assembles
 *
 * All or nothing: a kernel that the new one has not, or one that could be launched no longer, and the module stays as it was.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/elf_bytes.h"
#include "intra/intra_mode.h"

struct overriding {
	const char *rules; /* ptx/rules.h */
	struct intra_mode mode;
	bool has_all;  /* kernels of vendors, too */
	unsigned chip; /* 90 for sm_90; 0: not known */
	unsigned limit_ms;
};

struct overridden {
	struct buf image;   /* empty: it stays as it was */
	struct buf text;    /* lines of core/rewritten.h */
	uint32_t n_kernels; /* rewritten */
	bool is_lasting;    /* the same would come of it another time */
};

/* Fills *ret, which overridden_done() frees. */
void module_override(struct elf_part module, const struct overriding *how, struct overridden *ret);
void overridden_done(struct overridden *o);

#endif
