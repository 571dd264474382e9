/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_FIT_H
#define PROTON_NAMING_FIT_H
/* Names of C++ in a column that is too narrow for them: namespaces go first, then arguments that say
 * less than the functor, then the end of the function's name.
 *
 *     at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>
 *     vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>
 *     vectorized_elementwise_kernel<…CUDAFunctor_add<float>>
 *     vectorized_el…<…CUDAFunctor_add<float>>
 *
 *   thread  any */
#include <stddef.h>

struct buf;

/* The name for so many columns: the text itself, its end, or a text in `scratch`. It may still be
 * too wide, as any other text, which comes back as it is. */
const char *fit_name(const char *name, size_t columns, const char *dots, struct buf *scratch);

#endif
