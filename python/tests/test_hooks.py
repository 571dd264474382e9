# SPDX-License-Identifier: MIT
import os
import sys
import types
import unittest

from .support import Case, RecordedCase, has, kernels, launch, proton, read
from proton.hooks import Hook, HookManager, InstrumentationHook, LaunchHook
from proton.hooks import launch as hooks_launch


class Manager(unittest.TestCase):
    def setUp(self):
        self.addCleanup(HookManager.unregister)

    def test_launch_hook_is_one(self):
        HookManager.register(LaunchHook(), 0)
        HookManager.register(LaunchHook(), 0)
        self.assertEqual(HookManager.active_hooks, [LaunchHook()])
        self.assertIs(HookManager.session_hooks[0][LaunchHook()], True)

    def test_sessions_share(self):
        HookManager.register(LaunchHook(), 0)
        HookManager.register(LaunchHook(), 1)
        HookManager.unregister(0)
        self.assertEqual(HookManager.active_hooks, [LaunchHook()])
        HookManager.unregister(1)
        self.assertEqual(HookManager.active_hooks, [])

    def test_priority(self):
        HookManager.register(InstrumentationHook(""), 2)
        HookManager.register(LaunchHook(), 2)
        self.assertIsInstance(HookManager.active_hooks[0], LaunchHook)
        self.assertIsInstance(HookManager.active_hooks[1], InstrumentationHook)
        HookManager.unregister()
        self.assertEqual(HookManager.active_hooks, [])

    def test_order_and_switches(self):
        said = []

        class Mine(Hook):
            def __init__(self, priority):
                self.priority = priority

            def enter(self, metadata):
                said.append(("enter", self.priority))

            def exit(self, metadata):
                said.append(("exit", self.priority))

            def activate(self):
                said.append(("activate", self.priority))

            def deactivate(self):
                said.append(("deactivate", self.priority))

        HookManager.register(Mine(1), 5)
        HookManager.register(Mine(2), 5)
        HookManager.enter(None)
        HookManager.exit(None)
        HookManager.deactivate(5)
        HookManager.enter(None)
        HookManager.activate(5)
        self.assertEqual(
            said,
            [("activate", 1), ("activate", 2)]
            + [("enter", 2), ("enter", 1), ("exit", 1), ("exit", 2)]
            + [("deactivate", 2), ("deactivate", 1), ("activate", 1), ("activate", 2)],
        )


class Metadata:
    """What Triton hands to hooks."""

    def __init__(self, name, values):
        self.data = {"name": name}
        self.values = values

    def get(self):
        launch("helper")
        return dict(self.data, **self.values)


class Chain:
    """A list of hooks, as Triton has them since 3.5."""

    def __init__(self):
        self.calls = []

    def add(self, function):
        self.calls.append(function)

    def remove(self, function):
        self.calls.remove(function)


