/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/screen_options.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/shown.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "core/filter.h"
#include "tui/layout.h"

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

static int check_selector(const char *value)
{
	_cleanup_(selector_freep) struct selector *x = NULL;

	return option_selector(&x, value);
}

static int take_option(struct screen_options *o, const struct option_def *option, const char *value)
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
	case OPT_NO_CONFIG:
		o->no_config = true;
		return 0;
	case OPT_LAYOUT:
		o->layout = value;
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
	case OPT_HEADER:
		return parse_count(value, 100, &o->tui.header);
	case OPT_THEME:
		o->tui.theme = value;
		return known(value, tui_theme_name);
	case OPT_SORT:
		o->tui.sort = value; /* checked when the columns of the profile are known */
		return 0;
	case OPT_FILTER:
		o->tui.filter = value;
		return 0;
	case OPT_SCREEN_INCLUDE:
		o->tui.include = value;
		return check_selector(value);
	case OPT_SCREEN_EXCLUDE:
		o->tui.exclude = value;
		return check_selector(value);
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

static uint32_t bit(int id)
{
	return 1u << (id - OPT_ASCII);
}

int screen_option(struct screen_options *o, const struct option_def *option, const char *value)
{
	int r = take_option(o, option, value);

	if (r == 0)
		o->given |= bit(option->id);
	return r;
}

int screen_or_text_option(struct screen_options *o, struct profile_options *text,
			  const struct option_def *option, const char *value)
{
	static const int filters[][2] = {
		{OPT_SCREEN_INCLUDE, PROFILE_OPT_INCLUDE},
		{OPT_SCREEN_EXCLUDE, PROFILE_OPT_EXCLUDE},
	};
	int r;

	if (option->id == OPT_SORT) { /* checked when the columns are known */
		o->tui.sort = text->report.sort = value;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (option->id == filters[i][0]) {
			const struct option_def same = {.id = filters[i][1]};

			r = profile_option(text, &same, value);
			if (r < 0)
				return r;
		}
	r = screen_option(o, option, value);
	return r == -ENOENT ? profile_option(text, option, value) : r;
}

void screen_take_text(struct screen_options *o, struct profile_options *text)
{
	const struct report_options *r = &text->report;

	o->tui.metrics = r->columns;
	o->tui.peaks = profile_peaks(text);
	o->tui.depth = r->depth;
	o->tui.least = (struct least){r->columns, r->least, r->threshold, o->tui.peaks};
}

const char *screen_view_given(const struct screen_options *o)
{
	return o->given & bit(OPT_PANEL) ? tui_panel_word(o->tui.panel) : NULL;
}

void text_take_screen(struct profile_options *text, const struct screen_options *o)
{
	text->report.ascii = o->tui.ascii;
	text->report.names = (uint8_t)o->tui.names;
	text->group = o->group;
}

/* Selectors were read before; what they compare is known now. */
static bool complain_screen_selector(const struct screen_options *o, const char *text,
				     const struct session *s, const char *option)
{
	_cleanup_(selector_freep) struct selector *x = NULL;

	return text && option_selector(&x, text) == 0 &&
	       complain_selector(x, s, option, o->tui.live);
}

int screen_check_columns(const struct screen_options *o, struct tui *t, const struct session *s)
{
	if (tui_columns_error(t) < 0 && complain_column(s, o->tui.metrics, "-m"))
		return -EINVAL;
	if (complain_screen_selector(o, o->tui.include, s, "-i") ||
	    complain_screen_selector(o, o->tui.exclude, s, "-e"))
		return -EINVAL;
	if (complain_least(&o->tui.least, s))
		return -EINVAL;
	if (o->tui.sort && !tui_has_column(t, o->tui.sort))
		complain_column(s, o->tui.sort, "-s");
	else
		return 0;
	return -EINVAL;
}

/* ---- settings ---- */

#define MAX_SKIPPED 20 /* lines of a file that get a message each */

struct reading {
	const char *path;
	unsigned n_skipped;
};

static void on_skipped(void *data, unsigned line, const char *why)
{
	struct reading *reading = data;

	if (++reading->n_skipped <= MAX_SKIPPED)
		complain("%s:%u: %s", reading->path, line, why);
}

/* Read one file of settings. wanted: it is an error if the file does not exist. */
static int read_settings(struct screen_options *o, const char *path, bool wanted)
{
	struct reading reading = {path, 0};
	_cleanup_(buf_done) struct buf text = {0};
	int r = layout_read(path, &text);

	if (r == 0)
		settings_parse(&o->settings, buf_str(&text), text.len, on_skipped, &reading);
	else if (wanted || r != -ENOENT)
		complain("cannot read '%s': %s", path, open_error(r));
	if (reading.n_skipped)
		snprintf(o->skipped, sizeof(o->skipped), "%u of the lines in %.100s mean nothing",
			 reading.n_skipped, path);
	return r == -ENOENT && !wanted ? 0 : r;
}

/* The XDG standard says that relative paths are to be ignored. */
void screen_config_dir(char *dir, size_t size)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n = 0;

	*dir = '\0'; /* there is none */
	if (xdg && *xdg == '/')
		n = snprintf(dir, size, "%s/proton", xdg);
	else if (home && *home == '/')
		n = snprintf(dir, size, "%s/.config/proton", home);
	if (n >= (int)size)
		*dir = '\0';
}

