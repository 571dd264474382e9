/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/target_env.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include "wire/control.h"

#define ONLY_PID_DIGITS "          " /* room for any pid, filled in after fork */

/* ---- the list under construction ---- */

struct builder {
	struct target_env env;
	size_t n_vars;
	int error;
};

static size_t count_vars(char *const *vars)
{
	size_t n = 0;

	while (vars[n])
		n++;
	return n;
}

/* "NAME=value" of this name; NULL: not set. */
static char **find_var(const struct builder *b, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < b->n_vars; i++)
		if (!strncmp(b->env.vars[i], name, len) && b->env.vars[i][len] == '=')
			return &b->env.vars[i];
	return NULL;
}

/* The value; "" when not set. */
static const char *get_var(const struct builder *b, const char *name)
{
	char **var = find_var(b, name);

	return var ? *var + strlen(name) + 1 : "";
}

/* Steals text ("NAME=value" or NULL). Room was made at the start. */
static void put_var(struct builder *b, const char *name, char *text)
{
	char **var = find_var(b, name);

	if (!text) {
		b->error = -ENOMEM;
		return;
	}
	if (var) {
		free(*var);
		*var = text;
	} else {
		b->env.vars[b->n_vars++] = text;
	}
}

static void set_var(struct builder *b, const char *name, const char *value)
{
	char *text;

	put_var(b, name, asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text);
}

static void _printf_(2, 3) add_note(struct builder *b, const char *format, ...)
{
	char **notes = realloc(b->env.notes, (b->env.n_notes + 1) * sizeof(*notes)), *text;
	va_list ap;

	if (!notes) {
		b->error = -ENOMEM;
		return;
	}
	b->env.notes = notes;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		b->error = -ENOMEM;
	else
		notes[b->env.n_notes++] = text;
	va_end(ap);
}

/* ---- the doors ---- */

/* What a program that profiles itself in Python names is there in its own process alone (python/proton/profile.py). */
static bool is_of_another_process(const char *library)
{
	static const char prefix[] = "/proc/self/task/";

	return !strncmp(library, prefix, sizeof(prefix) - 1);
}

/* A variable that can name one tool only: never taken from another one. */
static void open_injection(struct builder *b, const char *name, const char *library,
			   const char *unseen)
{
	const char *value = get_var(b, name);

	if (*value && strcmp(value, library) != 0 && !is_of_another_process(value))
		add_note(b, "%s already names '%s' and is left alone: %s", name, value, unseen);
	else
		set_var(b, name, library);
}

/* Is entry among the parts of list? */
static bool list_has(const char *list, const char *separators, const char *entry)
{
	size_t entry_len = strlen(entry);

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, separators);

		if (len == entry_len && !strncmp(p, entry, len))
			return true;
		p += len + (p[len] != '\0');
	}
	return false;
}

/* Append to a list; once is enough (proton under proton). */
static void append_var(struct builder *b, const char *name, const char *separators,
		       const char *library)
{
	const char *value = get_var(b, name);
	char *text;

	if (strpbrk(library, separators)) {
		add_note(b, "%s is left out: it cannot hold the path '%s'", name, library);
		return;
	}
	if (list_has(value, separators, library))
		return;
	put_var(b, name,
		asprintf(&text, "%s=%s%s%s", name, value, *value ? ":" : "", library) < 0 ? NULL
											  : text);
}

