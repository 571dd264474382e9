/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/theme.h"
#include <string.h>
#include <strings.h>
#include "base/util.h"
#include "tui/tui.h"

/* clang-format off */
static const struct glyphs glyphs_ascii = {
	.tee = "|-", .corner = "`-", .pass = "| ", .gap = "  ",
	.open = "[-] ", .closed = "[+] ", .leaf = "",
	.descending = "v", .ascending = "^", .separator = " > ",
	.bar = "|", .bar_rest = ".", .levels = {".", ":", "-", "=", "+", "*", "#", "@"}, .unknown = "/", .cursor = ">", .ellipsis = "~", .rule = "-", .edge = "|",
	.frame = {"+", "+", "+", "+"}, .frame_side = "|", .carried = "*", .side = "|", .found = "*", .fills = {"#", "=", "-"},
	.slope = "/", .points = {"O", "o", "."},
};

static const struct glyphs glyphs_utf8 = {
	.tee = "├─", .corner = "└─", .pass = "│ ", .gap = "  ",
	.eighths = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"}, .has_braille = true,
	.open = "▾ ", .closed = "▸ ", .leaf = "",
	.descending = "▼", .ascending = "▲", .separator = " › ",
	.bar = "█", .bar_rest = "░", .levels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, .unknown = "░", .cursor = "▶", .ellipsis = "…", .rule = "─", .edge = "│",
	.frame = {"┌", "┐", "└", "┘"}, .frame_side = "│", .carried = "»", .side = "▏", .found = "●", .fills = {"▒", "░", "─"},
	.slope = "/", .points = {"●", "○", "∙"},
};
/* clang-format on */

struct theme {
	const char *name;
	bool light;
	struct style styles[ROLE_N];
};

#define STYLE(f, b, ...)                                                                           \
	{                                                                                          \
		.fg = (f), .bg = (b), __VA_ARGS__                                                  \
	}
#define PLAIN  STYLE(-1, -1)
#define BRIGHT STYLE(COLOR_WHITE, COLOR_BLACK, .bold = 1)

/* Without colour: bold and reverse alone tell things apart. */
#define MONO_STYLES                                                                                \
	[ROLE_NORMAL] = PLAIN, [ROLE_DIM] = PLAIN, [ROLE_NUMBER] = PLAIN,                          \
	[ROLE_HEADER] = STYLE(-1, -1, .bold = 1), [ROLE_LIVE] = STYLE(-1, -1, .bold = 1),          \
	[ROLE_FROZEN] = STYLE(-1, -1, .reverse = 1, .bold = 1),                                    \
	[ROLE_PAUSED] = STYLE(-1, -1, .reverse = 1, .bold = 1),                                    \
	[ROLE_ENDED] = STYLE(-1, -1, .reverse = 1), [ROLE_ALARM] = STYLE(-1, -1, .reverse = 1),    \
	[ROLE_WARNING] = STYLE(-1, -1, .bold = 1), [ROLE_TAB] = PLAIN,                             \
	[ROLE_TAB_NOW] = STYLE(-1, -1, .bold = 1, .underline = 1),                                 \
	[ROLE_HEAD] = STYLE(-1, -1, .reverse = 1),                                                 \
	[ROLE_HEAD_SORT] = STYLE(-1, -1, .reverse = 1, .bold = 1),                                 \
	[ROLE_SELECTED] = STYLE(-1, -1, .reverse = 1), [ROLE_HOT] = STYLE(-1, -1, .bold = 1),      \
	[ROLE_SCOPE] = PLAIN, [ROLE_CODE] = PLAIN, [ROLE_KERNEL] = STYLE(-1, -1, .bold = 1),       \
	[ROLE_COPY] = PLAIN, [ROLE_GROUP] = STYLE(-1, -1, .bold = 1),                              \
	[ROLE_MATCH] = STYLE(-1, -1, .underline = 1, .bold = 1),                                   \
	[ROLE_TITLE] = STYLE(-1, -1, .bold = 1), [ROLE_KEY] = PLAIN,                               \
	[ROLE_LABEL] = STYLE(-1, -1, .reverse = 1), [ROLE_PROMPT] = STYLE(-1, -1, .bold = 1),      \
	[ROLE_MESSAGE] = STYLE(-1, -1, .bold = 1), [ROLE_POPUP] = PLAIN, [ROLE_BAR] = PLAIN,       \
	[ROLE_BAR_REST] = PLAIN, [ROLE_WORSE] = STYLE(-1, -1, .bold = 1), [ROLE_BETTER] = PLAIN,   \
	[ROLE_BOX_KERNEL] = STYLE(-1, -1, .bold = 1), [ROLE_BOX_COPY] = PLAIN,                     \
	[ROLE_BOX_SET] = PLAIN, [ROLE_BOX_SCOPE] = PLAIN, [ROLE_BOX_NVTX] = PLAIN,                 \
	[ROLE_BOX_CODE] = PLAIN, [ROLE_BOX_GROUP] = PLAIN,                                         \
	[ROLE_BOX_MORE] = STYLE(-1, -1, .bold = 1), [ROLE_BOX_LESS] = PLAIN,                       \
	[ROLE_BOX_SAME] = PLAIN

