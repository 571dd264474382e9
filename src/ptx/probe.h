/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_PROBE_H
#define PROTON_PTX_PROBE_H
/* Makes kernels record, in their PTX: what warps leave then is what those with <proton/kernel.cuh> leave (intra/warp_slices.h,
 * ADR 75), so that nothing else needs to know how they came to it.
 *
 *     PTX ─ text.h: statements ─ flow.h: blocks, loops ─ anchors.h: scopes ─ recorder.h: what is inserted ─> PTX
 *
 * What is not inserted stays as it was, byte by byte, but for the targets of branches that are led over a record. A kernel that
 * cannot be probed stays wholly as it was, with a reason.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "ptx/rules.h"

/* Where warps keep records until they end. */
enum ptx_buffer {
	PTX_BUFFER_AUTO,   /* shared memory, but where the program may need all of it */
	PTX_BUFFER_SHARED, /* … the block's */
	PTX_BUFFER_GLOBAL, /* … the device's: nothing is taken of shared memory */
	PTX_BUFFER_NONE,   /* … nowhere: a kernel that has no scope but itself */
};

struct ptx_options {
	enum ptx_buffer buffer;
	uint32_t bytes;   /* of a block for records; 0: as many as `records` take */
	uint32_t records; /* of a warp that are kept, a power of two; 0: as usual */
	uint32_t warps;   /* bit i: warp i of a block records; 0: all do */
	uint32_t ctas;    /* every so manieth block records; 0 and 1: all do */
	uint32_t cta;     /* … those whose number leaves this rest */
	bool is_for_run; /* it is profiled whenever it runs: what costs more where nobody profiles may be done */
};
#define PTX_RECORDS_USUAL 32u
#define PTX_RECORDS_MOST  4096u

/* A scope, and where it is. */
struct ptx_place {
	uint32_t kernel; /* index */
	enum ptx_anchor anchor;
	char *scope;
	char *file;    /* NULL: not known */
	uint32_t line; /* of the source, where the file is known */
	uint32_t row;  /* of the PTX as it was, from 1 on */
};

struct ptx_kernel {
	char *name;
	enum ptx_buffer buffer;
	uint32_t shared_bytes; /* that records take of a block's shared memory */
	uint32_t n_places;
	uint32_t n_over; /* that are not probed: more than the limit */
	char *why;       /* it stays as it was, for this reason: one sentence; NULL: it is probed */
	char *note;      /* what of it is not probed, though it was asked for; NULL: nothing */
};

struct ptx_probed {
	struct buf text; /* the same where no kernel is probed */
	struct ptx_kernel *kernel;
	size_t n_kernels, cap_kernels, n_probed;
	struct ptx_place *place; /* by kernel */
	size_t n_places, cap_places;
};

/* Probes all kernels of a module that the rules want; options NULL: as usual. 0, -ENOMEM, -EINVAL (options), -EBADMSG: it is no PTX,
 * or -EALREADY: it was probed. *ret is freed with ptx_probed_done() whatever is returned; of errors, ptx_probe_error() tells. */
int ptx_probe(const char *text, size_t n, const struct ptx_rules *rules,
	      const struct ptx_options *options, struct ptx_probed *ret);
void ptx_probed_done(struct ptx_probed *probed);
const char *ptx_probe_error(int code);

#endif
