/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_LAYOUT_H
#define PROTON_TUI_LAYOUT_H
/* Files of settings (settings.h): DIR/config, which is always read, and DIR/layouts/NAME. */
#include <stddef.h>
#include "base/buf.h"

struct tui;

#define CONFIG_MAX (1 << 20) /* bytes of a file */

/* The path of a layout; "" = that of the configuration. -EINVAL: not a name. */
int layout_path(const char *dir, const char *name, struct buf *out);
/* The names of the layouts that there are, in order, one a line: those that a shell takes as they are.
 * 0 or -errno. */
int layout_list(const char *dir, struct buf *out);
/* 0 or -errno; -EFBIG: longer than a configuration can be. */
int layout_read(const char *path, struct buf *out);
/* Write the layout of the screen over the settings of a file; folders are made. */
int layout_save(const struct tui *t, const char *path);

#endif
