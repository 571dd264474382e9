/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/flame_box.h"
#include <ctype.h>
#include <string.h>
#include "base/shown.h"
#include "base/util.h"
#include "core/frame.h"

enum role flame_box_role(unsigned kind)
{
	static const unsigned char roles[FRAME_N_KINDS] = {
		[FRAME_ROOT] = ROLE_BOX_GROUP,    [FRAME_FUNCTION] = ROLE_BOX_CODE,
		[FRAME_SCOPE] = ROLE_BOX_SCOPE,   [FRAME_STATE] = ROLE_BOX_SCOPE,
		[FRAME_NVTX] = ROLE_BOX_NVTX,     [FRAME_PYTHON] = ROLE_BOX_CODE,
		[FRAME_MODULE] = ROLE_BOX_SCOPE,  [FRAME_OPERATOR] = ROLE_BOX_CODE,
		[FRAME_NATIVE] = ROLE_BOX_CODE,   [FRAME_KERNEL] = ROLE_BOX_KERNEL,
		[FRAME_COPY] = ROLE_BOX_COPY,     [FRAME_SET] = ROLE_BOX_SET,
		[FRAME_ALLOC] = ROLE_BOX_SET,     [FRAME_SYNC] = ROLE_BOX_SET,
		[FRAME_GRAPH] = ROLE_BOX_GROUP,   [FRAME_GRAPH_RUN] = ROLE_BOX_KERNEL,
		[FRAME_LINE] = ROLE_BOX_CODE,     [FRAME_INSTRUMENT] = ROLE_BOX_SCOPE,
		[FRAME_PROCESS] = ROLE_BOX_GROUP, [FRAME_RANGE] = ROLE_BOX_NVTX,
		[FRAME_MARK] = ROLE_BOX_NVTX,     [FRAME_OTHER] = ROLE_BOX_GROUP,
		[FRAME_DEVICE] = ROLE_BOX_GROUP,  [FRAME_STREAM] = ROLE_BOX_GROUP,
		[FRAME_THREAD] = ROLE_BOX_GROUP,  [FRAME_CALL] = ROLE_BOX_CODE,
		[FRAME_PAGES] = ROLE_BOX_GROUP,
	};

	return kind < FRAME_N_KINDS ? roles[kind] : ROLE_BOX_CODE;
}

/* Index into the glyphs for looks without colours. Signs say the same in any colours. */
static const char *fill_of(const struct look *look, enum role role)
{
	static const unsigned char fills[ROLE_N] = {
		[ROLE_BOX_KERNEL] = 1, [ROLE_BOX_COPY] = 2, [ROLE_BOX_SET] = 2,
		[ROLE_BOX_SCOPE] = 3,  [ROLE_BOX_NVTX] = 3, [ROLE_BOX_CODE] = 3,
		[ROLE_BOX_GROUP] = 3,
	};

	if (role == ROLE_BOX_GROUP) /* it has no ground in any look */
		return look->glyphs->rule;
	if (!look->mono)
		return " ";
	if (role == ROLE_BOX_MORE || role == ROLE_BOX_LESS)
		return role == ROLE_BOX_MORE ? "+" : "-";
	return fills[role] ? look->glyphs->fills[fills[role] - 1] : " ";
}

static const char *mark_of(const struct glyphs *g, const struct flame_box_look *box, int line)
{
	if (line == 0 && box->is_selected)
		return g->cursor;
	return line == 0 && box->is_found ? g->found : g->side;
}

/* The cursor's colours take the name where more than that is left of the box: its ground says what
 * it is, or how it has changed. */
static enum role role_of_name(enum role role, const struct flame_box_look *box, int left, int lines)
{
	return box->is_selected && !box->is_found && (lines > 1 || left > 1) ? ROLE_SELECTED : role;
}

static int columns_of_name(const struct flame_box_look *box, bool ascii)
{
	return text_columns(box->name, strlen(box->name), ascii) + (box->sign != '\0');
}

