/* SPDX-License-Identifier: MIT */
/* ompt_abi.h against LLVM's own header: every type and number that we use. */
#include "config.h" // IWYU pragma: keep

#include <stdio.h>

#include "backends/ompt_abi.h"

#ifdef OMP_TOOLS_H
#include OMP_TOOLS_H

#define SAME(ours, theirs) _Static_assert((uint64_t)(ours) == (uint64_t)(theirs), #ours)

SAME(ABI_SET_SOMETIMES, ompt_set_sometimes);
SAME(ABI_PARALLEL_BEGIN, ompt_callback_parallel_begin);
SAME(ABI_PARALLEL_END, ompt_callback_parallel_end);
SAME(ABI_DEVICE_INITIALIZE, ompt_callback_device_initialize);
SAME(ABI_TARGET, ompt_callback_target_emi);
SAME(ABI_TARGET_DATA_OP, ompt_callback_target_data_op_emi);
SAME(ABI_TARGET_SUBMIT, ompt_callback_target_submit_emi);
SAME(ABI_BEGIN, ompt_scope_begin);
SAME(ABI_END, ompt_scope_end);
SAME(ABI_TARGET_REGION, ompt_target);
SAME(ABI_TARGET_ENTER_DATA, ompt_target_enter_data);
SAME(ABI_TARGET_EXIT_DATA, ompt_target_exit_data);
SAME(ABI_TARGET_UPDATE, ompt_target_update);
SAME(ABI_TARGET_ENTER_DATA | ABI_TARGET_NOWAIT, ompt_target_enter_data_nowait);
SAME(ABI_TARGET_UPDATE | ABI_TARGET_NOWAIT, ompt_target_update_nowait);
SAME(ABI_TO_DEVICE, ompt_target_data_transfer_to_device);
SAME(ABI_FROM_DEVICE, ompt_target_data_transfer_from_device);
SAME(ABI_TO_DEVICE | ABI_ASYNC, ompt_target_data_transfer_to_device_async);
SAME(ABI_FROM_DEVICE | ABI_ASYNC, ompt_target_data_transfer_from_device_async);
SAME(ABI_LEAGUE, ompt_parallel_league);

SAME(sizeof(union ompt_word), sizeof(ompt_data_t));
SAME(sizeof(struct ompt_tool), sizeof(ompt_start_tool_result_t));
SAME(offsetof(struct ompt_tool, initialize), offsetof(ompt_start_tool_result_t, initialize));
SAME(offsetof(struct ompt_tool, finalize), offsetof(ompt_start_tool_result_t, finalize));
SAME(offsetof(struct ompt_tool, word), offsetof(ompt_start_tool_result_t, tool_data));

/* What callbacks are given, in order; enumerations are as wide as our ints. */
#define TAKES(callback, ...)                                                                       \
	_Static_assert(__builtin_types_compatible_p(callback, void (*)(__VA_ARGS__)), #callback)

TAKES(ompt_callback_parallel_begin_t, ompt_data_t *, const ompt_frame_t *, ompt_data_t *, unsigned,
      int, const void *);
TAKES(ompt_callback_parallel_end_t, ompt_data_t *, ompt_data_t *, int, const void *);
TAKES(ompt_callback_device_initialize_t, int, const char *, ompt_device_t *, ompt_function_lookup_t,
      const char *);
TAKES(ompt_callback_target_emi_t, ompt_target_t, ompt_scope_endpoint_t, int, ompt_data_t *,
      ompt_data_t *, ompt_data_t *, const void *);
TAKES(ompt_callback_target_data_op_emi_t, ompt_scope_endpoint_t, ompt_data_t *, ompt_data_t *,
      ompt_id_t *, ompt_target_data_op_t, void *, int, void *, int, size_t, const void *);
TAKES(ompt_callback_target_submit_emi_t, ompt_scope_endpoint_t, ompt_data_t *, ompt_id_t *,
      unsigned);
SAME(sizeof(ompt_target_t), sizeof(int));
SAME(sizeof(ompt_scope_endpoint_t), sizeof(int));
SAME(sizeof(ompt_target_data_op_t), sizeof(int));
SAME(sizeof(ompt_callbacks_t), sizeof(int));
SAME(sizeof(ompt_set_result_t), sizeof(int));
SAME(sizeof(ompt_id_t), sizeof(uint64_t));

int main(void)
{
	printf("ompt_abi.h agrees with " OMP_TOOLS_H "\n");
	return 0;
}

#else

int main(void)
{
	printf("skipped: configure found no omp-tools.h of OpenMP 5.1 to compare with\n");
	return 77;
}

#endif
