# SPDX-License-Identifier: MIT
from setuptools import Extension, setup
from Cython.Build import cythonize
setup(name="fast", ext_modules=cythonize([Extension("fast", ["fast.pyx"])], quiet=True))
