/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_REWRITTEN_H
#define PROTON_CORE_REWRITTEN_H
/* What a process that rewrites a module answers, to the collector that started it, or to the next one by a file:
 *
 *   head │ text │ image
 *
 * The text is lines for people: "i " begins what became of a kernel, "w " why one stays as it was. */
#include <stdint.h>

#define REWRITTEN_MAGIC UINT32_C(0x31575250)
#define REWRITTEN_MOST  (UINT64_C(256) << 20) /* bytes of an image that is read or made */
enum { REWRITTEN_TEXT_MOST = 1 << 20 };
#define REWRITTEN_DONE "i "
#define REWRITTEN_LEFT "w "

struct rewritten {
	uint32_t magic;
	uint32_t text_bytes;
	uint64_t image_bytes; /* 0: the module stays as it was */
	uint32_t n_kernels;   /* rewritten */
	uint32_t is_kept;     /* 1: it was made before, and comes from a file */
};
_Static_assert(sizeof(struct rewritten) == 24, "as files have it");

#endif