/* clang-format off */
#define COLOR_STYLES(hot, good, alarm, warm)                                                       \
	MONO_STYLES, [ROLE_DIM] = STYLE(-1, -1, .dim = 1), [ROLE_LIVE] = STYLE(good, -1, .bold = 1), \
	[ROLE_FROZEN] = STYLE(COLOR_BLACK, COLOR_CYAN),                                            \
	[ROLE_PAUSED] = STYLE(COLOR_BLACK, warm), [ROLE_ENDED] = STYLE(COLOR_BLACK, COLOR_WHITE),  \
	[ROLE_ALARM] = STYLE(COLOR_WHITE, alarm, .bold = 1),                                       \
	[ROLE_WARNING] = STYLE(warm, -1, .bold = 1),                                               \
	[ROLE_TAB_NOW] = STYLE(COLOR_BLACK, COLOR_CYAN), [ROLE_HEAD] = STYLE(COLOR_BLACK, good),   \
	[ROLE_HEAD_SORT] = STYLE(COLOR_BLACK, COLOR_CYAN),                                         \
	[ROLE_SELECTED] = STYLE(COLOR_BLACK, COLOR_CYAN), [ROLE_HOT] = STYLE(hot, -1, .bold = 1),  \
	[ROLE_SCOPE] = PLAIN, [ROLE_CODE] = STYLE(-1, -1),                                         \
	[ROLE_KERNEL] = STYLE(good, -1), [ROLE_COPY] = STYLE(COLOR_MAGENTA, -1),                   \
	[ROLE_GROUP] = STYLE(COLOR_CYAN, -1, .bold = 1),                                           \
	[ROLE_MATCH] = STYLE(COLOR_BLACK, COLOR_YELLOW), [ROLE_LABEL] = STYLE(COLOR_BLACK, COLOR_CYAN), \
	[ROLE_BAR] = STYLE(good, -1), [ROLE_BAR_REST] = STYLE(-1, -1, .dim = 1),                   \
	[ROLE_WORSE] = STYLE(hot, -1), [ROLE_BETTER] = STYLE(COLOR_GREEN, -1),                     \
	[ROLE_BOX_KERNEL] = STYLE(COLOR_BLACK, COLOR_GREEN),                                       \
	[ROLE_BOX_COPY] = STYLE(COLOR_WHITE, COLOR_MAGENTA),                                       \
	[ROLE_BOX_SET] = STYLE(COLOR_BLACK, COLOR_MAGENTA),                                        \
	[ROLE_BOX_SCOPE] = STYLE(COLOR_WHITE, COLOR_BLUE),                                         \
	[ROLE_BOX_NVTX] = STYLE(COLOR_WHITE, COLOR_BLUE),                                         \
	[ROLE_BOX_CODE] = STYLE(COLOR_BLACK, COLOR_WHITE), [ROLE_BOX_GROUP] = PLAIN,               \
	[ROLE_BOX_MORE] = STYLE(COLOR_WHITE, COLOR_RED, .bold = 1),                                \
	[ROLE_BOX_LESS] = STYLE(COLOR_BLACK, COLOR_GREEN),                                         \
	[ROLE_BOX_SAME] = STYLE(COLOR_BLACK, COLOR_WHITE)
