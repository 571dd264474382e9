/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_KERNEL_ROWS_H
#define PROTON_CMD_KERNEL_ROWS_H
/* Printing images and their kernels, as text or as JSON, with which of them have no PTX.
 *   thread  one */
#include <stdbool.h>
#include "images/images.h"

struct kernel_rows;

struct kernel_row {
	size_t number; /* of the image in its file, from 1 on */
	const struct image *image;
	struct elf_part content;
	bool is_within;      /* PTX that the image before it holds */
	const char *written; /* the file that it was written to; NULL: none */
};

struct kernel_rows *kernel_rows_new(bool json); /* NULL: no memory */
/* A file begins, and ends: its images come between. Nothing is printed of one without. */
void kernel_rows_file(struct kernel_rows *rows, const char *path, size_t n_images);
void kernel_rows_file_end(struct kernel_rows *rows);
/* Print it if is_shown; either way it is known what it has. 0; -EBADMSG: it is broken; -ENOMEM. */
int kernel_rows_add(struct kernel_rows *rows, const struct kernel_row *row, bool is_shown);
/* What is printed is out: 0 or -errno. */
int kernel_rows_done(struct kernel_rows *rows);

#endif
