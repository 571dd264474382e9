/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/kernel_rows.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/strtab.h"
#include "base/util.h"
#include "format/json_writer.h"
#include "naming/brief.h"
#include "naming/readable.h"
#include "report/print_line.h"

/* What of a kernel is there, in a file. */
enum { HAS_CODE = 1, HAS_PTX = 2 };

/* How images are written, one table for each form. */
struct form {
	void (*file)(struct kernel_rows *rows, const char *path, size_t n_images);
	void (*image)(struct kernel_rows *rows, const struct kernel_row *row,
		      const struct image_kernels *kernels);
	void (*file_end)(struct kernel_rows *rows, size_t n_kernels, size_t n_without,
			 const char *without);
	int (*done)(struct kernel_rows *rows);
};

struct kernel_rows {
	const struct form *form;
	struct strtab *names; /* of kernels of the file */
	uint8_t *has;         /* by name */
	size_t cap;
	struct out *out; /* of JSON */
	struct json_writer json;
};

/* ---- which have PTX ---- */

static int remember(struct kernel_rows *rows, const struct image_kernel *k, uint8_t what)
{
	uint32_t n = strtab_count(rows->names), id = strtab_add(rows->names, k->name, k->name_len);

	if (id == STRTAB_NONE || ARRAY_ROOM(rows->has, rows->cap, id + 1u) < 0)
		return -ENOMEM;
	if (id >= n)
		rows->has[id] = 0;
	rows->has[id] |= what;
	return 0;
}

/* The first kernel without PTX, and how many there are. */
static const char *first_without(const struct kernel_rows *rows, size_t *ret_n_kernels,
				 size_t *ret_n)
{
	const char *first = NULL;

	*ret_n_kernels = *ret_n = 0;
	for (uint32_t id = 1; id < strtab_count(rows->names); id++) {
		*ret_n_kernels += 1;
		if (rows->has[id] != HAS_CODE)
			continue;
		*ret_n += 1;
		first = first ? first : strtab_str(rows->names, id);
	}
	return first;
}

/* ---- text ---- */

static void text_file(struct kernel_rows *rows, const char *path, size_t n_images)
{
	(void)rows;
	print_line(stdout, "%s: %zu image%s", path, n_images, n_images == 1 ? "" : "s");
}

static char *shown_name(const char *raw)
{
	return readable_name(raw, FRAME_KERNEL, BRIEF_TYPED);
}

static void text_kernel(const struct image_kernel *k)
{
	_cleanup_(freep) char *raw = strndup(k->name, k->name_len);
	_cleanup_(freep) char *name = raw ? shown_name(raw) : NULL;

	if (!raw)
		return;
	if (k->is_assembled)
		print_line(stdout, "    %4u %7llu %6llu %7llu  %s", k->registers,
			   (unsigned long long)k->shared_bytes, (unsigned long long)k->local_bytes,
			   (unsigned long long)k->code_bytes, name ? name : raw);
	else
		print_line(stdout, "    %4s %7s %6s %7s  %s", "-", "-", "-", "-",
			   name ? name : raw);
}

static void text_image(struct kernel_rows *rows, const struct kernel_row *row,
		       const struct image_kernels *kernels)
{
	(void)rows;
	print_line(stdout, "  %zu: %s %s%s, %zu bytes%s%s", row->number,
		   image_kind_name(row->image->kind), row->image->arch,
		   row->is_within ? ", within the cubin" : "", row->content.size,
		   row->written ? ", written to " : "", row->written ? row->written : "");
	if (kernels->n)
		printf("    regs  shared  local    code  kernel\n");
	for (size_t i = 0; i < kernels->n; i++)
		text_kernel(&kernels->v[i]);
}

static void text_file_end(struct kernel_rows *rows, size_t n_kernels, size_t n_without,
			  const char *without)
{
	_cleanup_(freep) char *name = n_without ? shown_name(without) : NULL;

	(void)rows;
	if (n_without)
		print_line(
			stdout,
			"  %zu of %zu kernels ha%s no PTX%s%s%s: compile with -lineinfo, or for a compute_NN as well",
			n_without, n_kernels, n_without == 1 ? "s" : "ve",
			n_without < n_kernels ? " (" : "",
			n_without < n_kernels ? name ? name : without : "",
			n_without < n_kernels ? ")" : "");
}

