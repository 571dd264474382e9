/* SPDX-License-Identifier: MIT */
/* proton script.py, proton pytest: Triton's words for a run of one session, whose profile is NAME.hatchet. A
 * helper in Python (triton_command.py) starts the session in the script's interpreter, and ends it. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/run_options.h"
#include "core/contexts.h"
#include "core/session_words.h"
#include "launch/target_env.h"

/* What the helper is told of, in this order. */
enum { OPT_NAME, OPT_BACKEND, OPT_CONTEXTS, OPT_MODE, OPT_DATA, OPT_HOOK, N_WORDS, OPT_VERBOSELY };

static const char *hook_word(unsigned i)
{
	return i ? NULL : "triton";
}

/* clang-format off */
static const struct option_def options[] = {
	{.name = "name", .letter = 'n', .arg = "NAME",
	 .help = "write NAME.hatchet (proton)", .id = OPT_NAME},
	{.name = "backend", .letter = 'b', .arg = "cupti|rocprofiler|roctracer|instrumentation",
	 .help = "whose GPUs (all)", .id = OPT_BACKEND},
	{.name = "context", .letter = 'c', .arg = "shadow|python",
	 .help = "what kernels stand under: scopes, or lines of Python (shadow)", .id = OPT_CONTEXTS},
	{.name = "mode", .letter = 'm', .arg = "MODE", .help = "how it is profiled", .id = OPT_MODE},
	{.name = "data", .letter = 'd', .arg = "tree|trace",
	 .help = "add up, or keep each operation: NAME.chrome_trace (tree)", .id = OPT_DATA},
	{.name = "hook", .letter = 'k', .arg = "triton",
	 .help = "names and metrics of Triton's launch_metadata", .values = hook_word,
	 .id = OPT_HOOK},
	{.name = "verbose", .letter = 'v', .help = "say more about what is done",
	 .rare = true, .id = OPT_VERBOSELY},
};
/* clang-format on */

const struct command_def command_script = {
	.name = "script",
	.usage = "[options] SCRIPT.py|pytest [ARGS]",
	.summary = "profile a script in the words of Triton's proton",
	.details = "The word 'script' may be left out: 'proton -n run train.py' is the same.\n",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *words[N_WORDS];
	bool verbose;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	if (option->id == OPT_VERBOSELY)
		a->verbose = true;
	else
		a->words[option->id] = value;
	if (option->id == OPT_NAME && !strcmp(value, "-")) /* no name of a file for sessions */
		return -EINVAL;
	return option->id == OPT_HOOK && strcmp(value, hook_word(0)) != 0 ? -EINVAL : 0;
}

static bool is_word(const struct arguments *a, int id, const char *word)
{
	return a->words[id] && !strcmp(a->words[id], word);
}

/* Inside kernels: the mode is Triton's compiler's, and a trace is of what is there. */
static bool looks_inside(const struct arguments *a)
{
	return is_word(a, OPT_BACKEND, "instrumentation");
}

/* Which formats a mode may have is a matter of the data: known when all options are. */
static bool read_mode(const struct arguments *a, struct session_mode *ret)
{
	const char *mode = a->words[OPT_MODE] ? a->words[OPT_MODE] : "";
	bool traced = is_word(a, OPT_DATA, "trace");

	if (looks_inside(a) || (session_mode_read(mode, traced, ret) && !ret->metrics))
		return true;
	complain(
		"option '--mode' takes pcsampling and periodic_flushing, with or without :format=%s, "
		"not '%s' (see 'proton script --help')",
		session_formats_text(traced), mode);
	return false;
}

/* ---- is it one? ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

static bool is_option(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		size_t len = strlen(options[i].name);

		if ((word[1] == options[i].letter) ||
		    (!strncmp(word, "--", 2) && !strncmp(word + 2, options[i].name, len) &&
		     (!word[2 + len] || word[2 + len] == '=')))
			return true;
	}
	return false;
}

bool is_script(const char *word)
{
	if (*word == '-')
		return is_option(word);
	return ends_in(word, ".py") || !strcmp(base_of(word), "pytest");
}

/* ---- the interpreter ---- */

/* The interpreter that a file names in its first line, or NULL: "#!/venv/bin/python3", "#!/usr/bin/env
 * python3.12". */
static char *shebang_of(const char *path)
{
	int fd = regular_open(path, O_RDONLY, NULL);
	_cleanup_(fclosep) FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[PATH_MAX + 64], *rest = line, *word;

	if (!f || !fgets(line, sizeof(line), f) || strncmp(line, "#!", 2) != 0)
		return NULL;
	rest += 2;
	while ((word = strsep(&rest, " \t\r\n")))
		if (!strncmp(base_of(word), "python", 6))
			return strdup(word);
	return NULL;
}

