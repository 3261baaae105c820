/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A C program that embeds CPython: main, runs_python, the interpreter, and in it <module> of the
 * script that the argument names.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>

__attribute__((noinline)) static int runs_python(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		return 1;
	return PyRun_SimpleFileExFlags(file, path, 1, NULL);
}

int main(int argc, char **argv)
{
	int failed;

	if (argc < 2)
		return 2;
	Py_InitializeEx(0);
	/* split.py reads its arguments. */
	PyRun_SimpleString("import sys; sys.argv = ['embedded']");
	failed = runs_python(argv[1]);
	Py_FinalizeEx();
	return failed;
}
