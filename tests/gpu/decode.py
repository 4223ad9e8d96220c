#!/usr/bin/python3
"""Decodes the cases in a file by a plugin: tests/gpu/decode.py LIBRARY CASES

The library is build/tests/lib/hip_decode.so, tests/stand_ins/hip/decode.c, which describes the cases, the
plugin that decodes them, and the output for each.
"""
import ctypes
import os
import sys

if __name__ == '__main__':
    with open(sys.argv[2]) as cases:
        os.dup2(cases.fileno(), 0)
    sys.exit(ctypes.CDLL(sys.argv[1]).hip_decode())
