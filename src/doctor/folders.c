/* SPDX-License-Identifier: MIT */
/* Folders that a run writes to: what ask_folders() was answered. */
#include "config.h" // IWYU pragma: keep
#include <limits.h>
#include <string.h>
#include "base/human.h"
#include "doctor/checks.h"

enum { FREE_BYTES_WANTED = 64 << 20 };

/* The line of a folder; NULL: the finding says why there is none. */
static const char *folder_line(struct doctor *d, const char *name, struct doctor_finding *f,
			       struct buf *scratch)
{
	const struct probe *p = doctor_ask(d, ASK_FOLDERS);
	const char *text = probe_value(scratch, p, name, 0);
	char error[32];

	if (text)
		return text;
	snprintf(error, sizeof(error), "%s-error", name);
	text = probe_value(scratch, p, error, 0);
	if (text) {
		f->state = DOCTOR_MISSING;
		buf_puts(&f->seen, text);
	} else {
		f->state = p->end == PROBE_HUNG ? DOCTOR_MISSING : DOCTOR_UNKNOWN;
		probe_say_end(p, &f->seen);
	}
	return NULL;
}

void check_session(struct doctor *d, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = folder_line(d, "session", f, &scratch), *slash;

	if (text) {
		slash = strrchr(text, '/'); /* the directory of this question is gone already */
		buf_printf(&f->seen, "%.*s", slash ? (int)(slash - text) : 0, text);
		return;
	}
	buf_puts(&f->why, "a run and its program meet in a private directory with a FIFO, in "
			  "XDG_RUNTIME_DIR, TMPDIR or /tmp");
	buf_puts(&f->mend, "export TMPDIR=/a/folder/on/a/local/disk");
}

void check_profile(struct doctor *d, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = folder_line(d, "profile", f, &scratch);
	char path[PATH_MAX] = "", free_text[HUMAN_MAX];
	unsigned long long bytes = 0;

	if (!text || sscanf(text, "%llu %4095[^\n]", &bytes, path) != 2) {
		buf_puts(&f->why, "profiles are written into the current folder");
		buf_puts(&f->mend, "proton record -o /tmp/run.hatchet …");
		return;
	}
	human_bytes(free_text, (double)bytes);
	buf_printf(&f->seen, "%s, %s free", path, free_text);
	if (bytes < FREE_BYTES_WANTED) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->why, "profiles are small, traces and tapes are not");
	}
}

/* The screen works without; what W keeps is then lost. */
void check_config(struct doctor *d, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = folder_line(d, "config", f, &scratch);

	if (text) {
		buf_puts(&f->seen, text);
		return;
	}
	f->state = DOCTOR_NOTE;
	buf_puts(&f->why, "settings of the screen cannot be kept");
}