void screen_list_layouts(FILE *out)
{
	char dir[4096];
	_cleanup_(buf_done) struct buf names = {0}, shown = {0};

	screen_config_dir(dir, sizeof(dir));
	if (*dir && layout_list(dir, &names) == 0)
		shown_put_lines(&shown, names.data, names.len);
	fputs(buf_str(&shown), out);
}

static int read_layout(struct screen_options *o)
{
	_cleanup_(buf_done) struct buf path = {0};

	if (strchr(o->layout, '/')) {
		buf_puts(&path, o->layout);
	} else if (!*o->layout || !*o->config_dir ||
		   layout_path(o->config_dir, o->layout, &path) < 0) {
		complain("there is no layout '%s'", o->layout);
		return -EINVAL;
	}
	return read_settings(o, buf_str(&path), true);
}

/* Apply the settings that no option has overridden. */
static void fill_in(struct screen_options *o)
{
	const struct settings *s = &o->settings;
	const char *no_color = getenv("NO_COLOR");

	if (s->theme && !(o->given & bit(OPT_THEME)))
		o->tui.theme = s->theme;
	if (s->mouse >= 0 && !(o->given & bit(OPT_NO_MOUSE)))
		o->tui.no_mouse = !s->mouse;
	if (s->ascii >= 0 && !(o->given & bit(OPT_ASCII)))
		o->tui.ascii = s->ascii;
	if (no_color && *no_color)
		o->tui.no_color = true;
	else if (s->color >= 0 && !(o->given & bit(OPT_NO_COLOR)))
		o->tui.no_color = !s->color;
	if (s->header && !(o->given & bit(OPT_HEADER)))
		o->tui.header = s->header;
	if (s->names >= 0 && !(o->given & bit(OPT_NAMES)))
		o->tui.names = (enum name_mode)s->names;
	if (s->group >= 0 && !(o->given & bit(OPT_GROUP)))
		o->group = (enum group)s->group;
	if (s->panel >= 0 && !(o->given & bit(OPT_PANEL)))
		o->tui.panel = (enum tui_panel)s->panel;
	o->tui.settings = s;
}

int screen_settle(struct screen_options *o)
{
	_cleanup_(buf_done) struct buf path = {0};

	settings_init(&o->settings);
	screen_config_dir(o->config_dir, sizeof(o->config_dir));
	o->tui.config_dir = *o->config_dir ? o->config_dir : NULL;
	if (!o->no_config && *o->config_dir && layout_path(o->config_dir, "", &path) == 0)
		read_settings(o, buf_str(&path), false); /* what is wrong with it was said */
	if (o->layout && read_layout(o) < 0)
		return STATUS_USAGE;
	fill_in(o);
	return 0;
}

int screen_print_keys(struct screen_options *o)
{
	_cleanup_(buf_done) struct buf out = {0};
	int r = screen_settle(o);

	if (r)
		return r;
	tui_keys_write(TUI_KEYS_TEXT, &o->settings, &out);
	fputs(buf_str(&out), stdout);
	return STATUS_OK;
}

int screen_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
