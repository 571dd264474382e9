/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/kernel_wait.h"
#include "report/progress.h"

static void show(void *data, unsigned ms)
{
	progress_at(data, ms / 1000);
}

int kernel_assemble_shown(struct elf_part ptx, const struct assemble_options *options,
			  struct assembled *ret)
{
	struct assemble_options shown = *options;
	struct progress progress = {.what = "assembling", .unit = " s at most"};
	const struct probe_waiting waiting = {show, &progress};
	int r;

	shown.waiting = &waiting;
	shown.limit_ms = shown.limit_ms ? shown.limit_ms : ASSEMBLE_MS;
	progress.n = shown.limit_ms / 1000;
	r = image_assemble(ptx, &shown, ret);
	progress_done(&progress);
	return r;
}
