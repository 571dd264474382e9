/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/image.h"
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"
#include "images/lz4.h"
#include "images/zstd.h"

enum { IMAGES_MAX = 1 << 20 };

const char *image_kind_name(enum image_kind kind)
{
	static const char *const names[N_IMAGE_KINDS] = {
		[IMAGE_PTX] = "ptx", [IMAGE_CUBIN] = "cubin", [IMAGE_LTO] = "lto"};

	return names[kind];
}

int images_add(struct images *images, const struct image *image)
{
	if (images->n >= IMAGES_MAX)
		return -EFBIG;
	if (ARRAY_ROOM(images->v, images->cap, images->n + 1) < 0)
		return -ENOMEM;
	images->v[images->n++] = *image;
	return 0;
}

void images_done(struct images *images)
{
	free(images->v);
	*images = (struct images){0};
}

static int unpack(const struct image *image, uint8_t *out)
{
	struct elf_part in = image->stored;

	if (image->packing == IMAGE_ZSTD)
		return zstd_unpack(in.at, in.size, out, image->size);
	return lz4_unpack(in.at, in.size, out, image->size) ? 0 : -EBADMSG;
}

static struct elf_part without_zeros(struct elf_part text)
{
	while (text.size && !text.at[text.size - 1])
		text.size--;
	return text;
}

int image_open(const struct image *image, struct image_content *ret)
{
	struct image_content c = {.part = image->stored};
	int r;

	if (image->packing != IMAGE_RAW) {
		c.owned = malloc(image->size + 1);
		if (!c.owned)
			return -ENOMEM;
		r = unpack(image, (uint8_t *)c.owned);
		if (r < 0) {
			free(c.owned);
			return r;
		}
		c.part = (struct elf_part){(const uint8_t *)c.owned, image->size};
	}
	if (image->kind == IMAGE_PTX)
		c.part = without_zeros(c.part);
	*ret = c;
	return 0;
}

void image_content_done(struct image_content *content)
{
	free(content->owned);
	*content = (struct image_content){0};
}
