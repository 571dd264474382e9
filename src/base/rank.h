/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_RANK_H
#define PROTON_BASE_RANK_H

/* The rank that a launcher (MPI, Slurm, torchrun) gave this process, as it stands in the
 * environment; NULL: none. */
const char *rank_text(void);
/* How many ranks it started; 0: it does not say, or there is none. */
long rank_n(void);

#endif
