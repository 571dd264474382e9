/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/measured.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/human.h"
#include "base/named_file.h"
#include "base/shown.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "doctor/questions.h"
#include "format/write_file.h"

#define TEXT_MAX (1 << 20)

/* ---- the file ---- */

/* The XDG standard says that relative paths are to be ignored. False: there is no place for it. */
static bool file_path(char path[PATH_MAX])
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (xdg && *xdg == '/')
		n = snprintf(path, PATH_MAX, "%s/proton/peaks", xdg);
	else if (home && *home == '/')
		n = snprintf(path, PATH_MAX, "%s/.local/state/proton/peaks", home);
	return n > 0 && n < PATH_MAX;
}

/* "" where it cannot be read. */
static void read_text(const char *path, struct buf *text)
{
	_cleanup_(closep) int fd = regular_open(path, O_RDONLY, NULL);

	text->max = TEXT_MAX;
	if (fd >= 0 && buf_read(text, fd) < 0)
		buf_clear(text);
}

void measured_load(struct peaks *peaks)
{
	_cleanup_(buf_done) struct buf text = {0};
	char path[PATH_MAX];

	if (!peaks || !file_path(path))
		return;
	read_text(path, &text);
	(void)peaks_take_measured(peaks, buf_str(&text)); /* no memory: those that were taken */
}

static int make_folders(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		int r;

		*slash = '\0';
		r = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (r < 0)
			return r;
	}
	return 0;
}

/* Lines of devices that were not measured now stay. */
static void keep_others(const char *old, const struct measured *found, size_t n, struct buf *text)
{
	struct measured m;

	for (size_t len; *old; old += len + (old[len] == '\n')) {
		bool is_new = false;

		len = strcspn(old, "\n");
		if (!measured_parse(old, &m))
			continue;
		for (size_t i = 0; i < n; i++)
			is_new |= !strcmp(found[i].uuid, m.uuid);
		if (!is_new)
			measured_put(&m, text);
	}
}

static int fill(struct out *o, void *ctx)
{
	struct buf *text = ctx;

	out_put(o, text->data, text->len);
	return 0;
}

static int keep(const struct measured *found, size_t n, char path[PATH_MAX])
{
	_cleanup_(buf_done) struct buf old = {0}, text = {0};
	int r;

	if (!file_path(path))
		return -ENOENT;
	read_text(path, &old);
	buf_puts(&text, "# by proton doctor --measure: bytes in a second\n");
	keep_others(buf_str(&old), found, n, &text);
	for (size_t i = 0; i < n; i++)
		measured_put(&found[i], &text);
	r = text.error ? text.error : make_folders(path);
	return r < 0 ? r : write_file_tagged(path, 0, fill, &text);
}

/* ---- measuring ---- */

/* "UUID RATE… NAME"; the name is what is left. */
static const char *parse_answer(const char *line, struct measured *m)
{
	int at = 0, n;

	if (sscanf(line, "%63s%n", m->uuid, &at) != 1)
		return NULL;
	for (unsigned i = 0; i < N_MEASURED; i++, at += n)
		if (sscanf(line + at, "%lf%n", &m->rates[i], &n) != 1)
			return NULL;
	return line + at + strspn(line + at, " ");
}

static void print_device(const struct measured *m, const char *name)
{
	_cleanup_(buf_done) struct buf shown = {0};
	char text[HUMAN_MAX];

	shown_put(&shown, name, strlen(name));
	printf("%s (%s)\n", buf_str(&shown), m->uuid);
	for (unsigned i = 0; i < N_MEASURED; i++) {
		human_rate(text, m->rates[i] > 0 ? m->rates[i] / 1e9 : NAN);
		printf("  %-30s %8s GB/s\n", measured_word((enum peak_measured)i), text);
	}
}

static size_t print_answer(const struct probe *answer, struct measured found[], size_t max)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *line, *name;
	size_t n = 0;

	for (unsigned i = 0; n < max && (line = probe_value(&scratch, answer, "measured", i));
	     i++) {
		name = parse_answer(line, &found[n]);
		if (name)
			print_device(&found[n++], name);
	}
	for (unsigned i = 0; (line = probe_value(&scratch, answer, "unmeasured", i)); i++)
		complain("%s", line);
	line = probe_value(&scratch, answer, "error", 0);
	if (line)
		complain("nothing was measured: %s", line);
	return n;
}

static void complain_of_end(const struct probe *answer)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (answer->end == PROBE_ANSWERED)
		return;
	probe_say_end(answer, &text);
	complain("%s", buf_str(&text));
}

int measured_make(const struct doctor_host *host)
{
	struct measured found[64];
	char path[PATH_MAX];
	struct probe answer;
	size_t n;
	int r;

	host->ask(host, ASK_MEASURE, &answer);
	n = print_answer(&answer, found, ARRAY_SIZE(found));
	complain_of_end(&answer);
	probe_done(&answer);
	if (!n)
		return STATUS_FAILED;
	r = keep(found, n, path);
	if (r == -ENOENT)
		complain("nothing is kept: neither XDG_STATE_HOME nor HOME names a folder");
	else if (r < 0)
		complain("cannot write '%s': %s", path, strerror(-r));
	else
		printf("kept in %s: reports and screens use it for these devices\n", path);
	if (fflush(stdout) < 0 || ferror(stdout)) {
		complain("cannot print: %s", strerror(errno));
		return STATUS_USAGE;
	}
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}
