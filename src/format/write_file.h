/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_WRITE_FILE_H
#define PROTON_FORMAT_WRITE_FILE_H
/* Write a file in one piece: fill() writes to a new file beside it, which then takes its name, so
 * that a reader never sees half a file and a full disk leaves the old one intact. Symbolic links
 * are followed as far as the kernel follows them (format/place.h), permissions of an existing file
 * kept. What is no regular file (/dev/stdout, FIFOs, devices), or stands where we may make no other
 * file, is written directly.
 *   errors  0, -errno of the first failure (-ENOSPC …), or what fill() returned */
#include <stdint.h>
#include "format/out.h"

/* Puts what the file is to hold into o. 0 or -errno. */
typedef int out_fill_fn(struct out *o, void *ctx);
/* Should we be killed meanwhile, place_forget() finds the new file by our pid and the tag. */
int write_file_tagged(const char *path, uint64_t tag, out_fill_fn *fill, void *ctx);
/* The descriptor of ours that a path stands for, itself or as a link to /dev/stdout, or -1. Opening
 * such a path anew would begin at the front of a file that others append to. */
int write_file_descriptor(const char *path);
/* Would it be written? Nothing is changed, and no reader of a FIFO waited for. 0 or -errno. */
int write_file_check(const char *path);

#endif
