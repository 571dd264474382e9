/* SPDX-License-Identifier: MIT */
/* proton doctor: what works on this machine, and what mends the rest. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include "base/shown.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/measured.h"
#include "cmd/screen_options.h"
#include "doctor/doctor.h"
#include "doctor/questions.h"
#include "format/json_writer.h"
#include "launch/target_env.h"
#include "report/pager.h"
#include "tui/terminfo.h"
#include "tui/tui.h"

extern char **environ;

enum { OPT_JSON = 1, OPT_NO_PAGER, OPT_MEASURE };

static const struct option_def options[] = {
	{.name = "json", .help = "print what was found as JSON", .id = OPT_JSON},
	{.name = "no-pager", .help = "print to the terminal itself", .id = OPT_NO_PAGER},
	{.name = "measure",
	 .help = "measure links and memory of the devices, and keep it",
	 .id = OPT_MEASURE},
};

const struct command_def command_doctor = {
	.name = "doctor",
	.usage = "[options] [cuda|opencl|nvtx|screen|saving]…",
	.summary = "say what works on this machine, and what mends the rest",
	.details =
		"Exit status: 0 all of it works (or all that was named), 1 something is missing.\n",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

/* ---- what is looked at ---- */

/* The terminal that a screen would be drawn on. */
static void look_at_terminal(struct doctor_terminal *t)
{
	_cleanup_(closep) int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	const char *no_color = getenv("NO_COLOR");
	struct winsize size;

	*t = (struct doctor_terminal){.is_there = fd >= 0,
				      .type = getenv("TERM"),
				      .codeset = nl_langinfo(CODESET),
				      .colors = -1,
				      .cols_min = TUI_MIN_COLS,
				      .rows_min = TUI_MIN_ROWS,
				      .no_color = no_color && *no_color};
	t->is_utf8 = !strcmp(t->codeset, "UTF-8");
	if (fd < 0)
		return;
	if (terminfo_check(fd, &t->why_not) == 0)
		t->colors = terminfo_colors(fd);
	if (ioctl(fd, TIOCGWINSZ, &size) == 0) {
		t->cols = size.ws_col;
		t->rows = size.ws_row;
	}
}

/* ---- text ---- */

enum {
	USUAL_WIDTH = 79, /* of what is no terminal */
	NAME_WIDTH = 16,
	INDENT = 6 + NAME_WIDTH + 1
};

struct printing {
	const char *group; /* that was printed last */
	unsigned width;
};

static const char *const marks[N_DOCTOR_STATES] = {
	[DOCTOR_OK] = "ok", [DOCTOR_NOTE] = "--", [DOCTOR_MISSING] = "!!", [DOCTOR_UNKNOWN] = "??"};

/* Words, from column INDENT on. The line has begun, up to there. */
static void print_words(const char *text, unsigned width)
{
	size_t at = INDENT;

	for (bool first = true; *text; first = false) {
		size_t len = strcspn(text, " "), columns = shown_columns(text, len);

		if (!first && at + 1 + columns > width) {
			printf("\n%*s", INDENT, "");
			at = INDENT;
		} else if (!first) {
			printf(" ");
			at++;
		}
		printf("%.*s", (int)len, text);
		at += columns;
		text += len + (text[len] == ' ');
	}
	printf("\n");
}

/* What was seen comes from files and from libraries: made safe to show. */
static void print_text(struct buf *text, unsigned width)
{
	_cleanup_(buf_done) struct buf shown = {0};

	shown_put(&shown, buf_str(text), text->len);
	print_words(buf_str(&shown), width);
}

/* The same, a row for each of its lines. */
static void print_lines(struct buf *text, unsigned width)
{
	_cleanup_(buf_done) struct buf line = {0};
	const char *at = buf_str(text);

	for (size_t len;; at += len + 1) {
		len = strcspn(at, "\n");
		buf_clear(&line);
		buf_put(&line, at, len);
		print_text(&line, width);
		if (!at[len])
			break;
		printf("%*s", INDENT, "");
	}
}

static void print_finding(void *ctx, const struct doctor_check *check,
			  const struct doctor_finding *finding)
{
	struct doctor_finding f = *finding; /* reading a buffer may end its text */
	struct printing *p = ctx;

	if (strcmp(p->group, check->group) != 0)
		printf("%s\n", check->group);
	p->group = check->group;
	printf("  %s  %-*s ", marks[f.state], NAME_WIDTH, check->name);
	print_lines(&f.seen, p->width);
	if (f.why.len) {
		printf("%*s", INDENT, "");
		print_text(&f.why, p->width);
	}
	if (f.mend.len)
		print_line(stdout, "%*s$ %s", INDENT, "", buf_str(&f.mend));
	fflush(stdout); /* the next one may take seconds */
}

