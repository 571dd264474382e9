/* SPDX-License-Identifier: MIT */
/* python_embed LIBCUDA LIBPYTHON first|last: a program that loads an interpreter for itself alone, before or
 * after it begins to use the GPU, runs Python that launches, ends it, drops it (the one before), and launches
 * again. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *python;
static int (*cuda_launch)(const char *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			  unsigned, void *, void *, void *);

static void launch(const char *name)
{
	cuda_launch(name, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

/* The interpreter's types of functions: this has none of its headers. */
typedef void *function(void *, void *);

static void *launch_inside(void *self, void *arguments)
{
	void *(*number)(long) = (void *(*)(long))dlsym(python, "PyLong_FromLong");

	(void)self;
	(void)arguments;
	launch("inside");
	return number(0);
}

static void define_launch(void)
{
	static struct {
		const char *name;
		function *call;
		int flags; /* 4: no arguments */
		const char *what;
	} method = {"launch", launch_inside, 4, NULL};
	void *(*main_module)(const char *) =
		(void *(*)(const char *))dlsym(python, "PyImport_AddModule");
	void *(*make)(void *, void *, void *) =
		(void *(*)(void *, void *, void *))dlsym(python, "PyCFunction_NewEx");
	int (*set)(void *, const char *, void *) =
		(int (*)(void *, const char *, void *))dlsym(python, "PyObject_SetAttrString");

	set(main_module("__main__"), "launch", make(&method, NULL, NULL));
}

static int run(int (*init)(unsigned))
{
	void (*begin)(void) = (void (*)(void))dlsym(python, "Py_Initialize");
	int (*simple)(const char *, void *) =
		(int (*)(const char *, void *))dlsym(python, "PyRun_SimpleStringFlags");
	int (*end)(void) = (int (*)(void))dlsym(python, "Py_FinalizeEx");
	int r;

	begin();
	define_launch();
	if (init)
		init(0);
	r = simple("def work():\n    launch()\nfor _ in range(20):\n    work()\n", NULL);
	launch("outside");
	return end() ? -1 : r;
}

int main(int argc, char **argv)
{
	void *cuda = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*init)(unsigned) = cuda ? (int (*)(unsigned))dlsym(cuda, "cuInit") : NULL;
	int last, r;

	if (!init)
		return 2;
	last = !strcmp(argv[3], "last");
	*(void **)&cuda_launch = dlsym(cuda, "cuLaunchKernel");
	if (last)
		init(0);
	python = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	if (!python)
		return puts(dlerror()), 77;
	r = run(last ? NULL : init);
	launch("ended");
	if (!last)
		dlclose(python);
	launch("dropped");
	puts(r ? "failed" : "done");
	return 0;
}
