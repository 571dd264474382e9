/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_COPIES_TABLE_H
#define PROTON_FORMAT_COPIES_TABLE_H
/* Tables of copies (core/traffic.h, core/copy_rows.h) for programs: numbers have all their digits.
 *   thread  one */
#include "format/format.h"
#include "format/sheet.h"

/* One of enum write_table, of a session. 0 or -ENOMEM. */
int copies_table_write(struct sheet *out, const struct session *s, enum write_table which);

#endif