/* The checks that stand in the way of a feature. */
static void print_reasons(const struct doctor *d, enum doctor_feature feature, const char *before)
{
	enum doctor_state worst = doctor_feature(d, feature);

	for (size_t i = 0; worst != DOCTOR_OK && i < doctor_n_checks; i++) {
		if (!(doctor_checks[i].serves >> feature & 1) ||
		    doctor_finding(d, i)->state != worst)
			continue;
		printf("%s%s", before, doctor_checks[i].name);
		before = ", ";
	}
}

static void print_features(const struct doctor *d, unsigned asked)
{
	printf("what works\n");
	for (int i = 0; i < N_DOCTOR_FEATURES; i++) {
		enum doctor_state state = doctor_feature(d, (enum doctor_feature)i);

		if (!(asked >> i & 1))
			continue;
		printf("  %s  %-*s %s\n", marks[state], NAME_WIDTH,
		       doctor_feature_name((enum doctor_feature)i),
		       doctor_feature_title((enum doctor_feature)i));
		if (state == DOCTOR_OK)
			continue;
		printf("%*s", INDENT, "");
		print_reasons(d, (enum doctor_feature)i,
			      state == DOCTOR_MISSING ? "no: " : "not known: ");
		printf("\n");
	}
}

/* Has all of it arrived? */
static int flush_text(void)
{
	if (fflush(stdout) < 0)
		return -errno;
	return ferror(stdout) ? -EIO : 0;
}

/* ---- JSON ---- */

static void put_text(struct json_writer *w, const char *key, const struct buf *text)
{
	jsonw_key(w, key);
	if (text->len && !text->error)
		jsonw_string(w, text->data, text->len);
	else
		jsonw_null(w);
}

static void put_check(struct json_writer *w, const struct doctor_check *check,
		      const struct doctor_finding *f)
{
	static const char *const states[N_DOCTOR_STATES] = {[DOCTOR_OK] = "ok",
							    [DOCTOR_NOTE] = "note",
							    [DOCTOR_MISSING] = "missing",
							    [DOCTOR_UNKNOWN] = "unknown"};

	jsonw_object(w);
	jsonw_key_text(w, "name", check->name);
	jsonw_key_text(w, "group", check->group);
	jsonw_key_text(w, "state", states[f->state]);
	put_text(w, "seen", &f->seen);
	put_text(w, "why", &f->why);
	put_text(w, "mend", &f->mend);
	jsonw_key(w, "serves");
	jsonw_array_flat(w);
	for (int i = 0; i < N_DOCTOR_FEATURES; i++)
		if (check->serves >> i & 1)
			jsonw_strings(w, doctor_feature_name((enum doctor_feature)i));
	jsonw_array_end(w);
	jsonw_object_end(w);
}

static void put_feature(struct json_writer *w, const struct doctor *d, enum doctor_feature feature)
{
	enum doctor_state state = doctor_feature(d, feature);

	jsonw_object(w);
	jsonw_key_text(w, "name", doctor_feature_name(feature));
	jsonw_key_text(w, "title", doctor_feature_title(feature));
	jsonw_key_text(w, "works",
		       state == DOCTOR_OK        ? "yes"
		       : state == DOCTOR_MISSING ? "no"
						 : "unknown");
	jsonw_object_end(w);
}

static int put_all(const struct doctor *d, unsigned asked, bool ok)
{
	struct out *out = out_new(STDOUT_FILENO);
	struct json_writer w;

	if (!out)
		return -ENOMEM;
	jsonw_init(&w, out, false);
	jsonw_object(&w);
	jsonw_key_text(&w, "proton", PACKAGE_VERSION);
	jsonw_key(&w, "ok");
	jsonw_bool(&w, ok);
	jsonw_key_array(&w, "features");
	for (int i = 0; i < N_DOCTOR_FEATURES; i++)
		if (asked >> i & 1)
			put_feature(&w, d, (enum doctor_feature)i);
	jsonw_array_end(&w);
	jsonw_key_array(&w, "checks");
	for (size_t i = 0; i < doctor_n_checks; i++)
		put_check(&w, &doctor_checks[i], doctor_finding(d, i));
	jsonw_array_end(&w);
	jsonw_object_end(&w);
	out_putc(out, '\n');
	return out_end(out, 0);
}