/* FOLDER/bin/python3, if that can be run. */
static char *python_in(const char *folder)
{
	char *path;

	if (!folder || !*folder || asprintf(&path, "%s/bin/python3", folder) < 0)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* That of the virtual environment which this program lies in, or NULL. */
static char *python_beside(void)
{
	char folder[PATH_MAX], *slash, *mark;
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	bool is_environment;

	for (int up = 0; up < 2; up++) {
		folder[MAX(n, 0)] = '\0';
		slash = strrchr(folder, '/');
		n = slash ? slash - folder : 0;
	}
	folder[n] = '\0';
	if (asprintf(&mark, "%s/pyvenv.cfg", folder) < 0)
		return NULL;
	is_environment = access(mark, R_OK) == 0;
	free(mark);
	return is_environment ? python_in(folder) : NULL;
}

/* pytest's own, where it is named by a path; else that of the environment which is active, of the one that
 * we are in, of the script, and of PATH. Freed by the caller. */
static char *find_python(const char *script)
{
	const char *named = getenv("PROTON_PYTHON");
	char *python = named && *named ? strdup(named) : NULL;

	if (!python && !ends_in(script, ".py"))
		python = shebang_of(script);
	if (!python)
		python = python_in(getenv("VIRTUAL_ENV"));
	if (!python)
		python = python_in(getenv("CONDA_PREFIX"));
	if (!python)
		python = python_beside();
	if (!python)
		python = shebang_of(script);
	return python ? python : strdup("python3");
}

/* ---- the helper ---- */

#define HELPER "python/proton/triton_command.py"

static char *helper_at(const char *folder, const char *rest)
{
	char *path;

	if (asprintf(&path, "%s/%s", folder, rest) < 0)
		return NULL;
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* Beside the library: in a build tree, a wheel, an installation that was moved or not. */
static char *find_helper(void)
{
	static const char *const places[] = {"../" HELPER, "../../" HELPER, "../../../" HELPER,
					     "../../share/proton/" HELPER, "../triton_command.py"};
	_cleanup_(freep) char *library = NULL, *why = NULL;
	char *helper = NULL;

	if (target_library(&library, &why) < 0) {
		complain("cannot find libproton.so: %s", why ? why : "out of memory");
		return NULL;
	}
	*strrchr(library, '/') = '\0';
	for (size_t i = 0; !helper && i < ARRAY_SIZE(places); i++)
		helper = helper_at(library, places[i]);
	if (!helper)
		helper = helper_at(PROTON_DATADIR, HELPER);
	if (!helper)
		complain("cannot find '%s' beside '%s'", HELPER, library);
	return helper;
}

/* ---- the run ---- */

static void fill_options(struct run_options *o, const struct arguments *a,
			 const struct session_mode *mode)
{
	o->rec.quiet = !a->verbose;
	o->rec.verbose = a->verbose;
	o->rec.by_sessions = true;
	o->rec.has_contexts = true;
	if (is_word(a, OPT_CONTEXTS, "python"))
		o->rec.wanted.contexts = CONTEXT_BIT(CONTEXT_PYTHON);
	o->rec.wanted.trace = !looks_inside(a) && is_word(a, OPT_DATA, "trace");
	if (mode->samples) /* from the first kernel on: before the script's session begins */
		o->rec.wanted.backends.pc_sampling = PC_SAMPLING_USUAL;
}

/* INTERPRETER HELPER words -- SCRIPT ARGS; *ret_error: an exit status. */
static char **make_command(char *python, char *helper, const struct arguments *a, int argc,
			   char **argv)
{
	char **command = calloc((size_t)argc + N_WORDS + 3, sizeof(*command));
	size_t n = 0;

	if (!command)
		return NULL;
	command[n++] = python;
	command[n++] = helper;
	for (int i = 0; i < N_WORDS; i++)
		command[n++] = (char *)(a->words[i] ? a->words[i] : "");
	memcpy(command + n, argv, (size_t)argc * sizeof(*argv));
	return command;
}

/* Before anything is begun: a profile of before is not to be replaced for a name that was mistyped. */
static bool is_there(const char *script)
{
	if (!ends_in(script, ".py") || access(script, R_OK) == 0)
		return true;
	complain("cannot open '%s': %s", script, strerror(errno));
	return false;
}

static int run_script(const struct arguments *a, const struct session_mode *mode, int argc,
		      char **argv)
{
	struct run_options o = {.origin = &arg_origin};
	_cleanup_(freep) char *python = find_python(argv[0]), *helper = find_helper();
	_cleanup_(freep) char *output = NULL;
	_cleanup_(freep) char **command = NULL;
	const char *name =
		a->words[OPT_NAME] && *a->words[OPT_NAME] ? a->words[OPT_NAME] : "proton";
	struct run run;
	int r;

	if (!helper)
		return STATUS_OURS;
	if (python && asprintf(&output, "%s.hatchet", name) >= 0)
		command = make_command(python, helper, a, argc, argv);
	if (!command) {
		complain("out of memory");
		return STATUS_OURS;
	}
	fill_options(&o, a, mode);
	o.rec.output = output;
	r = run_prepare(&run, &o, command);
	if (r == 0)
		r = run_record(&run, NSEC_PER_SEC, NULL, NULL);
	run_done(&run);
	return r ? r : run_status(&run, run.rec.wait_status);
}

int cmd_script(int argc, char **argv)
{
	struct arguments a = {0};
	struct session_mode mode = {0};
	int first = options_parse(&command_script, argc, argv, on_option, &a);

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first == argc) {
		complain("which script? (see 'proton script --help')");
		return STATUS_USAGE;
	}
	if (!read_mode(&a, &mode) || !is_there(argv[first]))
		return STATUS_USAGE;
	return run_script(&a, &mode, argc - first, argv + first);
}
