/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/editor.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"

#define MAX_ARGUMENTS 4

/* ---- places ---- */

/* A number of a line, and nothing else; 0 = it is none. */
static unsigned parse_line(const char *s, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)s[i]) || n > 100000000)
			return 0;
		n = n * 10 + (unsigned)(s[i] - '0');
	}
	return n;
}

/* Without a dot or a slash it is a name like any other: "step:3". */
static bool is_file(const char *s, size_t len)
{
	return len > 0 && len < PATH_MAX && (memchr(s, '.', len) || memchr(s, '/', len));
}

/* The last place of a byte before the end. */
static const char *find_last(const char *s, const char *end, char c)
{
	return end > s ? memrchr(s, c, (size_t)(end - s)) : NULL;
}

bool place_of_name(const char *name, struct source_place *ret)
{
	const char *end = name + strlen(name), *at = find_last(name, end, '@'), *colon;
	unsigned line = 0;

	if (at)
		line = parse_line(at + 1, (size_t)(end - at - 1)); /* file:function@line */
	if (at)
		end = at;
	colon = find_last(name, end, ':');
	if (!colon || !is_file(name, (size_t)(colon - name)))
		return false;
	if (line == 0)
		line = parse_line(colon + 1, (size_t)(end - colon - 1));
	if (line == 0)
		return false;
	snprintf(ret->file, sizeof(ret->file), "%.*s", (int)(colon - name), name);
	ret->line = line;
	return true;
}

/* Relative names could be "+!id", "-c" or "scp://host/x", which editors run, obey or fetch; what
 * realpath() makes begins with one slash and has no other beside it. */
int place_resolve(struct source_place *place)
{
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(place->file, real) || stat(real, &st) < 0 || access(real, R_OK) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode)) /* a FIFO would wait, a device may do anything */
		return -EINVAL;
	memcpy(place->file, real, strlen(real) + 1);
	return 0;
}

/* ---- the command ---- */

/* "--" where it is known to end the options even behind "+line". Elsewhere it would be a file, and
 * the slash that a name begins with must do. */
static const struct {
	const char *editor; /* NULL: any other */
	const char *arguments[MAX_ARGUMENTS + 1];
} conventions[] = {
	{"vi", {"+%l", "--", "%f"}},
	{"vim", {"+%l", "--", "%f"}},
	{"nvim", {"+%l", "--", "%f"}},
	{"gvim", {"+%l", "--", "%f"}},
	{"vim.tiny", {"+%l", "--", "%f"}},
	{"vim.basic", {"+%l", "--", "%f"}},
	{"nano", {"+%l", "--", "%f"}},
	{"kak", {"+%l", "--", "%f"}},
	{"emacs", {"+%l", "%q"}},
	{"emacsclient", {"+%l", "--", "%q"}},
	{"code", {"-g", "%f:%l"}},
	{"codium", {"-g", "%f:%l"}},
	{"subl", {"%f:%l"}},
	{"hx", {"%f:%l"}},
	{"helix", {"%f:%l"}},
	{"zed", {"%f:%l"}},
	{"kate", {"-l", "%l", "--", "%f"}},
	{NULL, {"+%l", "%f"}},
};

/* The program's name in a command that may have a path before it and options behind it. */
static size_t program_name(const char *command, const char **ret)
{
	size_t len = strcspn(command, " \t");
	const char *slash = find_last(command, command + len, '/');

	*ret = slash ? slash + 1 : command;
	return (size_t)(command + len - *ret);
}

const char *const *editor_arguments(const char *command)
{
	const char *name;
	size_t len = program_name(command, &name), i = 0;

	while (conventions[i].editor && (strlen(conventions[i].editor) != len ||
					 memcmp(conventions[i].editor, name, len) != 0))
		i++;
	return conventions[i].arguments;
}

static const char *editor_command(void)
{
	const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

	return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

/* One argument with the place filled in. */
static char *fill_in(const char *argument, const struct source_place *place)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	for (; f && *argument; argument++) {
		if (argument[0] == '%' && argument[1] == 'f')
			fputs(place->file, f);
		else if (argument[0] == '%' && argument[1] == 'q')
			fprintf(f, "/:%s", place->file);
		else if (argument[0] == '%' && argument[1] == 'l')
			fprintf(f, "%u", place->line);
		else
			fputc(*argument, f);
		if (*argument == '%')
			argument++;
	}
	if (f)
		fclose(f);
	return out;
}

/* In the child: the terminal as all three descriptors, signals as a program expects them. */
static void become_editor(int fd, char *const argv[])
{
	static const int ours[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE, SIGWINCH};
	sigset_t none;

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++)
		if (dup2(fd, i) < 0)
			_exit(126);
	execv("/bin/sh", argv);
	_exit(126);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

/* Ctrl-C and Ctrl-\ go to all of the terminal's group: until the editor has ended they are its own,
 * and what is pending then is dropped by ignoring it once more. */
static int run(int fd, char *const argv[])
{
	static const int theirs[] = {SIGINT, SIGQUIT};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before[ARRAY_SIZE(theirs)];
	pid_t pid;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
		sigaction(theirs[i], &ignore, &before[i]);
	pid = fork();
	if (pid == 0)
		become_editor(fd, argv);
	r = pid < 0 ? -errno : wait_for(pid);
	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++) {
		sigaction(theirs[i], &ignore, NULL);
		sigaction(theirs[i], &before[i], NULL);
	}
	return r;
}

int editor_run(const char *tty, const struct source_place *place)
{
	_cleanup_(closep) int fd = open(tty, O_RDWR | O_CLOEXEC | O_NOCTTY);
	const char *command = editor_command(), *const *arguments = editor_arguments(command);
	_cleanup_(freep) char *script = NULL;
	char *argv[MAX_ARGUMENTS + 5] = {(char *)"sh", (char *)"-c", NULL, (char *)"sh"};
	int n = 4, r = 0;

	if (fd < 0)
		return -errno;
	if (asprintf(&script, "%s \"$@\"", command) < 0) {
		script = NULL;
		return -ENOMEM;
	}
	argv[2] = script;
	for (; *arguments; arguments++)
		if (!(argv[n++] = fill_in(*arguments, place)))
			r = -ENOMEM;
	if (r == 0)
		r = run(fd, argv);
	while (n > 4)
		free(argv[--n]);
	return r;
}