/* ---- the command ---- */

struct arguments {
	bool json, no_pager, measure;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	(void)value;
	if (option->id == OPT_JSON)
		a->json = true;
	else if (option->id == OPT_MEASURE)
		a->measure = true;
	else
		a->no_pager = true;
	return 0;
}

/* The features that are named; all when none is. 0: one is not known. */
static unsigned parse_features(char **names, int n)
{
	const char *known[N_DOCTOR_FEATURES];
	unsigned asked = 0;

	for (int i = 0; i < N_DOCTOR_FEATURES; i++)
		known[i] = doctor_feature_name((enum doctor_feature)i);
	for (int i = 0; i < n; i++) {
		int feature = parse_word(names[i], known, N_DOCTOR_FEATURES);

		if (feature < 0) {
			complain("'%s' is nothing that could work (see 'proton doctor --help')",
				 names[i]);
			return 0;
		}
		asked |= 1u << feature;
	}
	return n ? asked : (1u << N_DOCTOR_FEATURES) - 1;
}

static bool all_work(const struct doctor *d, unsigned asked)
{
	for (int i = 0; i < N_DOCTOR_FEATURES; i++)
		if (asked >> i & 1 && doctor_feature(d, (enum doctor_feature)i) == DOCTOR_MISSING)
			return false;
	return true;
}

/* What a run would start from. */
struct surroundings {
	struct doctor_host host;
	char *library, *library_why;
	char config_dir[PATH_MAX];
};

static void look_around(struct surroundings *s)
{
	*s = (struct surroundings){.host = {.root = "",
					    .env = environ,
					    .ask = question_ask,
					    .ask_devices = question_ask_devices}};
	target_library(&s->library, &s->library_why);
	screen_config_dir(s->config_dir, sizeof(s->config_dir));
	look_at_terminal(&s->host.terminal);
	s->host.library = s->library;
	s->host.library_why = s->library_why;
	s->host.config_dir = s->config_dir;
}

/* The words of all that was found. 0 or a negative errno. */
static int print_all(const struct doctor_host *host, unsigned asked, unsigned width, bool *ret_ok)
{
	_cleanup_(doctor_freep) struct doctor *d = NULL;
	struct printing printing = {"", width ? width : USUAL_WIDTH};

	printf("proton " PACKAGE_VERSION
	       "   ok: works  --: worth knowing  !!: missing  ??: not known\n");
	d = doctor_new(host, print_finding, &printing);
	if (!d)
		return -ENOMEM;
	*ret_ok = all_work(d, asked);
	print_features(d, asked);
	return flush_text();
}

static int put_json(const struct doctor_host *host, unsigned asked, bool *ret_ok)
{
	_cleanup_(doctor_freep) struct doctor *d = doctor_new(host, NULL, NULL);

	if (!d)
		return -ENOMEM;
	*ret_ok = all_work(d, asked);
	return put_all(d, asked, *ret_ok);
}

static int examine(const struct doctor_host *host, unsigned asked, const struct arguments *a)
{
	unsigned width = terminal_width(STDOUT_FILENO); /* of the pager, too */
	struct pager pager;
	bool ok = false;
	int r;

	pager_start(&pager, !a->json && !a->no_pager);
	r = a->json ? put_json(host, asked, &ok) : print_all(host, asked, width, &ok);
	pager_finish(&pager);
	if (r == -ENOMEM)
		complain("out of memory");
	else if (r < 0)
		complain("cannot print: %s", strerror(-r));
	if (r == -ENOMEM)
		return STATUS_FAILED;
	if (r < 0) /* that is not about the machine */
		return STATUS_USAGE;
	return ok ? STATUS_OK : STATUS_FAILED;
}

int cmd_doctor(int argc, char **argv)
{
	struct arguments a = {0};
	int first = options_parse(&command_doctor, argc, argv, on_option, &a), status;
	struct surroundings s;
	unsigned asked;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	asked = parse_features(argv + first, argc - first);
	if (!asked)
		return STATUS_USAGE;
	if (a.measure && (a.json || first < argc)) {
		complain("--measure looks at nothing else, and prints no JSON");
		return STATUS_USAGE;
	}
	look_around(&s);
	status = a.measure ? measured_make(&s.host) : examine(&s.host, asked, &a);
	free(s.library);
	free(s.library_why);
	return status;
}
