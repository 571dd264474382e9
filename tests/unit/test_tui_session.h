/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_TEST_TUI_SESSION_H
#define PROTON_TESTS_TEST_TUI_SESSION_H
/* A made-up training run, the screen over it and a host that notes what it is asked. */
#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"
#include "core/snapshot.h"
#include "tui/print.h"
#include "tui/tui.h"

#define START_NS UINT64_C(1000000000000)

struct world {
	struct session *s;
	struct snapshot *snap;
	struct tui *t;
	struct tui_status status;
	const struct naming *naming; /* NULL: names stay raw */
	uint64_t now_ns;
	const char *log;
	char typed[256];             /* all that the program was sent */
	int typing;                  /* what the host says to it */
	enum tui_action actions[16]; /* asked of the host, in turn */
	int args[16];
	unsigned n_actions;
	uint32_t lanes[3];
	uint32_t step, forward, flash; /* session nodes */
};

struct kernel_values {
	uint64_t time_ns, count, min_ns, max_ns;
};

uint32_t world_node(struct world *w, uint32_t parent, enum frame_kind kind, const char *name);
void world_kernel(struct world *w, uint32_t node, uint32_t lane, const struct kernel_values *v);
void world_number(struct world *w, uint32_t node, uint32_t lane, uint32_t metric, double v);

/* An empty session, and one that has run for a minute on two devices. */
void world_init_empty(struct world *w);
void world_init(struct world *w);
/* Of three kernels on an H200 hardware counted everything: a product by FMAs of 32 bits, one in tensor cores, and one that
 * does nothing but move memory. */
void world_init_counted(struct world *w);
void world_open(struct world *w, const struct tui_options *options);
void world_done(struct world *w);
/* A second later everything has grown by a fortieth. */
void world_tick(struct world *w);

/* What its hardware counters said in each second of the last minute: more and more, but for a while in which nothing
 * was counted. */
void world_counters(struct world *w, uint32_t device);

/* The screen at this size equals tests/golden/NAME.screen, in which "(tabs)" stands for the tabs:
 * those are in the goldens "tabs" and "theme_default", so that a new panel changes only these. */
void world_golden(struct world *w, int rows, int cols, const char *name);
void world_golden_attributes(struct world *w, int rows, int cols, const char *name);
/* A golden, after these keys on a screen of its size. */
struct golden_look {
	const char *name, *keys;
	int rows, cols;
	bool ascii, no_color, attributes;
};
void world_look(struct world *w, const struct golden_look *look);
/* The line of tabs in several widths, after each of these scripts, equals tests/golden/NAME.screen.
 * NULL ends the scripts. */
void world_golden_tabs(struct world *w, const char *const *scripts, const char *name);
/* What is printed equals tests/golden/NAME with the suffix of the format. */
void world_golden_print(struct world *w, int rows, int cols, enum print_format format,
			const char *name);
/* Lay the screen out at this size: keys mean its columns. */
void world_draw(struct world *w, int rows, int cols);
/* Keys that must all be known. */
void world_keys(struct world *w, const char *script);
/* Does the 80x24 screen hold this text? */
bool world_shows(struct world *w, const char *text);

Suite *suite_screens(void);
Suite *suite_carry(void);
Suite *suite_columns(void);
Suite *suite_keys(void);
Suite *suite_mouse(void);
Suite *suite_past(void);
Suite *suite_prompt(void);
Suite *suite_settings(void);
Suite *suite_actions(void);
Suite *suite_text(void);
Suite *suite_views(void);
Suite *suite_timeline(void);
Suite *suite_warps(void);
Suite *suite_tree(void);
Suite *suite_terminal(void);

#endif
