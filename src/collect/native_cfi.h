/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_NATIVE_CFI_H
#define PROTON_COLLECT_NATIVE_CFI_H
/* How to get from a frame of compiled code to its caller's, as the compiler wrote it down: what of
 * .eh_frame (DWARF 5, 6.4; the LSB for the rest) an x86-64 stack needs.
 *
 *     .eh_frame_hdr ── binary search ──> FDE of the function ──> its program, up to the address ──> rule
 *
 * All memory but our own is read through the kernel: what is not there is an error and no fault.
 *   thread  any; no lock, no allocation */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CFA is the stack pointer before the call; the return address lies below it. */
enum native_cfa {
	CFA_UNKNOWN,
	CFA_END,    /* there is no caller */
	CFA_SP,     /* stack pointer + cfa */
	CFA_FP,     /* frame pointer + cfa */
	CFA_FP_AT,  /* what lies at frame pointer + cfa */
	CFA_SIGNAL, /* a handler returns here: the registers are in the signal's frame */
};
/* Where the caller's frame pointer is. */
enum native_fp {
	FP_SAME,
	FP_CFA, /* at CFA + fp */
	FP_FP,  /* at frame pointer + fp */
	FP_LOST,
};

struct native_rule {
	int32_t cfa, fp;
	uint8_t cfa_is, fp_is; /* the enums above */
};

/* What a look needs of memory. */
struct native_cfi_scratch {
	uint8_t fde[8192], cie[512];
};

/* The rule at an address within a module whose PT_GNU_EH_FRAME lies at `header`. CFA_UNKNOWN where there is
 * none, or one that cannot be followed. Some 10 calls of the kernel. */
struct native_rule native_cfi_rule(uintptr_t header, uintptr_t at,
				   struct native_cfi_scratch *scratch);

/* Memory that may not be there. */
bool native_peek(uintptr_t at, void *out, size_t size);

#endif
