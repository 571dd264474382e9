/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_REPORT_H
#define PROTON_CMD_REPORT_H
/* What other commands use of `report`. */
#include <stdint.h>
#include "core/snapshot.h"
#include "format/report.h"

/* What is shown, and against which peaks; the values of -i, -e and --peaks. */
struct report_filter {
	struct name_pattern patterns[2];
	unsigned n_patterns;
	const struct name_pattern *include, *exclude;
	struct peaks *peaks;
};
/* Each prints why it fails. */
int report_filter_set(struct report_filter *f, const struct name_pattern **which, const char *value);
int report_peaks_load(struct report_filter *f, const char *path);
const struct peaks *report_peaks(struct report_filter *f); /* those given, or the built-in ones */
void report_filter_done(struct report_filter *f);

/* Text on stdout. 0, -EINVAL (no such metric), -ENODATA (nothing left) or -errno. */
int report_print(const struct session *s, const struct report_options *options, enum group group);
void list_metrics(const struct session *s); /* as `proton list` */
unsigned terminal_width(int fd); /* 0: not a terminal */
int parse_word(const char *word, const char *const *words, unsigned n);
int parse_group(const char *word, enum group *ret);
int parse_names(const char *word, uint8_t *ret);

#endif
