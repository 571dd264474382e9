/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_SCREEN_OPTIONS_H
#define PROTON_CMD_SCREEN_OPTIONS_H
/* Options of the commands that open the screen: `top` and `view`. */
#include <stdbool.h>
#include <stdio.h>
#include "cmd/options.h"
#include "cmd/profile_options.h"
#include "tui/settings.h"
#include "tui/tui.h"

struct screen_options {
	struct tui_options tui;
	enum group group;
	bool keys, no_config;
	const char *layout; /* a name, or a path with a slash; NULL: none */
	uint32_t given;     /* bits of the options that were given: they override settings */
	struct settings settings;
	char config_dir[4096]; /* "": there is none */
	char skipped[160];     /* message about skipped lines, for the screen; "" = none */
};

enum {
	OPT_ASCII = 2000,
	OPT_NO_COLOR,
	OPT_THEME,
	OPT_SORT,
	OPT_FILTER,
	OPT_GROUP,
	OPT_NAMES,
	OPT_KEYS,
	OPT_READONLY,
	OPT_PANEL,
	OPT_SCREEN_INCLUDE,
	OPT_SCREEN_EXCLUDE,
	OPT_NO_MOUSE,
	OPT_NO_CONFIG,
	OPT_LAYOUT,
	OPT_HEADER,
};
/* i, e: the letters of --include and --exclude; 0: none, as another option has it. */
/* clang-format off */
#define SCREEN_FILTER_OPTIONS(i, e)                                                                \
	{.name = "include", .letter = (i), .arg = "SELECTOR",                                      \
	 .help = "only paths through names, 'time > 1ms' or '**/a*/b'",                        \
	 .id = OPT_SCREEN_INCLUDE},                                                                \
	{.name = "exclude", .letter = (e), .arg = "SELECTOR",                                      \
	 .help = "without what it selects, and all below",                                         \
	 .rare = true, .id = OPT_SCREEN_EXCLUDE}
#define SCREEN_GROUP_OPTION(is_rare)                                                               \
	{.name = "group", .letter = 'g', .arg = "none|process|device|stream|thread",               \
	 .help = "put this above the tree", .rare = (is_rare), .id = OPT_GROUP}
#define SCREEN_OPTIONS(i, e)                                                                       \
	{.name = "view", .arg = "PANEL", .help = "what to show first: kernels, flame … (tree)",    \
	 .values = tui_panel_word, .id = OPT_PANEL},                                               \
	SCREEN_GROUP_OPTION(true),                                                                 \
	{.name = "sort", .letter = 's', .arg = "COLUMN",                                           \
	 .help = "sort the tree by this column", .rare = true, .values = tui_sort_name,                  \
	 .id = OPT_SORT},                                                                          \
	{.name = "filter", .arg = "TEXT", .help = "keep paths with TEXT in a name",                \
	 .rare = true, .id = OPT_FILTER},                                                          \
	SCREEN_FILTER_OPTIONS(i, e),                                                               \
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are shown (short)",     \
	 .rare = true, .id = OPT_NAMES},                                                           \
	{.name = "theme", .arg = "NAME", .help = "colours", .values = tui_theme_name,              \
	 .rare = true, .id = OPT_THEME},                                                           \
	{.name = "no-color", .help = "no colours (as NO_COLOR in the environment)",                \
	 .rare = true, .id = OPT_NO_COLOR},                                                        \
	{.name = "header", .arg = "LINES",                                                         \
	 .help = "so many lines above the panel (by the height)", .rare = true,                    \
	 .id = OPT_HEADER},                                                                        \
	{.name = "ascii", .help = "draw with ASCII characters only", .rare = true,                 \
	 .id = OPT_ASCII},                                                                         \
	{.name = "no-mouse", .help = "leave the mouse to the terminal", .rare = true,              \
	 .id = OPT_NO_MOUSE},                                                                      \
	{.name = "layout", .arg = "NAME", .help = "the layout that W saved under NAME",            \
	 .rare = true, .list_values = screen_list_layouts, .id = OPT_LAYOUT},                                                          \
	{.name = "no-config", .help = "ignore the configuration file", .rare = true,               \
	 .id = OPT_NO_CONFIG},                                                                     \
	{.name = "readonly", .help = "no key may pause, signal, save or edit", .rare = true,             \
	 .id = OPT_READONLY},                                                                      \
	{.name = "keys", .help = "print the keys and leave", .rare = true, .id = OPT_KEYS}
/* clang-format on */

/* 0: taken; -EINVAL: bad value; -ENOENT: not one of these. */
int screen_option(struct screen_options *o, const struct option_def *option, const char *value);
/* For commands that print the same as text when there is no screen: sets an option for both.
 * Returns what screen_option() and profile_option() do. */
int screen_or_text_option(struct screen_options *o, struct profile_options *text,
			  const struct option_def *option, const char *value);
/* Copy the options that both have from one to the other. */
void screen_take_text(struct screen_options *o, struct profile_options *text);
void text_take_screen(struct profile_options *text, const struct screen_options *o);
/* Call it after the options are parsed and before the tui is made. Reads the files of settings,
 * which apply where no option was given. 0, or an exit status after a line on stderr. */
int screen_settle(struct screen_options *o);
/* Do the columns exist that the options show, sort by and compare? Negative and a line on stderr: no. */
int screen_check_columns(const struct screen_options *o, struct tui *t, const struct session *s);
/* The word that --view was given; NULL: none was. */
const char *screen_view_given(const struct screen_options *o);
/* The folder of its files, whether it is there or not; "": there is none. */
void screen_config_dir(char *dir, size_t size);
void screen_list_layouts(FILE *out);             /* those that were saved, one a line */
int screen_print_keys(struct screen_options *o); /* exit status */
/* SIGWINCH, SIGTERM, SIGHUP and SIGINT as a descriptor to poll; or -errno. */
int screen_signals(void);

#endif
