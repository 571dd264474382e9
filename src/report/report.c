/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "core/filter.h"
#include "report/report_impl.h"
#include "report/table.h"

const char *report_section_word(unsigned i)
{
	static const char *const words[] = {
#define _(name, bit, word, title) [bit] = word,
		REPORT_SECTIONS(_)
#undef _
			"all",
	};

	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

unsigned report_section_parse(const char *word)
{
	const char *known;

	if (!strcmp(word, "all"))
		return REPORT_ALL;
	for (unsigned i = 0; (known = report_section_word(i)); i++)
		if (!strcmp(known, word))
			return 1u << i;
	return 0;
}

static int put_tree(const struct report *r)
{
	int e = report_tree(r->snap, r->o, r->out);

	if (snapshot_n(r->snap) <= 1 && !r->o->include && !r->o->exclude)
		out_puts(r->out, "nothing was recorded: 'proton doctor' says what can be seen on a "
				 "machine\n");
	return e;
}

/* ---- the report ---- */

static const struct {
	unsigned bit;
	const char *title;
	int (*put)(const struct report *r);
} sections[] = {
	{REPORT_RUN, "Run", view_run},
	{REPORT_SUMMARY, "Summary", view_summary},
	{REPORT_TREE, "Calling contexts", put_tree},
	{REPORT_KERNELS, "Kernels", view_kernels},
	{REPORT_TRANSFERS, "Transfers", view_transfers},
	{REPORT_DEVICES, "Devices", view_devices},
	{REPORT_PROCESSES, "Processes", view_processes},
	{REPORT_LOSSES, "Losses", view_losses},
	{REPORT_NOTES, "Notes", view_notes},
};

static void put_title(const struct report *r, const char *title, bool first)
{
	if (!first)
		out_putc(r->out, '\n');
	if (r->o->color)
		out_puts(r->out, "\033[1m");
	out_printf(r->out, "## %s", title);
	if (r->o->color)
		out_puts(r->out, "\033[0m");
	out_putc(r->out, '\n');
}

/* Take what expressions leave out out of the picture, for all but the tree: it does so by itself, and may
 * keep its totals. */
static int take_out_names(struct snapshot *snap, const struct report_options *o)
{
	_cleanup_(freep) uint8_t *mask = NULL;

	if (o->before || !(o->include || o->exclude))
		return 0;
	mask = filter_names(snap, o->include, o->exclude);
	if (!mask)
		return -ENOMEM;
	if (!mask[0])
		return -ENODATA;
	snapshot_mask(snap, mask);
	return 0;
}

/* What all sections but the tree are made of. */
static int make_tables(struct report *r, unsigned wanted)
{
	int e = take_out_names(r->snap, r->o);

	if (e == 0 && wanted & (REPORT_SUMMARY | REPORT_KERNELS | REPORT_TRANSFERS))
		e = flat_update(r->flat);
	return e;
}

/* The picture that a section is of; *made: tables were made of what expressions leave. */
static int choose_picture(struct report *r, unsigned section, unsigned wanted, bool *made)
{
	if (section == REPORT_TREE) {
		if (*made)
			snapshot_mask(r->snap, NULL);
		*made = false;
		return 0;
	}
	if (*made)
		return 0;
	*made = true;
	return make_tables(r, wanted);
}

static int put_sections(struct report *r, unsigned wanted)
{
	bool first = true, made = false;
	int e = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections) && e == 0; i++) {
		if (!(wanted & sections[i].bit))
			continue;
		e = choose_picture(r, sections[i].bit, wanted, &made);
		if (e < 0)
			break;
		/* A single table needs no title. */
		if (wanted & (wanted - 1))
			put_title(r, sections[i].title, first);
		e = sections[i].put(r);
		first = false;
	}
	return e;
}

int report_text(struct snapshot *snap, const struct report_options *options, struct out *out)
{
	static const struct report_options defaults;
	const struct report_options *o = options ? options : &defaults;
	struct numbers *numbers = numbers_new(snap, o->peaks);
	struct report r = {.snap = snap,
			   .s = snapshot_session(snap),
			   .o = o,
			   .out = out,
			   .flat = numbers ? flat_new(numbers) : NULL};
	/* Comparisons and least values apply to the tree alone; who filters looks for something. */
	unsigned usual = o->include || o->exclude || o->least != 0 || o->before
				 ? REPORT_TREE
				 : REPORT_TREE | REPORT_KERNELS | REPORT_TRANSFERS | REPORT_LOSSES |
					   REPORT_NOTES;
	unsigned wanted = o->sections ? o->sections : usual;
	int e = r.flat ? 0 : -ENOMEM;

	/* Other programs' profiles do not say it. */
	if (!o->sections && usual != REPORT_TREE && r.s->n_runs)
		wanted |= REPORT_RUN;
	r.flat_words = wanted & REPORT_TREE ? NULL : o->columns;
	if (e == 0)
		e = put_sections(&r, wanted);
	flat_free(r.flat);
	numbers_free(numbers);
	return e;
}
