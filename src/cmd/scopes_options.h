/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_SCOPES_OPTIONS_H
#define PROTON_CMD_SCOPES_OPTIONS_H
/* --kernel-scopes: which warps record the scopes of their kernels.
 *
 *     warps=0,4-7,blocks=16,multiprocessors=4:1,time-shift */
#include "core/scopes_wanted.h"

/* 0, or -EINVAL after a message. */
int scopes_option(const char *value, struct scopes_wanted *ret);

#endif
