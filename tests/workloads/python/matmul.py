# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""numpy multiplies matrices: <module> main multiply, then numpy's C functions, then a function of BLAS."""

import numpy


def multiply(left, right):
    return left @ right


def main():
    left = numpy.ones((400, 400))
    right = numpy.ones((400, 400))
    print("ready", flush=True)
    while True:
        multiply(left, right)


main()
