/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_KEPT_WARPS_H
#define PROTON_LIVE_KEPT_WARPS_H
/* Scopes of single warps: collectors leave a file for each launch in the session directory (collect/kept_warps.h), and one
 * beside the profile has them all.
 *
 *     SESSION/INSTANCE-1.warps, INSTANCE-2.warps, …  ──>  run.warps          (beside run.hatchet) */
#include <stddef.h>
#include <stdint.h>

struct warp_trace;

struct kept_warps_counts {
	uint64_t n_launches, n_warps, n_scopes;
	uint64_t n_left_out; /* launches that collectors did not keep */
};

/* For scandir(): is it called so? */
struct dirent;
int kept_warps_is_file(const struct dirent *e);

/* From a session directory to beside a profile or a tape, in the order of processes and launches. That of a run before is replaced, or removed where there
 * are none. The tag is write_file_tagged()'s. 0 or -errno; *ret is set with 0. */
int kept_warps_copy(const char *session, const char *profile, uint64_t tag,
		    struct kept_warps_counts *ret);
/* What changes with each file of a session directory that comes, changes or goes; 0: there is none. */
uint64_t kept_warps_generation(const char *session);

/* The same of some of these files, by their names; those that are not there any more are not kept any more. */
int kept_warps_copy_some(const char *session, char *const *names, size_t n, const char *profile,
			 struct kept_warps_counts *ret);

/* All launches of a session directory, into a trace that is empty. 0, or -errno: of what is not read by then nothing is there. */
int kept_warps_read(const char *session, struct warp_trace *t);

/* What a run before has left beside this profile is not of the one that begins, whatever becomes of that. */
void kept_warps_forget(const char *profile);

#endif
