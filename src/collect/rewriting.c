/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/rewriting.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/loaded.h"
#include "base/log.h"
#include "collect/internal.h"
#include "collect/rewriter.h"
#include "core/rewritten.h"
#include "images/images.h"
#include "images/vendors.h"

enum { NAME_MAX_SHOWN = 80 };

static struct {
	_Atomic uint32_t n_modules, n_kernels, n_kept;
	_Atomic uint64_t ns; /* that threads of the program waited */
} rewriting;

static const struct backend_options *wanted(void)
{
	return &collector->control->wanted.backends;
}

/* ---- whose it is ---- */

struct place {
	const void *at;
	const char *path;
};

static int find_library(const struct dl_phdr_info *info, const char *base, void *arg)
{
	struct place *p = arg;

	(void)base;
	if (!loaded_has(info, p->at))
		return 0;
	p->path = info->dlpi_name;
	return 1;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The last part of the name of the file that is loaded there; "": the program; NULL: it is in none. */
static const char *library_at(const void *at)
{
	struct place p = {at, NULL};

	loaded_each("", find_library, &p);
	return p.path ? last_part(p.path) : NULL;
}

/* PyTorch's kernels are thousands. */
static bool is_left_alone(const char *library)
{
	return image_is_vendors(library) || !strncmp(library, "libtorch", strlen("libtorch")) ||
	       !strncmp(library, "libc10", strlen("libc10"));
}

/* ---- what is told ---- */

/* Each line of its own, once. */
static void tell_lines(char *text)
{
	char *line, *rest = text;
	uint32_t n_left = 0;

	while ((line = strsep(&rest, "\n"))) {
		bool is_left = !strncmp(line, REWRITTEN_LEFT, strlen(REWRITTEN_LEFT));

		if (strlen(line) <= strlen(REWRITTEN_LEFT))
			continue;
		n_left += is_left;
		collect_note(is_left ? NOTE_WARNING : NOTE_INFO, line + strlen(REWRITTEN_LEFT));
	}
	lose(LOSS_UNREWRITTEN, n_left);
}

/* of: the file that the module lies in; "": the program; NULL: none. */
static void tell_failure(const char *why, const char *of)
{
	char text[REWRITER_WHY_MAX + NAME_MAX_SHOWN + 64], where[NAME_MAX_SHOWN + 16] = "";

	if (of)
		snprintf(where, sizeof(where), *of ? " of '%.*s'" : " of the program",
			 NAME_MAX_SHOWN, of);
	snprintf(text, sizeof(text), "no scopes within kernels of a module%s: %s", where, why);
	lose(LOSS_UNREWRITTEN, 1);
	collect_note(NOTE_WARNING, text);
}

static void tell_vendors(const char *library)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "kernels of '%.80s' are left without scopes within them (--intra-all)", library);
	collect_note(NOTE_INFO, text);
}

static void count_module(const struct rewrite_job *j, uint64_t ns)
{
	atomic_fetch_add(&rewriting.ns, ns);
	if (!j->out.image)
		return;
	atomic_fetch_add(&rewriting.n_modules, 1);
	atomic_fetch_add(&rewriting.n_kernels, j->head.n_kernels);
	atomic_fetch_add(&rewriting.n_kept, j->head.is_kept != 0);
}

void rewriting_end(void)
{
	uint32_t n = atomic_exchange(&rewriting.n_modules, 0);
	uint32_t n_kernels = atomic_exchange(&rewriting.n_kernels, 0);
	uint32_t n_kept = atomic_exchange(&rewriting.n_kept, 0);
	char text[160];

	if (!n || !collect_on)
		return;
	snprintf(text, sizeof(text),
		 "%u module%s with %u kernels rewritten in %.1f s, %u of them before", n,
		 n == 1 ? "" : "s", n_kernels,
		 (double)atomic_exchange(&rewriting.ns, 0) / NSEC_PER_SEC, n_kept);
	collect_note(NOTE_INFO, text);
}

/* ---- all of it ---- */

static bool find_image(const struct module_load *load, struct rewrite_job *j)
{
	if (load->size)
		j->in = (struct elf_part){load->image, load->size};
	else if (!image_in_memory(load->image, &j->in))
		return rewriter_fail(j, "it is neither PTX nor a cubin nor a fatbin");
	if (j->in.size > REWRITTEN_MOST)
		return rewriter_fail(j, "it has %zu MiB", j->in.size >> 20);
	return true;
}

static void end(struct rewrite_job *j, const char *of)
{
	if (!j->is_done) {
		tell_failure(j->why, of);
		if (j->out.image)
			munmap(j->out.image, j->out.size);
		j->out.image = NULL;
	} else if (j->text) {
		tell_lines(j->text);
	}
}

static bool rewrite(const struct module_load *load, const char *of, struct module_instead *ret)
{
	uint64_t begin_ns = clock_monotonic_ns();
	struct rewrite_job *j = calloc(1, sizeof(*j));

	if (!j) {
		tell_failure("out of memory", of);
		return false;
	}
	j->chip = load->chip;
	j->limit_s = wanted()->intra_s;
	if (find_image(load, j))
		rewriter_run(j);
	end(j, of);
	count_module(j, clock_monotonic_ns() - begin_ns);
	log_debug(1, "rewriting", "%zu bytes: %u kernels, %s", j->in.size, j->head.n_kernels,
		  j->is_done ? "done" : j->why);
	*ret = j->out;
	rewrite_job_free(j);
	return ret->image;
}

bool rewriting_run(const struct module_load *load, struct module_instead *ret)
{
	const char *of = load->file ? last_part(load->file) : library_at(load->image);

	if (of && !wanted()->intra_all && is_left_alone(of)) {
		tell_vendors(of);
		return false;
	}
	return rewrite(load, of, ret);
}

void rewriting_begin(void)
{
	if (wanted()->intra_s)
		rewriter_begin();
}

void rewriting_forked(void)
{
	rewriter_forked();
	atomic_store(&rewriting.n_modules, 0);
	atomic_store(&rewriting.n_kernels, 0);
	atomic_store(&rewriting.n_kept, 0);
	atomic_store(&rewriting.ns, 0);
}
