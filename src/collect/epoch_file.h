/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_EPOCH_FILE_H
#define PROTON_COLLECT_EPOCH_FILE_H
/* Files of the session directory that an epoch has: with single scopes of warps, where one of its sessions is a trace of them
 * (traced_warps.h), and with numbers of launches that the run keeps (kept_warps.h).
 *   thread  one at a time for each kind */
#include <stddef.h>
#include <stdint.h>

enum epoch_file { EPOCH_FILE_SCOPES, EPOCH_FILE_KEPT };

/* 0 or -errno: nothing of it is there. */
int epoch_file_append(uint32_t epoch, enum epoch_file kind, const void *data, size_t size);
void epoch_file_remove(uint32_t epoch, enum epoch_file kind);

#endif
