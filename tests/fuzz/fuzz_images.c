/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as images of kernels, each of which is opened and looked at; as a block of LZ4; and as a cubin's content.
 * The corpus is tests/fuzz/corpus_images. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "images/images.h"
#include "images/lz4.h"
#include "override/ptx_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { UNPACKED_MAX = 1 << 20 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool is_within(const char *at, size_t n, struct elf_part part)
{
	const char *begin = (const char *)part.at;

	return at >= begin && at <= begin + part.size && n <= (size_t)(begin + part.size - at);
}

/* Names and options lie in the image. */
static void look_at(const struct image *image, struct elf_part content)
{
	struct image_kernels kernels;
	struct buf text = {0};
	const char *options = cubin_options(content);
	int r = image_kernels(image, content, &kernels);

	must(r == 0 || r == -EBADMSG);
	for (size_t i = 0; r == 0 && i < kernels.n; i++)
		must(kernels.v[i].name_len &&
		     is_within(kernels.v[i].name, kernels.v[i].name_len, content));
	if (r == 0)
		image_kernels_done(&kernels);
	must(!*options || is_within(options, strlen(options) + 1, content));
	must(strlen(image->arch) < IMAGE_ARCH_MAX);
	r = cubin_ptx(content, &text);
	must(r == -ENOENT || (r == 0 && text.len <= content.size));
	must(r < 0 || ptx_lines_put(content, &text) == 0);
	buf_done(&text);
}

static void open_image(const struct image *image)
{
	struct image_content content;
	int r;

	if (image->size > UNPACKED_MAX) /* the memory that it may claim is bounded elsewhere */
		return;
	r = image_open(image, &content);
	must(r == 0 || r == -EBADMSG || r == -ENOTSUP);
	if (r < 0)
		return;
	look_at(image, content.part);
	image_content_done(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct images images;
	uint8_t out[4096];
	int r = images_find(data, len, &images);

	must(r == 0 || r == -EBADMSG || r == -ENODATA);
	for (size_t i = 0; r == 0 && i < images.n; i++)
		open_image(&images.v[i]);
	if (r == 0)
		images_done(&images);
	(void)lz4_unpack(data, len, out, sizeof(out));
	return 0;
}
