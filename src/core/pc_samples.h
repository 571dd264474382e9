/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PC_SAMPLES_H
#define PROTON_CORE_PC_SAMPLES_H
/* Where in the code of a kernel a device was when it was looked at (--pc-sampling), and what its warps waited for.
 *
 *     k                          FRAME_KERNEL       time, calls
 *     ├─ /src/k.cu:12@k          FRAME_LINE         no values of its own (line_name.h) …
 *     │  ├─ +0x120 k@1f.cubin    FRAME_INSTRUCTION  samples and reasons, exclusive
 *     │  └─ +0x130 k@1f.cubin
 *     └─ +0x200 k@1f.cubin       an instruction of which no line is known
 *
 * All of it is nodes and metrics as any others: it is merged, cut, filtered, saved and read as they are. A line is as
 * Triton's Proton names it. What could not be kept by instruction (too many) is with the kernel. Samples of functions of
 * which no kernel was recorded are below PC_SAMPLES_NOWHERE, at the root.
 *
 * METRIC_PC_SAMPLES is as Triton's Proton has it: all that CUPTI counted, by reason, those in which nothing was
 * issued counted once more. METRIC_PC_STALLED_SAMPLES: each sample of a warp once; it is the sum of all reasons, of which
 * METRIC_STALLED_SELECTED is none to wait for: the warp issued. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

#define PC_SAMPLES_NOWHERE "<samples of kernels that were not recorded>"

/* Reasons, the key in files and the end of CUPTI's name for it.
 *    id               key                    CUPTI's */
/* clang-format off */
#define PC_REASONS(_)                                                                              \
	_(LONG_SCOREBOARD,  "long_scoreboard",     "long_scoreboard")                              \
	_(WAIT,             "wait",                "wait")                                         \
	_(SHORT_SCOREBOARD, "short_scoreboard",    "short_scoreboard")                             \
	_(SELECTED,         "selected",            "selected")                                     \
	_(NOT_SELECTED,     "not_Selected",        "not_selected")                                 \
	_(MATH_PIPE,        "math_pipe_throttle",  "math_pipe_throttle")                           \
	_(BRANCH_RESOLVING, "branch_resolving",    "branch_resolving")                             \
	_(NO_INSTRUCTION,   "no_instruction",      "no_instructions")                              \
	_(TEX_THROTTLE,     "tex_throttle",        "tex_throttle")                                 \
	_(BARRIER,          "barrier",             "barrier")                                      \
	_(MEMBAR,           "membar",              "membar")                                       \
	_(IMC_MISS,         "imc_miss",            "imc_miss")                                     \
	_(MIO_THROTTLE,     "mio_throttle",        "mio_throttle")                                 \
	_(DRAIN,            "drain",               "drain")                                        \
	_(LG_THROTTLE,      "lg_throttle",         "lg_throttle")                                  \
	_(MISC,             "misc",                "misc")                                         \
	_(DISPATCH,         "dispatch_stall",      "dispatch_stall")                               \
	_(SLEEPING,         "sleeping",            "sleeping")                                     \
	_(GMMA,             "gmma",                "gmma")                                         \
	_(WARPGROUP,        "warpgroup_arrive",    "warpgroup_arrive")                             \
	_(OTHER,            "other",               "")
/* clang-format on */

/* In the order of metrics from METRIC_STALLED_LONG_SCOREBOARD on. */
enum pc_reason {
#define _(id, key, theirs) PC_##id,
	PC_REASONS(_)
#undef _
		PC_N_REASONS
};

/* What CUPTI calls a reason ("smsp__pcsamp_warps_issue_stalled_wait_not_issued"); one that is not known is
 * PC_OTHER. ret_not_issued: of those in which the scheduler issued nothing. */
enum pc_reason pc_reason_of(const char *name, bool *ret_not_issued);

/* An instruction, as its frame is named. */
struct pc_instruction {
	uint64_t offset;      /* in the function, bytes */
	const char *function; /* mangled; not ended: function_len bytes of the name */
	size_t function_len;
	uint64_t cubin; /* CUPTI's checksum of the cubin that it is in */
};
#define PC_CUBIN_SUFFIX ".cubin"
#define PC_CUBIN_NAME   "%016" PRIx64 PC_CUBIN_SUFFIX /* of its checksum */
/* False: it is no such name. What ret points to is in it. */
bool pc_instruction_parse(const char *name, struct pc_instruction *ret);
/* Adds that name; cubin: "CRC.cubin". */
void pc_instruction_put(struct buf *out, uint64_t offset, const char *function, const char *cubin);

#endif
