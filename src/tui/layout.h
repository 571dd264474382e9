/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_LAYOUT_H
#define PROTON_TUI_LAYOUT_H
/* Files of settings (settings.h): DIR/config, which is always read, and DIR/layouts/NAME. */
#include <stddef.h>
#include "base/buf.h"

struct tui;

#define CONFIG_MAX (1 << 20) /* bytes of a file */

/* Append the path of a layout; "" = that of the configuration. -EINVAL: not a name. */
int layout_path(const char *dir, const char *name, struct buf *out);
/* Append the names of the layouts, in order, one a line; only those that need no quotes in a shell.
 * 0 or -errno. */
int layout_list(const char *dir, struct buf *out);
/* Append what a file holds. 0 or -errno; -EFBIG: it is longer than CONFIG_MAX. */
int layout_read(const char *path, struct buf *out);
/* Write the layout of the screen over the settings of a file; folders are made. 0 or -errno: then
 * the file is as it was. */
int layout_save(const struct tui *t, const char *path);

#endif
