/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_KEPT_CODE_H
#define PROTON_LIVE_KEPT_CODE_H
/* The code that was sampled: collectors leave cubins in the session directory, which goes with the run.
 *
 *     SESSION/0123456789abcdef.cubin  ──>  run.hatchet.cubins/0123456789abcdef.cubin */

#define KEPT_CODE_SUFFIX ".cubins"

/* Beside the profile in `file`: nothing where there is none, else those of a run before are replaced one by one. 0 or the
 * first -errno; others are kept nevertheless. */
int kept_code_copy(const char *session, const char *file);

#endif
