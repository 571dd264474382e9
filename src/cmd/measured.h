/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_MEASURED_H
#define PROTON_CMD_MEASURED_H
/* What "proton doctor --measure" found, in the user's state folder: $XDG_STATE_HOME/proton/peaks, or
 * ~/.local/state/proton/peaks. */
#include <stdbool.h>
#include "core/peaks.h"
#include "doctor/doctor.h"

/* Peaks from there, where there is such a file. */
void measured_load(struct peaks *peaks);
/* Measure, print and keep it. Status of the command; lines on stderr say why not. */
int measured_make(const struct doctor_host *host);

#endif
