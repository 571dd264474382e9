/* SPDX-License-Identifier: MIT */
/* The terminal, as the command found it. */
#include "config.h" // IWYU pragma: keep
#include "doctor/checks.h"

enum { COLS_WANTED = 80, ROWS_WANTED = 24, COLORS_WANTED = 8 };

void check_terminal(struct doctor *d, struct doctor_finding *f)
{
	const struct doctor_terminal *t = &d->host->terminal;

	if (!t->is_there) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, "there is none here to look at");
	} else if (t->why_not) {
		f->state = DOCTOR_MISSING;
		buf_printf(&f->seen, "TERM=%s", t->type ? t->type : "");
		buf_puts(&f->why, t->why_not);
		buf_puts(&f->mend, "export TERM=xterm-256color");
	} else {
		buf_puts(&f->seen, t->type ? t->type : "?");
	}
}

void check_size(struct doctor *d, struct doctor_finding *f)
{
	const struct doctor_terminal *t = &d->host->terminal;

	if (!t->is_there || t->cols <= 0 || t->rows <= 0) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, "not told");
		return;
	}
	buf_printf(&f->seen, "%d columns, %d rows", t->cols, t->rows);
	if (t->cols < t->cols_min || t->rows < t->rows_min) {
		f->state = DOCTOR_MISSING;
		buf_printf(&f->why, "the screen needs %d columns and %d rows", t->cols_min,
			   t->rows_min);
	} else if (t->cols < COLS_WANTED || t->rows < ROWS_WANTED) {
		f->state = DOCTOR_NOTE;
		buf_printf(&f->why, "with %d columns and %d rows more is to be seen", COLS_WANTED,
			   ROWS_WANTED);
	}
}

void check_characters(struct doctor *d, struct doctor_finding *f)
{
	const struct doctor_terminal *t = &d->host->terminal;

	buf_puts(&f->seen, t->codeset ? t->codeset : "?");
	if (t->is_utf8)
		return;
	f->state = DOCTOR_NOTE;
	buf_puts(&f->why, "trees are drawn with ASCII characters");
	buf_puts(&f->mend, "export LC_ALL=C.UTF-8");
}

void check_colors(struct doctor *d, struct doctor_finding *f)
{
	const struct doctor_terminal *t = &d->host->terminal;

	if (!t->is_there || t->why_not) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, "not told");
		return;
	}
	if (t->no_color)
		buf_puts(&f->seen, "off (NO_COLOR is set)");
	else if (t->colors >= COLORS_WANTED)
		buf_printf(&f->seen, "%d", t->colors);
	else
		buf_puts(&f->seen, "none");
	if (!t->no_color && t->colors < COLORS_WANTED) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->why, "the screen uses bold and reverse instead");
	}
}
