# SPDX-License-Identifier: MIT
# <proton/kernel.cuh> without PTX: of functions of the namespace that have any, prototypes are left.
/^(template .*)?(static )?__device__ .*\)$/ {head = $0; body = ""; next}
head != "" {
	body = body "\n" $0
	if ($0 != "}")
		next
	print body ~ /asm[ (]/ ? head ";" : head body
	head = ""
	next
}
{print}
