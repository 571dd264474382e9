/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_TUI_IMPL_H
#define PROTON_TUI_TUI_IMPL_H
/* The state of the screen, which its files share. Nobody else includes this.
 *
 *     key ─> prompt? menu? ─> keymap ─> request ─> overlay, else panel, else handlers[]
 *
 *     row 0      header: target, state, losses          header.c
 *     row 1      devices
 *     row 2      tabs and what the view is set to       tabs.c
 *     row 3 …    the panel, or the overlay (help, detail)
 *     row -2     message or prompt                      message.c
 *     row -1     function keys
 *
 * A file calls those below it:
 *
 *     tui.c                    keys, time, a screen's life
 *     mouse.c                  buttons
 *     requests.c, actions.c    what keys and buttons ask for
 *     terminal.c, print.c      where it is drawn
 *     compose.c, picture.c     all rows; what they are made of
 *     header.c, tabs.c, panel_*.c, panel.c
 *     columns.c, message.c, draw.c, names.c … */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tui/advice.h"
#include "tui/steps.h"
#include "tui/alphabet.h"
#include "tui/filters.h"
#include "tui/kept.h"
#include "tui/keys.h"
#include "tui/matches.h"
#include "tui/menu.h"
#include "tui/mouse.h"
#include "tui/panel.h"
#include "tui/prompt.h"
#include "tui/tui.h"
#include "tui/usage.h"
#include "tui/work.h"

#define TUI_NEEDLE PROMPT_MAX /* longest search or filter text */

struct screen;

/* What a panel is sorted by and which columns were chosen. */
struct tui_order {
	char title[COLUMN_TITLE]; /* of a column asked for by name, too */
	bool ascending;
	struct column_choice choice;
	bool known;
};

struct tui {
	struct tui_options options;
	struct snapshot *snap;
	struct tui_host host;
	struct tui_status status;
	struct look_options look;
	struct screen *screen; /* NULL: not open */
	const char *why;
	struct keymap keys;
	struct panel *panels[TUI_N_PANELS];
	enum tui_panel current;
	uint32_t carried; /* node: what the cursor was last moved to, or SNAP_NONE (tui/follow.h) */
	uint32_t here;    /* node: what it is on in the panel that is left */
	struct panel *help, *detail, *columns;
	struct panel *overlay; /* one of these, or NULL */
	struct prompt prompt;
	struct menu menu;
	struct hits hits; /* of what was drawn last */
	struct mouse mouse;
	bool has_mouse;
	struct usage usage;
	struct advice advice;
	struct steps_known steps;
	unsigned header_lines; /* that were asked for; 0: the usual number */
	struct work work;
	struct kept kept;
	struct alphabet alphabet;                                  /* of names */
	struct matches matches;                                    /* of the search */
	char search[TUI_NEEDLE], filter[TUI_NEEDLE];               /* "" = none */
	char search_before[TUI_NEEDLE], filter_before[TUI_NEEDLE]; /* when the prompt opened */
	struct filters filters;
	struct least least; /* what the tree leaves out */
	struct tui_order orders[2]
			       [TUI_N_PANELS]; /* of screens before: without, with a comparison */
	char selector_before[FILTER_TEXT];     /* when its prompt opened */
	uint64_t windows;                      /* pictures so far */
	char message[256];
	enum name_mode names;
	bool frozen, percent_of_parent, is_reset;
	uint64_t reset_up_ns;  /* the program's age at the last reset */
	bool continued;        /* by a SIGCONT that is still to come, after tui_suspend() */
	uint64_t interrupt_ns; /* time of the last Ctrl-C; 0 none */
};

/* The panel in front. */
/* Is there one that our keys reach? */
static inline bool tui_has_program(const struct tui *t)
{
	return t->options.live && t->options.source == TUI_OF_PROGRAM;
}

static inline struct panel *tui_panel(struct tui *t)
{
	return t->overlay ? t->overlay : t->panels[t->current];
}

static inline const struct session *panel_session(const struct panel *p)
{
	return snapshot_session(p->tui->snap);
}

/* What a session adds up is of the whole run, and cannot count from a moment. */
static inline bool panel_is_since_reset(struct panel *p)
{
	return snapshot_is_reset(p->tui->snap);
}

/* Does the screen leave out contexts? */
static inline bool tui_is_filtered(const struct tui *t)
{
	return *t->filter || filters_any(&t->filters);
}

/* What the tree is grouped by. */
static inline enum group tui_group(const struct tui *t)
{
	return t->options.before ? t->options.group : snapshot_group(t->snap);
}

/* Which calling contexts it shows. */
static inline enum context_view tui_contexts(const struct tui *t)
{
	return t->options.before ? t->options.contexts : snapshot_contexts(t->snap);
}

#endif