/* clang-format on */

/* A theme is the mono one with changes. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
/* clang-format off */
static const struct theme themes[] = {
	{"default", false, {COLOR_STYLES(COLOR_RED, COLOR_GREEN, COLOR_RED, COLOR_YELLOW)}},
	/* On white, yellow and cyan cannot be read: blue and magenta are their places, and what is
	 * selected is white on blue. */
	{"light",
	 true,
	 {COLOR_STYLES(COLOR_RED, COLOR_BLUE, COLOR_RED, COLOR_MAGENTA),
	  [ROLE_FROZEN] = STYLE(COLOR_WHITE, COLOR_BLUE), [ROLE_PAUSED] = STYLE(COLOR_WHITE, COLOR_MAGENTA),
	  [ROLE_TAB_NOW] = STYLE(COLOR_WHITE, COLOR_BLUE), [ROLE_HEAD] = STYLE(COLOR_BLACK, COLOR_WHITE),
	  [ROLE_HEAD_SORT] = STYLE(COLOR_WHITE, COLOR_BLUE, .bold = 1),
	  [ROLE_SELECTED] = STYLE(COLOR_WHITE, COLOR_BLUE),
	  [ROLE_LABEL] = STYLE(COLOR_WHITE, COLOR_BLUE), [ROLE_GROUP] = STYLE(COLOR_MAGENTA, -1, .bold = 1),
	  [ROLE_BOX_SCOPE] = STYLE(COLOR_BLACK, COLOR_CYAN), [ROLE_BOX_NVTX] = STYLE(COLOR_BLUE, COLOR_CYAN)}},
	/* Blue, cyan and yellow: told apart without red and green. Blue is a ground only: as ink it is
	 * too dark on many terminals. */
	{"colorblind",
	 false,
	 {COLOR_STYLES(COLOR_YELLOW, COLOR_CYAN, COLOR_YELLOW, COLOR_YELLOW),
	  [ROLE_ALARM] = STYLE(COLOR_BLACK, COLOR_YELLOW, .bold = 1),
	  [ROLE_HEAD] = STYLE(COLOR_BLACK, COLOR_WHITE), [ROLE_GROUP] = STYLE(-1, -1, .bold = 1),
	  [ROLE_SELECTED] = STYLE(COLOR_WHITE, COLOR_BLUE, .bold = 1),
	  [ROLE_BOX_KERNEL] = STYLE(COLOR_BLACK, COLOR_CYAN), [ROLE_BOX_SCOPE] = STYLE(COLOR_BLACK, COLOR_WHITE),
	  [ROLE_BOX_NVTX] = STYLE(COLOR_BLUE, COLOR_WHITE), [ROLE_BOX_CODE] = PLAIN,
	  [ROLE_BETTER] = STYLE(COLOR_CYAN, -1), [ROLE_BOX_MORE] = STYLE(COLOR_BLACK, COLOR_YELLOW, .bold = 1),
	  [ROLE_BOX_LESS] = STYLE(COLOR_BLACK, COLOR_CYAN)}},
	/* Nothing is dim, and all names stand out: white on black, black on yellow. */
	{"contrast",
	 false,
	 {COLOR_STYLES(COLOR_YELLOW, COLOR_WHITE, COLOR_RED, COLOR_YELLOW),
	  [ROLE_NORMAL] = BRIGHT, [ROLE_DIM] = BRIGHT, [ROLE_NUMBER] = BRIGHT, [ROLE_HEADER] = BRIGHT,
	  [ROLE_SCOPE] = BRIGHT, [ROLE_CODE] = BRIGHT, [ROLE_KERNEL] = BRIGHT, [ROLE_COPY] = BRIGHT,
	  [ROLE_GROUP] = BRIGHT, [ROLE_TITLE] = BRIGHT, [ROLE_TAB] = BRIGHT, [ROLE_POPUP] = BRIGHT,
	  [ROLE_BAR] = BRIGHT, [ROLE_BAR_REST] = BRIGHT, [ROLE_KEY] = BRIGHT,
	  [ROLE_MESSAGE] = BRIGHT, [ROLE_PROMPT] = BRIGHT,
	  [ROLE_SELECTED] = STYLE(COLOR_BLACK, COLOR_YELLOW, .bold = 1),
	  [ROLE_MATCH] = STYLE(COLOR_BLACK, COLOR_CYAN, .bold = 1),
	  [ROLE_TAB_NOW] = STYLE(COLOR_BLACK, COLOR_YELLOW, .bold = 1),
	  [ROLE_HEAD_SORT] = STYLE(COLOR_BLACK, COLOR_YELLOW, .bold = 1),
	  [ROLE_BOX_KERNEL] = STYLE(COLOR_BLACK, COLOR_WHITE), [ROLE_BOX_CODE] = BRIGHT,
	  [ROLE_BOX_GROUP] = BRIGHT}},
	{"mono", false, {MONO_STYLES}},
};
/* clang-format on */
#pragma GCC diagnostic pop

