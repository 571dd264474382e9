/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_KEPT_CODE_H
#define PROTON_LIVE_KEPT_CODE_H
/* The code that was sampled: collectors leave cubins in the session directory, which goes with the run.
 *
 *     SESSION/0123456789abcdef.cubin  ──>  run.hatchet.cubins/0123456789abcdef.cubin
 *                                     nvdisasm ──>           …/0123456789abcdef.sass
 *
 * Who looks at it may have no nvdisasm: the instructions of functions with samples are kept, too (disassembly.h). */
#include <stddef.h>
#include <sys/types.h>

struct session;

#define KEPT_CODE_SUFFIX ".cubins"

/* Beside the profile in `file`: nothing where there is none, else those that are not there yet, whole ones at any time; those of a
 * run before are replaced one by one. Call it again when there may be more. 0 or the first -errno; others are kept nevertheless. */
int kept_code_copy(const char *session, const char *file);
/* The same, of the cubins alone that a part of the run has samples of: the profile in `file` is its. */
int kept_code_copy_of(const struct session *part, const char *session, const char *file);
/* Say on standard error what the two returned, where it was an error. */
void kept_code_complain(int r, const char *file);
/* What lies beside a profile, beside another one that it became a part of, too: what is there already stays. */
int kept_code_add(const char *profile, const char *file);
/* Then: a child has nvdisasm print what was sampled most, for some seconds at most, and keeps it beside each of n files. It
 * ends with us, and writes all or nothing of a cubin. Its pid; 0: there is nothing to print, or no child. */
pid_t kept_code_disassemble(const struct session *s, const char *const files[], size_t n);

#endif
