/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "override/origin.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "images/images.h"
#include "images/ptx_text.h"
#include "override/ptx_lines.h"

/* The number in "sm_90a" or "compute_90"; 0: there is none. */
static unsigned number_of(const char *arch)
{
	size_t at = strcspn(arch, "0123456789");

	return (unsigned)strtoul(arch + at, NULL, 10);
}

/* With a letter it is for that chip alone, or its family. */
static const char *letter_of(const char *arch)
{
	size_t at = strcspn(arch, "0123456789");

	return arch + at + strspn(arch + at, "0123456789");
}

/* How good code for this is on the chip; 0: it does not run there. */
static unsigned worth_of(const struct image *image, unsigned chip)
{
	unsigned number = number_of(image->arch);

	if (!chip || number == chip)
		return number ? number : 1;
	if (number > chip || *letter_of(image->arch))
		return 0;
	/* A cubin runs on later chips of its generation. */
	return image->kind == IMAGE_PTX || number / 10 == chip / 10 ? number : 0;
}

static const struct image *best(const struct images *images, enum image_kind kind, unsigned chip)
{
	const struct image *found = NULL;

	for (size_t i = 0; i < images->n; i++) {
		const struct image *image = &images->v[i];

		if (image->kind == kind && worth_of(image, chip) &&
		    (!found || worth_of(image, chip) > worth_of(found, chip)))
			found = image;
	}
	return found;
}

static struct elf_part ptx_of(const struct origin *o)
{
	return (struct elf_part){(const uint8_t *)o->ptx.data, o->ptx.len};
}

/* PTX with a letter is assembled for that chip alone. */
static void name_arch(struct origin *o, unsigned chip)
{
	char is_for[IMAGE_ARCH_MAX];
	unsigned number;

	ptx_text_arch(ptx_of(o), is_for);
	number = number_of(is_for);
	snprintf(o->arch, sizeof(o->arch), "sm_%u%.2s", chip ? chip : number,
		 !chip || chip == number ? letter_of(is_for) : "");
}

/* -ENOENT: it holds none. */
static int take_cubin(const struct image *image, struct origin *o)
{
	int r = image_open(image, &o->cubin);

	if (r == 0)
		r = image_kernels(image, o->cubin.part, &o->before);
	if (r == 0)
		r = cubin_ptx(o->cubin.part, &o->ptx);
	return r == 0 ? ptx_lines_put(o->cubin.part, &o->ptx) : r;
}

static int take_ptx(const struct image *image, struct origin *o)
{
	struct image_content content;
	int r = image_open(image, &content);

	if (r < 0)
		return r;
	buf_clear(&o->ptx);
	buf_put(&o->ptx, content.part.at, content.part.size);
	image_content_done(&content);
	if (!o->before.n)
		r = image_kernels(image, ptx_of(o), &o->before);
	return r < 0 ? r : o->ptx.error;
}

static int take(const struct images *images, unsigned chip, struct origin *o)
{
	const struct image *cubin = best(images, IMAGE_CUBIN, chip),
			   *ptx = best(images, IMAGE_PTX, chip);
	int r = cubin ? take_cubin(cubin, o) : -ENOENT;

	/* What a cubin holds says no lines, which PTX beside it may. */
	if (ptx && (r == -ENOENT || (r == 0 && number_of(ptx->arch) == number_of(cubin->arch))))
		r = take_ptx(ptx, o);
	else if (r == -ENOENT)
		r = -ENODATA;
	if (r == 0)
		name_arch(o, chip);
	return r;
}

int origin_find(struct elf_part module, unsigned chip, struct origin *ret)
{
	struct images images = {0};
	int r;

	*ret = (struct origin){.arch = ""};
	r = images_find(module.at, module.size, &images);
	if (r == 0)
		r = take(&images, chip, ret);
	images_done(&images);
	return r;
}

void origin_done(struct origin *o)
{
	buf_done(&o->ptx);
	image_content_done(&o->cubin);
	image_kernels_done(&o->before);
}
