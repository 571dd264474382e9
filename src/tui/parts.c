/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/parts.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_MIN 12 /* columns below which the name of a program is not cut, … */
#define PATH_MIN 22 /* … and that of a file, which has its folder before it */

void parts_add(struct line_parts *parts, enum role role, int priority, const char *format, ...)
{
	struct line_part *part = &parts->v[parts->n];
	va_list ap;

	if (parts->n == ARRAY_SIZE(parts->v))
		return;
	parts->n++;
	part->label = "";
	part->is_name = part->keep_end = false;
	part->role = role;
	part->priority = priority;
	va_start(ap, format);
	vsnprintf(part->text, sizeof(part->text), format, ap);
	va_end(ap);
}

static int part_columns(const struct line_part *part, bool ascii)
{
	return (int)strlen(part->label) + text_columns(part->text, strlen(part->text), ascii);
}

static int parts_width(const struct line_parts *parts, int least)
{
	int width = 0;

	for (unsigned i = 0; i < parts->n; i++)
		if (parts->v[i].priority <= least)
			width += parts->v[i].columns + 2;
	return width - 2;
}

/* Below which a path is not cut: of several each gets its part of a narrow line. */
static int path_min(const struct line_parts *parts, int width)
{
	int n = 0;

	for (unsigned i = 0; i < parts->n; i++)
		n += parts->v[i].is_name;
	return n > 1 ? CLAMP((width + 2) / n - 2, NAME_MIN, PATH_MIN) : PATH_MIN;
}

/* The longest of the names; NULL: none can be cut. */
static struct line_part *longest_name(struct line_parts *parts, int width)
{
	struct line_part *longest = NULL;
	int of_path = path_min(parts, width);

	for (unsigned i = 0; i < parts->n; i++) {
		struct line_part *part = &parts->v[i];
		int min = part->keep_end ? of_path : NAME_MIN;

		if (part->is_name && part->columns > min &&
		    (!longest || part->columns > longest->columns))
			longest = part;
	}
	return longest;
}

/* Cut names until parts up to a priority fit, or names are as short as they get. */
static void cut_names(struct line_parts *parts, int least, int width, bool ascii)
{
	struct line_part *part;
	int excess;

	for (unsigned i = 0; i < parts->n; i++)
		parts->v[i].columns = part_columns(&parts->v[i], ascii);
	excess = parts_width(parts, least) - width;
	for (; excess > 0 && (part = longest_name(parts, width)); excess--)
		part->columns--;
}

static void part_draw(const struct line_part *part, struct pen *pen)
{
	const struct look *look = pen->canvas->look;
	int columns = part_columns(part, look->ascii) - (int)strlen(part->label);
	struct pen_name name = {.text = part->text, .cut = TEXT_CUT_END};
	struct pen field = *pen;

	field.end = MIN(pen->end, pen->x + part->columns);
	pen_put(&field, part->role, part->label);
	if (part->keep_end && columns > pen_left(&field)) {
		pen_put(&field, part->role, look->glyphs->ellipsis);
		name.scroll = columns - pen_left(&field);
	}
	pen_name(&field, part->role, &name);
	pen_fill(&field, part->role);
	pen->x = field.x;
}

void parts_add_name(struct line_parts *parts, enum role role, int priority, const char *label,
		    const char *name, bool is_path)
{
	unsigned n = parts->n;

	parts_add(parts, role, priority, "%s", name);
	if (parts->n == n)
		return;
	parts->v[n].label = label;
	parts->v[n].is_name = true;
	parts->v[n].keep_end = is_path;
}

void parts_draw(struct line_parts *parts, struct pen *pen)
{
	bool ascii = pen->canvas->look->ascii;
	int least = 20;

	/* A long name is cut before it pushes out what matters more … */
	cut_names(parts, parts->less_than_name, pen_left(pen), ascii);
	while (least > 0 && parts_width(parts, least) > pen_left(pen))
		least--;
	/* … and gets the room of what has fallen out all the same. */
	cut_names(parts, least, pen_left(pen), ascii);
	for (unsigned i = 0; i < parts->n; i++) {
		if (parts->v[i].priority > least)
			continue;
		part_draw(&parts->v[i], pen);
		pen_skip(pen, parts->fill, 2);
	}
	pen_fill(pen, parts->fill);
}
