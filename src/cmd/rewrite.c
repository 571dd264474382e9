/* SPDX-License-Identifier: MIT */
/* proton rewrite: what libproton.so starts for each module of a program that is to have scopes within its kernels. Not for people. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "core/intra_wanted.h"
#include "core/rewritten.h"
#include "override/kept.h"
#include "override/module.h"

enum { OPT_SESSION = 1, OPT_CHIP, OPT_LIMIT };

static const struct option_def options[] = {
	{.name = "session", .arg = "FOLDER", .help = "that says what is wanted", .id = OPT_SESSION},
	{.name = "chip", .arg = "N", .help = "90 for sm_90", .id = OPT_CHIP},
	{.name = "limit", .arg = "SECONDS", .help = "of time", .id = OPT_LIMIT},
};

const struct command_def command_rewrite = {
	.name = "rewrite",
	.usage = "--session FOLDER --chip N --limit SECONDS <MODULE",
	.summary = "put scopes into the kernels of a module",
	.details =
		"The collector starts it for each module of a program that 'record --intra' runs.\n",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *session;
	uint32_t chip, limit_s;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_CHIP:
		return parse_count(value, 9999, &a->chip);
	case OPT_LIMIT:
		return parse_count(value, 3600, &a->limit_s);
	default:
		a->session = value;
		return 0;
	}
}

/* ---- what is wanted ---- */

static int read_wanted(const char *session, struct buf *text, struct intra_wanted *ret)
{
	char path[PATH_MAX];
	_cleanup_(closep) int fd = -1;
	int r;

	snprintf(path, sizeof(path), "%s/" INTRA_FILE, session);
	fd = regular_open(path, O_RDONLY | O_NOFOLLOW, NULL);
	r = fd < 0 ? fd : buf_read(text, fd);
	if (r < 0)
		return r;
	return intra_wanted_parse(buf_str(text), ret) ? 0 : -EINVAL;
}

/* All that the result depends on: another proton makes others. What an older ptxas made is as good. */
static struct kept_key key_of(const struct buf *module, const struct buf *wanted, uint32_t chip)
{
	struct kept_key key = kept_key();
	struct stat us = {0};

	stat("/proc/self/exe", &us);
	kept_key_add(&key, PACKAGE_VERSION, sizeof(PACKAGE_VERSION));
	kept_key_add(&key, &us.st_size, sizeof(us.st_size));
	kept_key_add(&key, &us.st_mtim, sizeof(us.st_mtim));
	kept_key_add(&key, &chip, sizeof(chip));
	kept_key_add(&key, wanted->data, wanted->len);
	kept_key_add(&key, "", 1);
	kept_key_add(&key, module->data, module->len);
	return key;
}

/* ---- the answer ---- */

static int send_all(int to, const struct iovec *parts, int n)
{
	int r = 0;

	for (int i = 0; i < n && r == 0; i++)
		r = fd_write_all(to, parts[i].iov_base, parts[i].iov_len);
	return r;
}

/* A file that is not as it should be is made anew. */
static bool send_kept(const struct kept_key *key, int to)
{
	_cleanup_(buf_done) struct buf all = {.max = REWRITTEN_MOST + REWRITTEN_TEXT_MOST};
	struct rewritten head;

	if (kept_read(key, &all) < 0 || all.len < sizeof(head))
		return false;
	memcpy(&head, all.data, sizeof(head));
	if (head.magic != REWRITTEN_MAGIC ||
	    all.len != sizeof(head) + head.text_bytes + head.image_bytes)
		return false;
	head.is_kept = 1;
	memcpy(all.data, &head, sizeof(head));
	return fd_write_all(to, all.data, all.len) == 0;
}

static int answer(const struct kept_key *key, const struct overridden *o, int to)
{
	struct rewritten head = {.magic = REWRITTEN_MAGIC,
				 .text_bytes =
					 (uint32_t)MIN(o->text.len, (size_t)REWRITTEN_TEXT_MOST),
				 .image_bytes = o->image.len,
				 .n_kernels = o->n_kernels};
	const struct iovec parts[] = {{&head, sizeof(head)},
				      {o->text.data, head.text_bytes},
				      {o->image.data, o->image.len}};

	if (o->text.error || o->image.error)
		return -ENOMEM;
	if (o->is_lasting)
		kept_write(key, parts, ARRAY_SIZE(parts)); /* else it is made again */
	return send_all(to, parts, ARRAY_SIZE(parts));
}

/* Nothing but the answer goes to the collector. */
static int take_output(void)
{
	_cleanup_(closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (to < 0 || null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		return -errno;
	return to;
}

/* It is started with all of them blocked, and with what the program ignores: its children, or what ends it. */
static void take_signals(void)
{
	sigset_t none;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* It ends in time whatever it meets, and leaves no core. */
static void be_bounded(uint32_t limit_s)
{
	const struct rlimit none = {0, 0};

	take_signals();
	alarm(limit_s);
	setrlimit(RLIMIT_CORE, &none);
}

static int rewrite(const struct arguments *a, int to)
{
	_cleanup_(buf_done) struct buf module = {.max = REWRITTEN_MOST}, text = {0};
	_cleanup_(intra_wanted_done) struct intra_wanted wanted = {NULL};
	struct overriding how = {.chip = a->chip, .limit_ms = a->limit_s * 1000};
	struct overridden o;
	struct kept_key key;
	char why[INTRA_WHY_MAX];
	int r = read_wanted(a->session, &text, &wanted);

	if (r == 0)
		r = buf_read(&module, STDIN_FILENO);
	if (r == 0)
		r = intra_mode_parse(wanted.mode, &how.mode, why);
	if (r < 0)
		return r;
	key = key_of(&module, &text, a->chip);
	if (send_kept(&key, to))
		return 0;
	how.rules = wanted.rules;
	how.has_all = wanted.has_all;
	module_override((struct elf_part){(const uint8_t *)module.data, module.len}, &how, &o);
	r = answer(&key, &o, to);
	overridden_done(&o);
	return r;
}

int cmd_rewrite(int argc, char **argv)
{
	struct arguments a = {.limit_s = INTRA_LIMIT_S};
	int first = options_parse(&command_rewrite, argc, argv, on_option, &a), to;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first < argc || !a.session) {
		complain("'rewrite' is started by libproton.so (see 'proton rewrite --help')");
		return STATUS_USAGE;
	}
	be_bounded(a.limit_s);
	to = take_output();
	return to >= 0 && rewrite(&a, to) == 0 ? STATUS_OK : STATUS_OURS;
}
