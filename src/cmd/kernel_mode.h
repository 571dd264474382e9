/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_KERNEL_MODE_H
#define PROTON_CMD_KERNEL_MODE_H
/* What --intra-mode says. */
#include "intra/intra_mode.h"
#include "ptx/probe.h"

/* 0, or -EBADMSG after a message. */
int kernel_mode_parse(const char *said, struct intra_mode *ret);
/* The same, for the subcommands that make PTX record. */
int kernel_mode_take(const char *said, struct ptx_options *ret);

#endif
