"""The four names that setup.py imports, each in its setuptools meaning. See torch/__init__.py."""

from setuptools import Extension as CUDAExtension
from setuptools import Extension as CppExtension
from setuptools.command.build_ext import build_ext as BuildExtension

CUDA_HOME = None

__all__ = ["CUDA_HOME", "BuildExtension", "CUDAExtension", "CppExtension"]
