/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/rules.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* Sorted by name. */
struct named_rule {
	const char *name;
	enum rule rule;
};

/* clang-format off */
static const struct named_rule rules[] = {
	{"AgentWarpReducePolicy", RULE_NOISE}, /* CUB, Thrust */
	{"AlignedArray", RULE_NOISE}, /* CUTLASS */
	{"Array", RULE_NOISE}, /* PyTorch */
	{"BFloat16", RULE_ELEMENT},
	{"BlockToCTileMap_Grouped_M00_N0_M01Adapt", RULE_NOISE}, /* Composable Kernel */
	{"BlockToCTileMap_KSplit_M00_N00_M01_N01", RULE_NOISE}, /* Composable Kernel */
	{"BlockToCTileMap_KSplit_M00_N0_M01Adapt", RULE_NOISE}, /* Composable Kernel */
	{"BlockToCTileMap_M00_N00_M01_N01", RULE_NOISE}, /* Composable Kernel */
	{"BlockToCTileMap_M00_N0_M01Adapt", RULE_NOISE}, /* Composable Kernel */
	{"C", RULE_CONSTANT}, /* CUTLASS */
	{"CPUGeneratorImpl", RULE_NOISE}, /* PyTorch */
	{"CUDAGeneratorImpl", RULE_NOISE}, /* PyTorch */
	{"CUDAKernelLauncher", RULE_NOISE}, /* PyTorch */
	{"CacheModifiedInputIterator", RULE_POINTER}, /* CUB, Thrust */
	{"CollectiveEpilogue", RULE_NOISE}, /* CUTLASS */
	{"CollectiveMma", RULE_SPLICED}, /* CUTLASS */
	{"ComposedLayout", RULE_NOISE}, /* CUTLASS */
	{"ComputePtrOffsetOfStridedBatch", RULE_NOISE}, /* Composable Kernel */
	{"ConstantInputIterator", RULE_NOISE}, /* CUB, Thrust */
	{"Copy_Atom", RULE_NOISE}, /* CUTLASS */
	{"CountingInputIterator", RULE_NOISE}, /* CUB, Thrust */
	{"DefaultThreadMapTensorOp", RULE_NOISE}, /* CUTLASS */
	{"DeviceAdjacentDifferencePolicy", RULE_NOISE}, /* CUB, Thrust */
	{"DeviceMergeSortPolicy", RULE_NOISE}, /* CUB, Thrust */
	{"DeviceRadixSortPolicy", RULE_NOISE}, /* CUB, Thrust */
	{"DeviceReducePolicy", RULE_NOISE}, /* CUB, Thrust */
	{"DeviceScanPolicy", RULE_NOISE}, /* CUB, Thrust */
	{"DeviceSelectPolicy", RULE_NOISE}, /* CUB, Thrust */
	{"DiscardOutputIterator", RULE_NOISE}, /* CUB, Thrust */
	{"DummyVec", RULE_NOISE}, /* PyTorch */
	{"EmptyVecKernel", RULE_NOISE}, /* PyTorch */
	{"EpilogueScheduleAuto", RULE_NOISE}, /* CUTLASS */
	{"Flash_kernel_traits", RULE_NOISE}, /* flash-attention */
	{"Float8_e4m3fn", RULE_ELEMENT},
	{"Float8_e4m3fnuz", RULE_ELEMENT},
	{"Float8_e5m2", RULE_ELEMENT},
	{"Float8_e5m2fnuz", RULE_ELEMENT},
	{"FmhaFwdBatchModeKargs", RULE_NOISE}, /* Composable Kernel */
	{"FmhaFwdGroupModeKargs", RULE_NOISE}, /* Composable Kernel */
	{"FusedOptimizerTensorListMetadata", RULE_NOISE}, /* PyTorch */
	{"GemmBatchedIdentityThreadblockSwizzle", RULE_NOISE}, /* CUTLASS */
	{"GemmHorizontalThreadblockSwizzle", RULE_NOISE}, /* CUTLASS */
	{"GemmIdentityThreadblockSwizzle", RULE_NOISE}, /* CUTLASS */
	{"GemmShape", RULE_EXTENT}, /* CUTLASS */
	{"GenericPackedTensorAccessor", RULE_NOISE}, /* PyTorch */
	{"GridQueue", RULE_NOISE}, /* CUB, Thrust */
	{"Half", RULE_ELEMENT},
	{"InputValue", RULE_NOISE}, /* CUB, Thrust */
	{"IntDivider", RULE_NOISE}, /* PyTorch */
	{"Kargs", RULE_NOISE}, /* Composable Kernel */
	{"KernelCoeffs", RULE_NOISE}, /* cuBLAS */
	{"Layout", RULE_NOISE}, /* CUTLASS */
	{"LoadWithCast", RULE_NOISE}, /* PyTorch */
	{"LoadWithoutCast", RULE_NOISE}, /* PyTorch */
	{"MMA_Atom", RULE_NOISE}, /* CUTLASS */
	{"MatrixShape", RULE_EXTENT}, /* CUTLASS */
	{"NullType", RULE_NOISE}, /* CUB, Thrust */
	{"OffsetCalculator", RULE_NOISE}, /* PyTorch */
	{"OutputTileShape", RULE_EXTENT}, /* CUTLASS */
	{"PackedTensorAccessor32", RULE_NOISE}, /* PyTorch */
	{"PackedTensorAccessor64", RULE_NOISE}, /* PyTorch */
	{"PassThrough", RULE_NOISE}, /* Composable Kernel */
	{"PersistentScheduler", RULE_NOISE}, /* CUTLASS */
	{"PhiloxCudaState", RULE_NOISE}, /* PyTorch */
	{"PitchLinearShape", RULE_EXTENT}, /* CUTLASS */
	{"PitchLinearStripminedThreadMap", RULE_NOISE}, /* CUTLASS */
	{"PitchLinearWarpRakedThreadMap", RULE_NOISE}, /* CUTLASS */
	{"PredicatedTileAccessIterator", RULE_NOISE}, /* CUTLASS */
	{"PredicatedTileIterator", RULE_NOISE}, /* CUTLASS */
	{"ReduceByKeyScanTileState", RULE_NOISE}, /* CUB, Thrust */
	{"ReduceOp", RULE_WRAPPER}, /* PyTorch */
	{"RegularTileAccessIterator", RULE_NOISE}, /* CUTLASS */
	{"RegularTileIterator", RULE_NOISE}, /* CUTLASS */
	{"SM90_TMA_LOAD", RULE_NOISE}, /* CUTLASS */
	{"SM90_TMA_LOAD_MULTICAST", RULE_NOISE}, /* CUTLASS */
	{"SM90_TMA_STORE", RULE_NOISE}, /* CUTLASS */
	{"ScanTileState", RULE_NOISE}, /* CUB, Thrust */
	{"Sequence", RULE_EXTENT}, /* CUTLASS */
	{"Shape", RULE_EXTENT}, /* CUTLASS */
	{"StoreWithCast", RULE_NOISE}, /* PyTorch */
	{"StoreWithoutCast", RULE_NOISE}, /* PyTorch */
	{"Swizzle", RULE_NOISE}, /* CUTLASS */
	{"TensorDescriptor", RULE_NOISE}, /* Composable Kernel */
	{"TensorInfo", RULE_NOISE}, /* PyTorch */
	{"TensorListMetadata", RULE_NOISE}, /* PyTorch */
	{"TensorListScalarListMetadata", RULE_NOISE}, /* PyTorch */
	{"TiledCopy", RULE_NOISE}, /* CUTLASS */
	{"TiledMMA", RULE_NOISE}, /* CUTLASS */
	{"TransformInputIterator", RULE_WRAPPER}, /* CUB, Thrust */
	{"TransformParamsABC", RULE_NOISE}, /* cuBLAS */
	{"TrivialOffsetCalculator", RULE_NOISE}, /* PyTorch */
	{"Tuple", RULE_NOISE}, /* Composable Kernel */
	{"VSMemHelper", RULE_NOISE}, /* CUB, Thrust */
	{"__half", RULE_ELEMENT},
	{"__half2", RULE_ELEMENT},
	{"__hip_bfloat16", RULE_ELEMENT},
	{"__identity", RULE_NOISE}, /* C++ */
	{"__nv_bfloat16", RULE_ELEMENT},
	{"__nv_bfloat162", RULE_ELEMENT},
	{"__nv_dl_tag", RULE_WRAPPER}, /* nvcc */
	{"__nv_dl_trailing_return_tag", RULE_WRAPPER}, /* nvcc */
	{"__nv_dl_wrapper_t", RULE_WRAPPER}, /* nvcc */
	{"__nv_fp8_e4m3", RULE_ELEMENT},
	{"__nv_fp8_e5m2", RULE_ELEMENT},
	{"__nv_hdl_wrapper_t", RULE_WRAPPER}, /* nvcc */
	{"__transform", RULE_WRAPPER}, /* CUB, Thrust */
	{"allocator", RULE_NOISE}, /* C++ */
	{"always_true_predicate", RULE_NOISE}, /* CUB, Thrust */
	{"array", RULE_NOISE}, /* C++ */
	{"bf16_t", RULE_ELEMENT},
	{"bfloat16_t", RULE_ELEMENT},
	{"bhalf_t", RULE_ELEMENT},
	{"binary_transform_f", RULE_WRAPPER}, /* CUB, Thrust */
	{"block_id_wrapper", RULE_NOISE}, /* rocPRIM */
	{"char_traits", RULE_NOISE}, /* C++ */
	{"comp_target", RULE_NOISE}, /* rocPRIM */
	{"complex", RULE_ELEMENT},
	{"conditional", RULE_NOISE}, /* C++ */
	{"constant", RULE_CONSTANT}, /* CUTLASS */
	{"constant_iterator", RULE_NOISE}, /* CUB, Thrust */
	{"contiguous_iterator", RULE_POINTER}, /* CUB, Thrust */
	{"convert_binary_result_type_wrapper", RULE_WRAPPER}, /* hipCUB */
	{"convert_result_type_wrapper", RULE_WRAPPER}, /* hipCUB */
	{"counting_iterator", RULE_NOISE}, /* CUB, Thrust */
	{"cublasDotParams", RULE_NOISE}, /* cuBLAS */
	{"cublasGemmSmallNParams", RULE_NOISE}, /* cuBLAS */
	{"cublasGemvParamsEx", RULE_NOISE}, /* cuBLAS */
	{"cublasGemvTensor", RULE_NOISE}, /* cuBLAS */
	{"cublasGemvTensorBatched", RULE_NOISE}, /* cuBLAS */
	{"cublasGemvTensorStridedBatched", RULE_NOISE}, /* cuBLAS */
	{"cublasSplitKParams", RULE_NOISE}, /* cuBLAS */
	{"default_config", RULE_NOISE}, /* CUB, Thrust */
	{"default_config_selector", RULE_NOISE}, /* rocPRIM */
	{"default_config_static_selector", RULE_NOISE}, /* rocPRIM */
	{"default_delete", RULE_NOISE}, /* C++ */
	{"device_ptr", RULE_POINTER}, /* CUB, Thrust */
	{"discard_iterator", RULE_NOISE}, /* CUB, Thrust */
	{"distribution_nullary_kernel", RULE_WRAPPER}, /* PyTorch */
	{"double2", RULE_ELEMENT},
	{"empty_problem_init_t", RULE_NOISE}, /* CUB, Thrust */
	{"empty_type", RULE_NOISE}, /* CUB, Thrust */
	{"enable_3x_kernel_for_sm10", RULE_WRAPPER}, /* CUTLASS */
	{"enable_3x_kernel_for_sm9x", RULE_WRAPPER}, /* CUTLASS */
	{"enable_if", RULE_NOISE}, /* C++ */
	{"enable_sm100_only", RULE_WRAPPER}, /* CUTLASS */
	{"enable_sm100f_only", RULE_WRAPPER}, /* vLLM */
	{"enable_sm120_family", RULE_WRAPPER}, /* vLLM */
	{"enable_sm120_only", RULE_WRAPPER}, /* vLLM */
	{"enable_sm75_to_sm80", RULE_WRAPPER}, /* vLLM */
	{"enable_sm80_to_sm89", RULE_WRAPPER}, /* vLLM */
	{"enable_sm89_to_sm90", RULE_WRAPPER}, /* vLLM */
	{"enable_sm90_only", RULE_WRAPPER}, /* CUTLASS */
	{"enable_sm90_or_later", RULE_WRAPPER}, /* CUTLASS */
	{"f8_t", RULE_ELEMENT},
	{"float2", RULE_ELEMENT},
	{"float4", RULE_ELEMENT},
	{"float_e4m3_t", RULE_ELEMENT},
	{"float_e5m2_t", RULE_ELEMENT},
	{"for_each_f", RULE_WRAPPER}, /* CUB, Thrust */
	{"func_wrapper_t", RULE_WRAPPER}, /* PyTorch */
	{"function_traits", RULE_NOISE}, /* PyTorch */
	{"gpu_index_kernel", RULE_WRAPPER}, /* PyTorch */
	{"gpu_kernel", RULE_WRAPPER}, /* PyTorch */
	{"gpu_kernel_impl", RULE_WRAPPER}, /* PyTorch */
	{"gpu_kernel_impl_nocast", RULE_WRAPPER}, /* PyTorch */
	{"gpu_kernel_multiple_outputs_impl", RULE_WRAPPER}, /* PyTorch */
	{"half", RULE_ELEMENT},
	{"half2", RULE_ELEMENT},
	{"half_t", RULE_ELEMENT},
	{"identity", RULE_NOISE}, /* CUTLASS */
	{"identity_decomposer_t", RULE_NOISE}, /* CUB, Thrust */
	{"int8_t", RULE_ELEMENT},
	{"integer_sequence", RULE_NOISE}, /* C++ */
	{"integral_constant", RULE_NOISE}, /* C++ */
	{"no_stencil_tag", RULE_NOISE}, /* CUB, Thrust */
	{"normal_and_transform", RULE_WRAPPER}, /* PyTorch */
	{"normal_iterator", RULE_POINTER}, /* CUB, Thrust */
	{"nv_bfloat16", RULE_ELEMENT},
	{"offset_iterator_t", RULE_NOISE}, /* CUB, Thrust */
	{"offset_t", RULE_NOISE}, /* CUB, Thrust */
	{"pointer", RULE_POINTER}, /* CUB, Thrust */
	{"policy_hub", RULE_NOISE}, /* CUB, Thrust */
	{"sequence", RULE_EXTENT}, /* CUTLASS */
	{"streaming_context_t", RULE_NOISE}, /* CUB, Thrust */
	{"tfloat32_t", RULE_ELEMENT},
	{"transform_input_iterator_t", RULE_WRAPPER}, /* CUB, Thrust */
	{"transform_input_output_iterator", RULE_WRAPPER}, /* CUB, Thrust */
	{"transform_iterator", RULE_WRAPPER}, /* CUB, Thrust */
	{"transform_pair_of_input_iterators_t", RULE_WRAPPER}, /* CUB, Thrust */
	{"tuple", RULE_EXTENT}, /* CUTLASS */
	{"uint8_t", RULE_ELEMENT},
	{"unary_transform_f", RULE_WRAPPER}, /* CUB, Thrust */
	{"uniform_and_transform", RULE_WRAPPER}, /* PyTorch */
	{"use_default", RULE_NOISE}, /* CUB, Thrust */
	{"void", RULE_NOISE}, /* C++ */
};
/* clang-format on */

