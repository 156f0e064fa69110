"""Builds the package for pip: CMake makes the library and the compiled module, and both go into the wheel side by side.

TRAMMEL_BUILD_DIR names a build folder to use, with what was built there before; else one below the build folder of pip.
"""
import os
import re
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

here = os.path.dirname(os.path.abspath(__file__))
version = re.search(r"project\(Trammel VERSION ([0-9.]+)", open(os.path.join(here, "CMakeLists.txt")).read()).group(1)


class Build(build_py):
    def run(self):
        super().run()
        folder = os.path.abspath(os.environ.get("TRAMMEL_BUILD_DIR") or os.path.join(here, "build", "wheel"))
        settings = ["-DTRAMMEL_PYTHON=ON"]
        if not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
            settings += [f"-DPython3_EXECUTABLE={sys.executable}", "-DTRAMMEL_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON",
                         "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-G", "Ninja"]
        subprocess.check_call(["cmake", "-S", here, "-B", folder, *settings])
        subprocess.check_call(["cmake", "--build", folder, "--target", "trammel-python"])
        subprocess.check_call(["cmake", "--install", folder, "--component", "wheel", "--prefix", os.path.abspath(self.build_lib)])


class Compiled(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version, cmdclass={"build_py": Build}, distclass=Compiled)
