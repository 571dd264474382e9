/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "screen_options.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/buf.h"
#include "base/util.h"
#include "commands.h"
#include "profile_options.h"
#include "core/filter.h"

/* Is the word in the list that name_of() walks? */
static int known(const char *word, const char *(*name_of)(unsigned))
{
	unsigned i;

	for (i = 0; name_of(i); i++)
		if (!strcasecmp(name_of(i), word))
			return 0;
	return -EINVAL;
}

static int option_panel(struct screen_options *o, const char *value)
{
	unsigned i;

	for (i = 0; tui_panel_word(i); i++)
		if (!strcmp(tui_panel_word(i), value)) {
			o->tui.panel = (enum tui_panel)i;
			return 0;
		}
	return -EINVAL;
}

static int check_expression(const char *value)
{
	struct name_pattern p;
	char why[128];
	int r = name_pattern_init(&p, value, why, sizeof(why));

	if (r == 0)
		name_pattern_done(&p);
	else
		complain("'%s' is no regular expression: %s", value, why);
	return r == 0 ? 0 : -EBADMSG; /* said above */
}

int screen_option(struct screen_options *o, const struct option_def *option, const char *value)
{
	uint8_t names;
	int r;

	switch (option->id) {
	case OPT_ASCII:
		o->tui.ascii = true;
		return 0;
	case OPT_NO_COLOR:
		o->tui.no_color = true;
		return 0;
	case OPT_NO_MOUSE:
		o->tui.no_mouse = true;
		return 0;
	case OPT_READONLY:
		o->tui.readonly = true;
		return 0;
	case OPT_KEYS:
		o->keys = true;
		return 0;
	case OPT_THEME:
		o->tui.theme = value;
		return known(value, tui_theme_name);
	case OPT_SORT:
		o->tui.sort = value;
		return known(value, tui_sort_name);
	case OPT_FILTER:
		o->tui.filter = value;
		return 0;
	case OPT_SCREEN_INCLUDE:
		o->tui.include = value;
		return check_expression(value);
	case OPT_SCREEN_EXCLUDE:
		o->tui.exclude = value;
		return check_expression(value);
	case OPT_PANEL:
		return option_panel(o, value);
	case OPT_GROUP:
		return parse_group(value, &o->group);
	case OPT_NAMES:
		r = parse_names(value, &names);
		if (r == 0)
			o->tui.names = (enum name_mode)names;
		return r;
	default:
		return -ENOENT;
	}
}

int screen_print_keys(void)
{
	struct buf out;

	buf_init(&out, 0);
	tui_keys_write(TUI_KEYS_TEXT, &out);
	fputs(buf_str(&out), stdout);
	buf_done(&out);
	return STATUS_OK;
}
