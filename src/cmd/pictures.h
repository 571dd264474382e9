/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_PICTURES_H
#define PROTON_CMD_PICTURES_H
/* What top prints without a screen: a picture of the session after the other, as text or as lines of JSON. And how
 * much of a core we need ourselves. */
#include <stdbool.h>
#include <stdint.h>
#include "cmd/report.h"

struct pictures {
	bool json_lines;
	bool told_columns;
	bool unread;         /* their reader has closed the pipe */
	uint32_t n_pictures; /* 0: no limit */
	unsigned
		views; /* enum report_view bits: what a picture as text is of; 0: the usual tables */
	uint32_t n_printed;
};

/* What the pictures are of, by the word of --view (NULL: it was not given). False, after a line on stderr: not as text. */
bool pictures_take_view(struct pictures *p, const char *word);
/* Are there to be no more? */
bool pictures_are_over(const struct pictures *p);
/* Is what was asked for not there, and will not be? Then a line on stderr says so. */
bool pictures_in_vain(struct profile_options *profile, const struct session *s);
void pictures_print(struct pictures *p, struct profile_options *profile, struct session *s);

struct own_cpu {
	uint64_t cpu_ns, at_ns;
	double share; /* of a core; NaN: not known yet */
};

/* Since the last question, what children do included. */
void own_cpu_measure(struct own_cpu *c);

#endif
