/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_TABLES_H
#define PROTON_FORMAT_TABLES_H
/* Tables for programs whose rows are no calling contexts: of copies (core/traffic.h, core/copy_rows.h), of devices
 * (core/idle.h). Numbers have all their digits.
 *   thread  one */
#include "format/format.h"
#include "format/sheet.h"

/* One of enum write_table, of a session. 0 or -ENOMEM. */
int tables_write(struct sheet *out, const struct session *s, enum write_table which);

#endif
