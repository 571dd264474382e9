/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_VENDORS_H
#define PROTON_IMAGES_VENDORS_H
/* Libraries whose kernels are left alone where nobody names them: most have no PTX, and their licences do not like to see
 * them changed.
 *   thread  any */
#include <stdbool.h>

/* By the last part of the path. */
bool image_is_vendors(const char *path);

#endif
