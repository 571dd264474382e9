# SPDX-License-Identifier: MIT
import unittest

from .support import proton

specs = proton.specs


class Names(unittest.TestCase):
    """That programs import, of Triton's newer releases."""

    def test_names(self):
        from proton.hooks.launch import LaunchHook
        from proton.metric import set_metric_kernels, transform_tensor_metrics
        from proton.state import COMPUTE_METADATA_SCOPE_PREFIX, get_metadata_state_name

        set_metric_kernels()
        self.assertEqual(transform_tensor_metrics({"bytes": 3.0}), ({"bytes": 3}, {}))
        self.assertEqual(get_metadata_state_name("gemm"), COMPUTE_METADATA_SCOPE_PREFIX + "gemm")
        self.assertIn("flops16", LaunchHook.metrics)
        with self.assertRaisesRegex(AttributeError, "triton.profiler.language"):
            proton.language


class Specs(unittest.TestCase):
    """The numbers are those of Triton's Proton for the devices that it knows."""

    def test_flops(self):
        for arch, width, sms, clock, wanted in (
            ("80", 8, 108, 1410000, 624e12),
            ("80", 64, 108, 1410000, 78e12),
            ("89", 16, 128, 2520000, 165.15e12),
            ("90", 8, 114, 1755000, 1513e12),
            ("90", 16, 132, 1980000, 132 / 114 * 1980 / 1755 * 1513e12 / 2),
            ("90", 64, 114, 1755000, 1513e12 / 8),
            ("100", 32, 148, 1965000, 148 * 16384 * 1965e6 / 4),
        ):
            got = specs.max_flops("CUDA", arch, width, sms, clock)
            self.assertAlmostEqual(got / wanted, 1, places=9, msg=(arch, width))
        for arch, factor in (("gfx90a", 1024), ("gfx942", 4096), ("gfx950", 8192)):
            for width in (8, 16, 32, 64):
                got = specs.max_flops("HIP", arch, width, 304, 2100000)
                self.assertAlmostEqual(got / (factor * 304 * 2.1e9 / (width / 8)), 1, places=9)

    def test_others(self):
        self.assertEqual(specs.max_flops("CUDA", "86", 16, 82, 1695000), 1024 * 82 * 1.695e9)
        self.assertEqual(specs.max_flops("CUDA", 75, 64, 40, 1590000), 4 * 40 * 1.59e9)

    def test_bandwidth(self):
        self.assertEqual(specs.max_bps("CUDA", "90", 5120, 2619000), 2 * 5120 * 2619000e3 / 8)
        for arch, wanted in (("gfx90a", 3.2e12), ("gfx942", 5.3e12), ("gfx950", 8.0e12)):
            self.assertEqual(specs.max_bps("HIP", arch, 8192, 1), wanted)

    def test_unknown(self):
        for arguments, word in (
            (("CUDA", "1"), "architecture: 1"),
            (("ROCKET", "80"), "device type: ROCKET"),
        ):
            with self.assertRaisesRegex(ValueError, word):
                specs.max_flops(*arguments, width=16, num_sms=1, clock_rate=1)
        for arch, width in (("86", 8), ("90", 4)):
            with self.assertRaises(ValueError):
                specs.max_flops("CUDA", arch, width, 1, 1)
        for arch in ("gfx1030", "gfx1"):
            with self.assertRaises(ValueError):
                specs.max_bps("HIP", arch, 1, 1)


if __name__ == "__main__":
    unittest.main()
