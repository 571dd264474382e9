/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_OUTPUT_NAME_H
#define PROTON_LIVE_OUTPUT_NAME_H
/* Where the profile of a run goes: a name with directives, and whose it is while the run lasts. Ranks of a job
 * are often given one name; none is to take the place of another: who comes second is written to NAME.2, and so
 * on. A lock beside the file says that a run has the name, to other nodes, too, where their file system has
 * locks.
 *
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <sys/types.h>

/* A name that is ours. */
struct output_claim {
	void *lock;      /* a mapping that keeps it */
	char *lock_path; /* removed when we are done; NULL: there is none */
};

/* Is each directive of a name known, and each variable set? If not, why: a sentence to be freed. */
bool output_name_check(const char *pattern, char **ret_why);
/* The name of the file, to be freed; NULL: no memory. program: what %e becomes. */
char *output_name_expand(const char *pattern, const char *program, pid_t pid);
/* The same, of a name that is known before the program runs. NULL: it is not, or no memory. */
char *output_name_foresee(const char *pattern);

/* A name that no other run has now, to be freed: this one, or NAME.2. What is no regular file is as it is; so is
 * a name in a folder without locks. NULL: no memory. */
char *output_claim(struct output_claim *claim, const char *name);
void output_claim_done(struct output_claim *claim);

#endif