/* Why this program must not be given a preloaded library; NULL: it may. */
static const char *why_no_preload(unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *why;
	} reasons[] = {
		/* The loader would print an error, as the collector has 64 bits. Of a 32-bit
		 * program that a 64-bit one starts we know nothing: there it does. */
		{TARGET_32BIT, "is a 32-bit program"},
		{TARGET_FOREIGN, "is a program for another processor"},
		{TARGET_SETID, "changes its user or privileges, and the loader then ignores it"},
		{TARGET_STATIC, "is statically linked"},
		{TARGET_MUSL, "uses another C library (musl)"},
		{TARGET_ASAN, "is built with AddressSanitizer, whose runtime must come first"},
		{TARGET_TSAN, "is built with ThreadSanitizer, whose runtime must come first"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (flags & reasons[i].flag)
			return reasons[i].why;
	return NULL;
}

/* A program with AddressSanitizer that our target starts would refuse to run behind a preloaded
 * library. Ours stands before its runtime but defines nothing that the runtime replaces. */
static void allow_asan(struct builder *b)
{
	static const char option[] = "verify_asan_link_order";
	const char *value = get_var(b, "ASAN_OPTIONS");
	char *text;

	if (strstr(value, option))
		return;
	put_var(b, "ASAN_OPTIONS",
		asprintf(&text, "ASAN_OPTIONS=%s%s%s=0", value, *value ? ":" : "", option) < 0
			? NULL
			: text);
}

/* Each backend's own. */
static void open_backends(struct builder *b, const struct target_env_options *o)
{
	static const struct {
		const char *variable, *unseen;
	} doors[] = {
#define _(id, name, door, word, title, variable, unseen, about) [SOURCE_##id] = {variable, unseen},
		BACKENDS_OF_USERS(_)
#undef _
	};

	for (size_t i = 0; i < ARRAY_SIZE(doors); i++) {
		if (o->backends_off >> i & 1)
			continue;
		if (doors[i].unseen)
			open_injection(b, doors[i].variable, o->library, doors[i].unseen);
		else
			append_var(b, doors[i].variable, ":", o->library);
	}
}

static void open_preload(struct builder *b, const struct target_env_options *o)
{
	const char *why = o->image ? why_no_preload(o->image->flags) : NULL;

	if (o->no_preload)
		return;
	if (why)
		add_note(b, "LD_PRELOAD is left out: '%s' %s", o->image->path, why);
	else
		append_var(b, "LD_PRELOAD", ": \t\n", o->library);
	if (list_has(get_var(b, "LD_PRELOAD"), ": \t\n", o->library))
		allow_asan(b);
}

/* With no_follow only the process that we fork is looked at, and it knows itself by its pid. */
static void set_only_pid(struct builder *b, bool no_follow)
{
	char **var = find_var(b, "PROTON_ONLY_PID");

	if (no_follow) {
		set_var(b, "PROTON_ONLY_PID", ONLY_PID_DIGITS);
		var = find_var(b, "PROTON_ONLY_PID");
		b->env.only_pid = var ? *var + strlen("PROTON_ONLY_PID=") : NULL;
	} else if (var) { /* of a proton around us */
		free(*var);
		*var = b->env.vars[--b->n_vars];
		b->env.vars[b->n_vars] = NULL;
	}
}

/* ---- all of it ---- */

static int copy_base(struct builder *b, char *const *base)
{
	size_t n = count_vars(base);

	b->env.vars = calloc(n + 16, sizeof(*b->env.vars)); /* a dozen of ours, and the NULL */
	if (!b->env.vars)
		return -ENOMEM;
	for (; b->n_vars < n; b->n_vars++) {
		b->env.vars[b->n_vars] = strdup(base[b->n_vars]);
		if (!b->env.vars[b->n_vars])
			return -ENOMEM;
	}
	return 0;
}

int target_env_build(const struct target_env_options *o, char *const *base,
		     struct target_env *ret_env)
{
	struct builder b = {0};

	b.error = copy_base(&b, base);
	if (b.error == 0) {
		set_var(&b, CONTROL_ENV, o->session);
		set_var(&b, "PROTON_LIBRARY", o->library);
		open_backends(&b, o);
		open_injection(&b, "NVTX_INJECTION64_PATH", o->library, "NVTX ranges are not seen");
		open_preload(&b, o);
		set_only_pid(&b, o->no_follow);
		if (o->early)
			set_var(&b, "PROTON_EARLY", "1");
	}
	if (b.error < 0) {
		target_env_done(&b.env);
		return b.error;
	}
	*ret_env = b.env;
	return 0;
}

void target_env_done(struct target_env *env)
{
	for (size_t i = 0; env->vars && env->vars[i]; i++)
		free(env->vars[i]);
	for (size_t i = 0; i < env->n_notes; i++)
		free(env->notes[i]);
	free(env->vars);
	free(env->notes);
	*env = (struct target_env){0};
}
