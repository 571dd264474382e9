/* SPDX-License-Identifier: MIT */
/* Ranges of NVTX in C++: they end with the block, however it is left, exceptions included.
 *
 *	c++ -std=c++17 -O2 -I/usr/local/cuda/include -o nvtx_cpp nvtx_cpp.cpp -ldl
 *	proton record -o run.hatchet ./nvtx_cpp && proton report --view host run.hatchet
 *
 * A domain of its own keeps what a library names apart from what the program does; proton shows both on one
 * stack. No line here knows of proton. */
#include <cstdio>
#include <cstdlib>
#include <nvtx3/nvtx3.hpp>
#include <stdexcept>
#include <vector>

struct solver {
	static constexpr char const *name{"solver"};
};
using solver_range = nvtx3::scoped_range_in<solver>;

/* One sweep over a line with fixed ends; returns how much changed. */
static double relax(std::vector<double> &v)
{
	solver_range range{"relax"};
	double change = 0;

	for (std::size_t i = 1; i + 1 < v.size(); i++) {
		double better = (v[i - 1] + v[i + 1]) / 2;

		change += (better - v[i]) * (better - v[i]);
		v[i] = better;
	}
	return change;
}

static unsigned solve(std::vector<double> &v, unsigned most)
{
	NVTX3_FUNC_RANGE();

	for (unsigned i = 0; i < most; i++)
		if (relax(v) < 1e-9)
			return i;
	throw std::runtime_error("no solution yet");
}

int main(int argc, char **argv)
{
	unsigned most = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 2000;
	std::vector<double> v(4096);
	nvtx3::scoped_range range{"main"};

	v.back() = 1;
	try {
		std::printf("solved after %u sweeps\n", solve(v, most));
	} catch (const std::exception &e) {
		nvtx3::mark("gave up");
		std::printf("%s: %u sweeps\n", e.what(), most);
	}
	return 0;
}
