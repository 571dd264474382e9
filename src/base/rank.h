/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_RANK_H
#define PROTON_BASE_RANK_H

/* The rank that a launcher (MPI, Slurm, torchrun) gave this process, as it stands in the
 * environment; NULL: none. */
const char *rank_text(void);

#endif