bool rule_is_basic(const char *word, size_t len)
{
	static const char *const words[] = {"unsigned", "signed", "long",  "short",  "int",
					    "char",     "bool",   "float", "double", "__int128"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && !memcmp(words[i], word, len))
			return true;
	return false;
}

/* There may be more than one such word: "unsigned int". */
static bool is_element(const char *name, size_t len)
{
	const char *end = memchr(name, ' ', len);

	return rule_is_basic(name, end ? (size_t)(end - name) : len);
}

struct wanted {
	const char *name;
	size_t len;
};

static int row_compare(const void *a, const void *b)
{
	const struct wanted *w = a;
	const struct named_rule *row = b;
	int r = strncmp(w->name, row->name, w->len);

	return r ? r : -(row->name[w->len] != '\0');
}

static bool ends(const char *name, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len > n && !memcmp(name + len - n, with, n);
}

static bool begins(const char *name, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len > n && !memcmp(name, with, n);
}

/* "DeviceScanByKeyPolicy", "device_select_policy_hub", "policy_350_t": how CUB runs on which device;
 * "reduce_config_selector", "wrapped_scan_config": the same of rocPRIM. */
static bool is_policy(const char *name, size_t len)
{
	if (ends(name, len, "_config_selector") ||
	    (begins(name, len, "wrapped_") && ends(name, len, "_config")))
		return true;
	return ends(name, len, "_policy_hub") ||
	       (begins(name, len, "Device") && ends(name, len, "Policy")) ||
	       (begins(name, len, "policy_") && ends(name, len, "_t"));
}