static int text_done(struct kernel_rows *rows)
{
	(void)rows;
	return 0;
}

static const struct form text = {text_file, text_image, text_file_end, text_done};

/* ---- JSON ---- */

static void json_file(struct kernel_rows *rows, const char *path, size_t n_images)
{
	(void)n_images;
	jsonw_object(&rows->json);
	jsonw_key_text(&rows->json, "file", path);
	jsonw_key_array(&rows->json, "images");
}

static void json_kernel(struct json_writer *w, const struct image_kernel *k)
{
	jsonw_object_flat(w);
	jsonw_key(w, "name");
	jsonw_string(w, k->name, k->name_len);
	if (k->is_assembled) {
		jsonw_key_u64(w, "registers", k->registers);
		jsonw_key_u64(w, "shared_bytes", k->shared_bytes);
		jsonw_key_u64(w, "local_bytes", k->local_bytes);
		jsonw_key_u64(w, "code_bytes", k->code_bytes);
	}
	jsonw_object_end(w);
}

static void json_image(struct kernel_rows *rows, const struct kernel_row *row,
		       const struct image_kernels *kernels)
{
	struct json_writer *w = &rows->json;

	jsonw_object(w);
	jsonw_key_u64(w, "number", row->number);
	jsonw_key_text(w, "kind", image_kind_name(row->image->kind));
	jsonw_key_text(w, "arch", row->image->arch);
	jsonw_key_u64(w, "bytes", row->content.size);
	jsonw_key(w, "within_cubin");
	jsonw_bool(w, row->is_within);
	if (row->image->kind == IMAGE_CUBIN)
		jsonw_key_text(w, "options", cubin_options(row->content));
	if (row->written)
		jsonw_key_text(w, "written", row->written);
	jsonw_key_array(w, "kernels");
	for (size_t i = 0; i < kernels->n; i++)
		json_kernel(w, &kernels->v[i]);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

static void json_file_end(struct kernel_rows *rows, size_t n_kernels, size_t n_without,
			  const char *without)
{
	(void)without;
	jsonw_array_end(&rows->json);
	jsonw_key_u64(&rows->json, "kernels", n_kernels);
	jsonw_key_u64(&rows->json, "kernels_without_ptx", n_without);
	jsonw_object_end(&rows->json);
}

static int json_done(struct kernel_rows *rows)
{
	jsonw_array_end(&rows->json);
	jsonw_object_end(&rows->json);
	out_putc(rows->out, '\n');
	return out_end(rows->out, 0);
}

static const struct form json = {json_file, json_image, json_file_end, json_done};

/* ---- either ---- */

struct kernel_rows *kernel_rows_new(bool as_json)
{
	struct kernel_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	rows->form = as_json ? &json : &text;
	rows->out = as_json ? out_new(STDOUT_FILENO) : NULL;
	if (as_json && !rows->out) {
		free(rows);
		return NULL;
	}
	if (as_json) {
		jsonw_init(&rows->json, rows->out, false);
		jsonw_object(&rows->json);
		jsonw_key_array(&rows->json, "files");
	}
	return rows;
}

void kernel_rows_file(struct kernel_rows *rows, const char *path, size_t n_images)
{
	rows->names = strtab_new();
	rows->form->file(rows, path, n_images);
}

void kernel_rows_file_end(struct kernel_rows *rows)
{
	size_t n_kernels = 0, n_without = 0;
	const char *without = rows->names ? first_without(rows, &n_kernels, &n_without) : NULL;

	rows->form->file_end(rows, n_kernels, n_without, without);
	rows->names = strtab_free(rows->names);
}

int kernel_rows_add(struct kernel_rows *rows, const struct kernel_row *row, bool is_shown)
{
	struct image_kernels kernels;
	int r = rows->names ? image_kernels(row->image, row->content, &kernels) : -ENOMEM;

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < kernels.n; i++)
		r = remember(rows, &kernels.v[i],
			     row->image->kind == IMAGE_PTX ? HAS_PTX : HAS_CODE);
	if (r == 0 && is_shown)
		rows->form->image(rows, row, &kernels);
	image_kernels_done(&kernels);
	return r;
}

int kernel_rows_done(struct kernel_rows *rows)
{
	int r = rows->form->done(rows);

	free(rows->has);
	free(rows);
	return r;
}