/* A name, and behind it what there is room for. */
static void put_name(struct pen *pen, enum role role, const struct flame_box_look *box, int lines)
{
	const struct pen_name name = {.text = box->name, .cut = TEXT_CUT_MIDDLE};
	bool ascii = pen->canvas->look->ascii;
	int brief = box->brief ? text_columns(box->brief, strlen(box->brief), ascii) + 2 : 0;
	int left = pen_left(pen) - columns_of_name(box, ascii);
	enum role of_name = role_of_name(role, box, left, lines);

	if (box->sign)
		pen_put(pen, of_name, (const char[]){box->sign, '\0'});
	pen_name(pen, of_name, &name);
	if (lines == 1 && brief && left >= brief)
		pen_printf(pen, role, "  %s", box->brief);
}

/* Does a word of a name end there? "::" stays whole, and so do numbers with a point. */
static bool is_between_words(const char *name, size_t at, int width)
{
	unsigned char last = (unsigned char)name[at - 1], next = (unsigned char)name[at];

	if (last == '.' && isdigit(next) && at > 1 && isdigit((unsigned char)name[at - 2]))
		return false;
	if (strchr("_<,: ./@", last))
		return last != ':' || next != ':';
	return next == '_' || next == '<' || (islower(last) && isupper(next)) ||
	       (width < BOX_NAMED && isalpha(last) && isdigit(next));
}

/* Behind the last word with which the first line is not too long, and the second one neither. */
size_t flame_box_break(const char *name, int width, bool ascii)
{
	size_t len = strlen(name), at;

	if (text_columns(name, len, ascii) <= width)
		return 0;
	at = shown_fit(name, len, (size_t)width);
	while (at > 0 && text_columns(name + at, len - at, ascii) <= width &&
	       !is_between_words(name, at, width))
		at--;
	return at > 0 && text_columns(name + at, len - at, ascii) <= width ? at : 0;
}

/* What does not need all lines leaves some empty. */
static const char *text_of(const struct flame_box_look *box, int line)
{
	const char *text = line == 0 ? box->name : box->numbers[line - 1];

	return text ? text : "";
}

/* "+18 more": what it has of a number is never cut. */
static int number_len(const struct flame_box_look *box)
{
	return (int)strcspn(box->name, " ");
}

/* Behind the mark. */
static void put_text(struct pen *pen, enum role role, const struct flame_box_look *box, int line,
		     int lines)
{
	const char *text = text_of(box, line);
	bool ascii = pen->canvas->look->ascii;
	int columns =
		line == 0 ? columns_of_name(box, ascii) : text_columns(text, strlen(text), ascii);

	if (line == 0 && box->is_merged && pen_left(pen) < columns)
		pen_printf(pen, role, "%.*s", number_len(box), text);
	else if (line == 0 && pen_left(pen) + 1 >= BOX_NAMED)
		put_name(pen, role, box, lines);
	else if (pen_left(pen) >= columns) /* a part is worth nothing */
		pen_put(pen, role, text);
}

void flame_box_draw(struct pen *pen, const struct flame_box_look *box, int line, int lines)
{
	const struct look *look = pen->canvas->look;
	enum role role = box->is_found ? ROLE_MATCH : box->role;
	enum role edge = box->is_selected ? ROLE_SELECTED : role;
	const char *fill = fill_of(look, box->role);
	int width = pen_left(pen);
	bool is_plus = box->is_merged && (width < BOX_NAMED || width <= number_len(box));

	pen->selected = box->is_selected && look->mono;
	/* It parts a box from the one below, where a box has more than its name. */
	pen->underlined = lines > 1 && line == lines - 1 && !look->mono;
	if (is_plus)
		pen_put(pen, edge, line == 0 ? "+" : " ");
	else
		pen_put(pen, edge, mark_of(look->glyphs, box, line));
	if (!is_plus)
		put_text(pen, role, box, line, lines);
	if (box->is_merged || (line > 0 && box->role == ROLE_BOX_GROUP))
		fill = " ";
	pen_repeat(pen, role, fill, pen_left(pen));
	pen->selected = pen->underlined = false;
}

void flame_box_sample(struct pen *pen, enum role role, const char *word)
{
	const struct look *look = pen->canvas->look;

	pen_put(pen, role, look->glyphs->side);
	pen_repeat(pen, role, fill_of(look, role), 2);
	pen_printf(pen, ROLE_NORMAL, " %s  ", word);
}