enum rule rule_of(const char *name, size_t len)
{
	const struct wanted wanted = {name, len};
	const struct named_rule *row =
		bsearch(&wanted, rules, ARRAY_SIZE(rules), sizeof(rules[0]), row_compare);

	if (row)
		return row->rule;
	if (is_policy(name, len))
		return RULE_NOISE;
	if (begins(name, len, "GridwiseGemm"))
		return RULE_GRIDWISE;
	if (ends(name, len, "PipelineProblem")) /* Composable Kernel: what a pipeline is made for */
		return RULE_SPLICED;
	return is_element(name, len) ? RULE_ELEMENT : RULE_NONE;
}

bool rules_are_sorted(void)
{
	for (size_t i = 1; i < ARRAY_SIZE(rules); i++)
		if (strcmp(rules[i - 1].name, rules[i].name) >= 0)
			return false;
	return true;
}

bool rule_is_library(const char *name, size_t len)
{
	static const char *const libraries[] = {"cub", "thrust", "rocprim", "hipcub", "ck"};

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (strlen(libraries[i]) == len && !memcmp(libraries[i], name, len))
			return true;
	return false;
}

bool rule_is_version(const char *name, size_t len)
{
	if (begins(name, len, "CUB_") || begins(name, len, "THRUST_") || begins(name, len, "_V"))
		return true;
	if (begins(name, len, "ROCPRIM_") || begins(name, len, "HIPCUB_"))
		return true;
	if (begins(name, len, "_GLOBAL__N_") || begins(name, len, "at_cuda_detai"))
		return true;
	return begins(name, len, "__") &&
	       (isdigit((unsigned char)name[2]) || begins(name, len, "__cxx1"));
}

bool rule_is_device(const char *number, size_t len)
{
	const char *end = *number == '(' ? memchr(number, ')', len) : NULL;
	size_t cast = end ? (size_t)(end - number) : 0;

	return ends(number, cast, "::target_arch") || ends(number, cast, "wavefront::target");
}

size_t rule_bare_len(const char *name, size_t len)
{
	static const char *const endings[] = {"_kernel_cuda_impl", "_kernel_cuda", "_cuda_kernel",
					      "_kernel_impl",      "_impl_cuda",   "_kernel",
					      "_cuda_out",         "_cuda"};

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (ends(name, len, endings[i]))
			return len - strlen(endings[i]);
	return len;
}
