/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_INTRA_OPTIONS_H
#define PROTON_CMD_INTRA_OPTIONS_H
/* record --intra and what goes with it: scopes within kernels of a program that has none. */
#include "live/run.h"

/* Look at what was said, so that it is refused before the program runs. 0, or an exit status after a message.
 * rec.intra is what was said, or stays NULL: nothing was. */
int intra_options_settle(struct run_options *o);
void intra_options_done(struct run_options *o);

#endif
