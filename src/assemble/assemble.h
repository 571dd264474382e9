/* SPDX-License-Identifier: MIT */
#ifndef PROTON_ASSEMBLE_ASSEMBLE_H
#define PROTON_ASSEMBLE_ASSEMBLE_H
/* PTX made into a cubin, by what of NVIDIA's is here: ptxas, or libnvJitLink, each in a child with a time limit. Needs no
 * GPU and no driver. Whoever loads code can do without: the driver takes PTX, too, and assembles it itself.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/elf_bytes.h"
#include "base/idindex.h"
#include "launch/probe.h"

struct assemble_options {
	const char *arch;           /* "sm_90a"; NULL: what the PTX says it is for */
	unsigned registers_max;     /* of a thread; 0: as many as it takes */
	bool no_lines;              /* else lines are kept where the PTX has them */
	const char *const *options; /* more of ptxas, up to NULL; may be NULL */
	const char *ptxas; /* the path of the one to take, and no other; NULL: what is found */
	unsigned limit_ms; /* 0: ASSEMBLE_MS */
	/* Called again and again while somebody assembles; NULL: nobody wants to know. Borrowed. */
	const struct probe_waiting *waiting;
};
enum { ASSEMBLE_MS = 60000 };

struct assembled {
	struct buf cubin;
	struct buf messages; /* of whom assembled it, lines */
	struct buf why;      /* where it failed: one sentence */
	const char *by;      /* "ptxas", "libnvJitLink" */
	struct messages {    /* of functions, once they were looked for */
		const char **of;
		size_t n, cap;
		struct idindex by_name;
		bool is_read;
	} functions;
};

/* 0; -EBADMSG: it is refused; -ENOTSUP: by all that are here, as they are too old for it; -ENOENT: nothing is here that could;
 * -ETIMEDOUT; -EIO: whom we asked did not get to it, or crashed; -ENOMEM. ret->why says more. Fills *ret whatever is returned;
 * assembled_done() frees it. */
int image_assemble(struct elf_part ptx, const struct assemble_options *options,
		   struct assembled *ret);
void assembled_done(struct assembled *a);

/* What a thread of a kernel spills, as whom assembled it says. False: he did not. */
struct spills {
	uint32_t stores_bytes, loads_bytes;
};
bool assembled_spills(struct assembled *a, const char *kernel, size_t len, struct spills *ret);

#endif
