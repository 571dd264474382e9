/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Where the single scopes of a profile are: in its file, or in the one beside it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/chrome.h"
#include "format/gunzip.h"
#include "format/warps.h"
#include "intra/warp_file.h"

#define FREQUENCY                                                                                  \
	"\"Frequency (MHz)\"" /* has each event of a trace of scopes within kernels, and no other one */

struct load {
	struct warp_trace *t;
	struct warps_said *said;
};

static int read_plain(struct reader_input *in, void *ctx, struct format_error *error)
{
	const struct load *load = ctx;
	int r = reader_peek(in);

	if (r < 0)
		return format_fail_code(error, r);
	if (warps_detect(in->head, in->head_len))
		return warps_read_trace(in, load->t, load->said, error);
	if (chrome_detect(in->head, in->head_len) &&
	    memmem(in->head, in->head_len, FREQUENCY, strlen(FREQUENCY)))
		return chrome_read_warps(in, load->t, error);
	return -ENODATA;
}

static int load_file(const char *path, const struct load *load, struct format_error *error)
{
	_cleanup_(closep) int fd = reader_open(path);
	struct reader_input in;

	if (fd < 0)
		return format_fail_code(error, fd);
	reader_init_fd(&in, fd);
	return gunzip_through(&in, read_plain, (void *)load, error);
}

int warps_load(const char *path, struct warp_trace *t, struct warps_said *ret_said, char **ret_path,
	       struct format_error *error)
{
	const struct load load = {t, ret_said};
	char *beside = warp_file_beside(path);
	int r = -ENOMEM;

	*error = (struct format_error){.offset = FORMAT_NO_OFFSET};
	*ret_said = (struct warps_said){0};
	*ret_path = beside ? strdup(path) : NULL;
	if (*ret_path)
		r = strcmp(path, "-") ? load_file(path, &load, error) : -ENODATA;
	if (r == -ENODATA && strcmp(path, beside) != 0 && access(beside, F_OK) == 0) {
		free(*ret_path);
		*ret_path = beside;
		beside = NULL;
		r = load_file(*ret_path, &load, error);
	}
	if (r == -ENOMEM && !error->code)
		format_fail_code(error, r);
	free(beside);
	return r == 0 && !t->n_launches && !t->n_left_out ? -ENODATA : r;
}
