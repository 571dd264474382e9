/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_FILE_H
#define PROTON_INTRA_WARP_FILE_H
/* Single scopes of single warps in a file, `.warps`: pieces on end, all little endian.
 *
 *     WRPS │ NAME │ LNCH │ WARP │ WARP … │ NAME │ LNCH │ WARP …        (each: warp_file_piece, then its bytes)
 *
 *   WRPS  version, 0                                begins a file: names are counted anew. Files may be put on end
 *   NAME  first, n, then n times: length, bytes     names first, first + 1 …; 0 is "" and not written; zeroes to 8 bytes
 *   PROC  warp_file_process                         whose the launches that follow are; none: it is not known
 *   LNCH  warp_file_launch                          a launch; the warps that follow are its own
 *   WARP  warp_file_warp, its warp_file_scopes, …   some of them
 *   LOST  number (64 bits)                          launches that were not written before this place
 *
 * Each piece has a checksum, so that a file whose end is missing or damaged reads up to there. A launch says how many warps it
 * has: those that are missing count as dropped. Kinds that are not known are skipped, and so is what follows in LNCH; other
 * changes have another version.
 *   threads  any, each object by one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/buf.h"
#include "intra/warp_trace.h"

#define WARP_FILE_SUFFIX           ".warps"
#define WARP_FILE_VERSION          1u
#define WARP_FILE_PIECE_MOST       (UINT32_C(1) << 30) /* bytes of one that are believed */

#define WARP_FILE_KIND(a, b, c, d) ((uint32_t)(a) | (b) << 8 | (c) << 16 | (uint32_t)(d) << 24)
enum warp_file_kind {
	WARP_FILE_BEGIN = WARP_FILE_KIND('W', 'R', 'P', 'S'),
	WARP_FILE_NAMES = WARP_FILE_KIND('N', 'A', 'M', 'E'),
	WARP_FILE_PROCESS = WARP_FILE_KIND('P', 'R', 'O', 'C'),
	WARP_FILE_LAUNCH = WARP_FILE_KIND('L', 'N', 'C', 'H'),
	WARP_FILE_WARPS = WARP_FILE_KIND('W', 'A', 'R', 'P'),
	WARP_FILE_LOST = WARP_FILE_KIND('L', 'O', 'S', 'T'),
};

struct warp_file_piece {
	uint32_t kind;
	uint32_t bytes; /* that follow; a multiple of 8 */
	/* Of kind and bytes, which are one word, and of each word of 8 bytes that follows: FNV-1a's h = (h ^ word) * prime,
	 * and then h ^= h >> 32. */
	uint64_t checksum;
};
_Static_assert(sizeof(struct warp_file_piece) == 16, "format");

struct warp_file_process { /* see warp_trace_process */
	uint64_t instance;
	uint32_t pid;
	int32_t rank;
};
_Static_assert(sizeof(struct warp_file_process) == 16, "format");

struct warp_file_launch { /* see warp_trace_launch */
	uint32_t kernel, path;
	uint64_t launch;
	int32_t device;
	uint32_t n_block_warps;
	uint64_t start_ns, end_ns, n_blocks, n_dropped, n_warps;
};
_Static_assert(sizeof(struct warp_file_launch) == 64, "format");

/* … behind it, where a launch has any of it. */
struct warp_file_launch_more {
	uint32_t symbol, reserved;
};
_Static_assert(sizeof(struct warp_file_launch_more) == 8, "format");

struct warp_file_warp { /* see warp_trace_warp */
	uint32_t warp, multiprocessor;
	uint64_t block, entered_ns, left_ns, copied_ns, entered_clock, left_clock, n_lost, n_scopes;
};
_Static_assert(sizeof(struct warp_file_warp) == 72, "format");

struct warp_file_scope { /* see warp_trace_scope */
	uint64_t enter;
	uint64_t cycles; /* from entering to leaving; of a value: the value */
	uint32_t parent;
	uint32_t name; /* 31 is open │ 30…28 event │ 27…0 name */
};
_Static_assert(sizeof(struct warp_file_scope) == 24, "format");

/* Where the scopes of a run lie whose profile is in `profile`: run.hatchet, run.warps. Malloc'd; NULL: out of memory. */
char *warp_file_beside(const char *profile);

/* Names beyond these are written as "". */
#define WARP_FILE_NAMES_MOST (UINT32_C(1) << 28)

/* ---- writing ---- */

struct warp_writer {
	/* Where pieces go, whole ones, one by one. 0 or a negative errno. */
	int (*put)(void *ctx, const void *bytes, size_t n);
	void *ctx;
	uint32_t n_names; /* of the trace, that are written */
	uint32_t process; /* whose launches follow, as the trace has it */
	struct buf piece;
};

/* Begin a file. Of `put` and `ctx` the caller set both, and nothing else. 0, -ENOMEM or what `put` returned, as below. */
int warp_writer_begin(struct warp_writer *w);
/* A launch of a trace with its warps, and what names are new since the one before: it is the same trace each time, or one with
 * the same names. */
int warp_writer_launch(struct warp_writer *w, const struct warp_trace *t, size_t launch);
/* So many launches found no place. */
int warp_writer_lost(struct warp_writer *w, uint64_t n_launches);
void warp_writer_done(struct warp_writer *w);

/* ---- reading ---- */

struct warp_file_end {
	uint64_t n_whole;         /* bytes up to the end of the last whole piece */
	uint64_t n_bytes;         /* that were read: more where the end is missing or damaged */
	uint64_t n_lost_launches; /* that were not written: so many more has the trace left out */
};

/* As read(2) has it, into `data`. */
typedef ssize_t warp_file_fn(void *ctx, void *data, size_t n);

/* Whether a file that begins so is one: 8 bytes of it or more. */
bool warp_file_detect(const void *head, size_t n);
/* All of a file, added to a trace. 0, -ENOMEM, what `read` returned, -EBADMSG (it does not begin as such a file) or
 * -EPROTONOSUPPORT (its version is another). *ret is set with 0. */
int warp_file_read(warp_file_fn *read, void *ctx, struct warp_trace *t, struct warp_file_end *ret);
/* No more of it than up to its first launch, which is added without its warps. *ret_n_warps: so many of these the file should
 * have. 0, -ENODATA: there is no whole launch, or as above. */
int warp_file_head(warp_file_fn *read, void *ctx, struct warp_trace *t, uint64_t *ret_n_warps);

#endif