const char *tui_theme_name(unsigned i)
{
	return i < ARRAY_SIZE(themes) ? themes[i].name : NULL;
}

char role_letter(enum role role)
{
	static const char letters[ROLE_N] = {
#define _(role, letter) [ROLE_##role] = letter,
		ROLES(_)
#undef _
	};

	return letters[role];
}

static const struct theme *theme_find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(themes); i++)
		if (!strcasecmp(themes[i].name, name))
			return &themes[i];
	return &themes[0];
}

static attr_t style_attr(const struct style *s)
{
	return (s->bold ? A_BOLD : 0) | (s->dim ? A_DIM : 0) | (s->reverse ? A_REVERSE : 0) |
	       (s->underline ? A_UNDERLINE : 0);
}

struct style look_style(const struct look *look, short pair, attr_t attr)
{
	if (pair > 0 && pair <= ROLE_N)
		return look->theme->styles[pair - 1];
	return (struct style){.fg = -1,
			      .bg = -1,
			      .bold = (attr & A_BOLD) != 0,
			      .dim = (attr & A_DIM) != 0,
			      .reverse = (attr & A_REVERSE) != 0,
			      .underline = (attr & A_UNDERLINE) != 0};
}

/* Each role has its own pair (role + 1), so that a drawn cell tells its role. */
static void look_colors(struct look *look, const struct theme *theme)
{
	bool own = use_default_colors() == OK;

	for (short r = 0; r < ROLE_N; r++) {
		const struct style *s = &theme->styles[r];

		init_pair(r + 1, s->fg < 0 && !own ? COLOR_WHITE : s->fg,
			  s->bg < 0 && !own ? COLOR_BLACK : s->bg);
		look->pair[r] = r + 1;
		look->attr[r] = style_attr(s);
	}
}

static void look_mono(struct look *look)
{
	const struct theme *theme = theme_find("mono");

	look->mono = true;
	for (short r = 0; r < ROLE_N; r++) {
		look->pair[r] = 0;
		look->attr[r] = style_attr(&theme->styles[r]);
	}
}

void look_init(struct look *look, const struct look_options *options)
{
	const struct theme *theme = theme_find(options->theme);

	memset(look, 0, sizeof(*look));
	look->theme = theme;
	look->light = theme->light;
	look->ascii = options->ascii;
	look->glyphs = options->ascii ? &glyphs_ascii : &glyphs_utf8;
	if (options->no_color || !has_colors() || start_color() == ERR || COLORS < 8 ||
	    COLOR_PAIRS <= ROLE_N || !strcmp(theme->name, "mono")) {
		look_mono(look);
		return;
	}
	look_colors(look, theme);
}