class Launches(RecordedCase):
    """The hook "triton", with what stands for Triton."""

    def setUp(self):
        super().setUp()
        self.runtime = types.SimpleNamespace(launch_enter_hook=Chain(), launch_exit_hook=Chain())
        triton, knobs = types.ModuleType("triton"), types.ModuleType("triton.knobs")
        triton.knobs, knobs.runtime = knobs, self.runtime
        for name, module in (("triton", triton), ("triton.knobs", knobs)):
            if name in sys.modules:
                self.skipTest("Triton itself is here")
            self.addCleanup(sys.modules.pop, name)
            sys.modules[name] = module
        self.addCleanup(proton.finalize)
        self.addCleanup(LaunchHook().configure)

    def launch(self, name, values):
        metadata = Metadata(name, values)
        for hook in self.runtime.launch_enter_hook.calls:
            hook(metadata)
        launch(name)
        for hook in self.runtime.launch_exit_hook.calls:
            hook(metadata)

    def test_ids_of_launches(self):
        proton.start("a", hook="triton")
        ids = []
        for _ in range(3):
            self.launch("gemm", {})
            ids.append(hooks_launch.id.get())
        self.assertEqual(len(set(ids)), 3)
        self.assertEqual(hooks_launch.op_name.get(), "gemm")

    def test_name_and_metrics(self):
        session = proton.start("a", hook="triton")
        with proton.scope("s"):
            self.launch(
                "gemm", {"name": "gemm_128", "flops16": 100, "bytes": 7, "mine": 0.5, "function": 3}
            )
        proton.deactivate(session)
        self.assertEqual(self.runtime.launch_enter_hook.calls, [])
        launch("mul")
        proton.activate(session)
        self.launch("gemm", {"name": "gemm_128", "flops16": 100})
        proton.finalize()
        self.assertEqual(self.runtime.launch_exit_hook.calls, [])
        found = read("a.hatchet")
        self.assertEqual(found["s/gemm_128"]["count"], 1)
        self.assertEqual(found["s/gemm_128"]["flops16"], 100.0)
        self.assertEqual(found["s/gemm_128"]["bytes"], 7)
        self.assertEqual(found["s/gemm_128"]["mine"], 0.5)
        self.assertEqual(found["gemm_128"]["flops16"], 100.0)
        self.assertEqual(found["s/__proton_launch_metadata/gemm/helper"]["count"], 1)

    def test_metrics_that_launch(self):
        """Reading a tensor is a copy, and none of the launch that it is a metric of."""

        class Tensor:
            device = types.SimpleNamespace(type="cuda")

            def data_ptr(self):
                return 1

            def tolist(self):
                launch("copy")
                return 8.0

        proton.start("a", hook="triton")
        self.launch("gemm", {"name": "gemm_128", "flops": Tensor()})
        proton.finalize()
        found = read("a.hatchet")
        self.assertEqual((found["gemm_128"]["flops"], found["gemm_128"]["count"]), (8.0, 1))
        self.assertEqual(found["__proton_launch_metadata/copy"]["count"], 1)

    def test_include_and_exclude(self):
        LaunchHook().configure(include="ge", exclude=".*_no")
        proton.start("a", hook="triton")
        for name in ("gemm", "gemm_no", "relu"):
            self.launch(name, {"name": name + "_named"})
        proton.finalize()
        found = {k: v for k, v in kernels("a.hatchet").items() if "helper" not in k}
        self.assertEqual(found, {"gemm_named": 1, "gemm_no": 1, "relu": 1})

    def test_metadata_raise(self):
        proton.start("a", hook="triton")
        with self.assertRaises(TypeError):
            LaunchHook().enter(Metadata("gemm", {"x": 1j}))
        LaunchHook().exit(None)
        launch("add")
        proton.finalize()
        self.assertEqual(kernels("a.hatchet")["add"], 1)

    def test_by_itself(self):
        """A program that did not ask for its metadata does not fail of them."""
        from proton.triton_hook import AutomaticHook

        class Broken(Metadata):
            extras = {"x": 1}

            def get(self):
                raise KeyError("mine")

        proton.start("a")
        hook = AutomaticHook()
        for metadata in (Broken("gemm", {}), Metadata("gemm", {"x": 1j})):
            metadata.extras = {"x": 1}
            hook.enter(metadata)
            launch("gemm")
            hook.exit(metadata)
        proton.finalize()
        found = {k: v for k, v in kernels("a.hatchet").items() if "helper" not in k}
        self.assertEqual(found, {"gemm": 2})

    def test_one_place(self):
        """Triton before its chains: an attribute, which may be somebody else's."""
        self.runtime.launch_enter_hook = None
        self.runtime.launch_exit_hook = other = lambda metadata: None
        proton.start("a", hook="triton")
        self.assertIs(self.runtime.launch_enter_hook, HookManager.enter)
        self.assertIs(self.runtime.launch_exit_hook, other)
        proton.finalize()
        self.assertIsNone(self.runtime.launch_enter_hook)


if __name__ == "__main__":
    unittest.main()
