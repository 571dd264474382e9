/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_REPORT_H
#define PROTON_CMD_REPORT_H
/* What other commands use of `report`. */
#include <stdint.h>
#include "core/snapshot.h"
#include "format/report.h"

/* Text on stdout. 0, -EINVAL (no such metric) or -errno. */
int report_print(const struct session *s, const struct report_options *options, enum group group);
unsigned terminal_width(int fd); /* 0: not a terminal */
int parse_word(const char *word, const char *const *words, unsigned n);
int parse_group(const char *word, enum group *ret);
int parse_names(const char *word, uint8_t *ret);

#endif
