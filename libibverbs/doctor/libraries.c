/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libraries.c - checks which libraries programs of this environment load, from where, and whether
 * all are of one release, because libibverbs and its providers only work together.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "findings.h"
#include "sysfs.h"

/* Returns the release at the end of a file name: libibverbs.so.1.18.65.0 is of 65.0. */
static const char *release_of(const char *path)
{
	const char *end = strrchr(path, '.'), *dot = end;

	if (!end)
		return "";
	do
		dot--;
	while (dot > path && *dot != '.');
	return strspn(dot + 1, "0123456789.") == strlen(dot + 1) ? dot + 1 : "";
}

static bool path_of_call(void *call, char path[PATH_MAX])
{
	Dl_info info;

	return call && dladdr(call, &info) && realpath(info.dli_fname, path);
}

static void check_release_of(const char *name, void *call, char release[SYSFS_TEXT])
{
	char path[PATH_MAX];

	if (!path_of_call(call, path)) {
		found(WARNING, name, "cannot be loaded: %s", call ? "its file is gone" : dlerror());
		cure("install the package that has it");
		return;
	}
	if (!release[0])
		snprintf(release, SYSFS_TEXT, "%.63s", release_of(path));
	if (strcmp(release, release_of(path))) {
		found(PROBLEM, name, "%s is of another release than libibverbs, %s", path, release);
		cure("take both from one place: see LD_LIBRARY_PATH, ldconfig -p | grep -E "
		     "'ibverbs|mlx[45]|rdmacm', and the versions of the packages");
	} else {
		found(FINE, name, "%s", path);
	}
}

static void *call_of(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY);

	return handle ? dlsym(handle, name) : NULL;
}

void check_libraries(void)
{
	char release[SYSFS_TEXT] = "";

	check_release_of("libibverbs", (void *)ibv_get_device_list, release);
	check_release_of("libmlx5", call_of("libmlx5.so.1", "mlx5dv_query_device"), release);
	check_release_of("libmlx4", call_of("libmlx4.so.1", "mlx4dv_query_device"), release);
	check_release_of("librdmacm", call_of("librdmacm.so.1", "rdma_create_id"), release);
}
