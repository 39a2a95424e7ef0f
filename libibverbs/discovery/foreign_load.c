/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign_load.c - loads a provider of the distribution, libNAME-rdmavNUMBER.so, behind
 * libforeign-rdmakit, which serves it in the place of the distribution's libibverbs (foreign/).
 *
 * The plugin finds the symbols of its private node in libibverbs.so.1 (foreign_calls.c), which
 * leads on to libforeign-rdmakit. Called by loader.c under the lock of the device list, and by
 * foreign_calls.c.
 */
#include "libibverbs/private.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/bits.h"

#define BRIDGE "libforeign-rdmakit" RDMAKIT_DRIVER_ABI_STRING ".so"

/* Numbers of the private interfaces that libforeign-rdmakit has, in order of preference */
static const unsigned int numbers[] = { 65, 34 };

static void connect_bridge(void *bridge)
{
#ifdef RDMAKIT_HAS_FOREIGN
	verbs_foreign_connect(bridge);
#else
	(void)bridge;
#endif
}

bool verbs_foreign_has_bridge(const char *plugins)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" BRIDGE, plugins);
	return !access(path, F_OK);
}

static enum verbs_foreign_result open_library(const char *path, const char *name, int flags,
					      void **handle)
{
	int err;

	errno = 0;
	*handle = dlopen(path, flags);
	if (*handle)
		return VERBS_FOREIGN_LOADED;
	err = errno;
	verbs_warn("provider %s: skipped: %s", name, dlerror());
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == EINTR
		       ? VERBS_FOREIGN_SHORT
		       : VERBS_FOREIGN_REFUSED;
}

/* Two threads may do this at once: each finds the same library, and fills the slots with the same
 * addresses. A lock could deadlock, because constructors call this while the dynamic linker holds
 * its own lock. */
enum verbs_foreign_result verbs_foreign_open(const char *plugins, const char *name, void **bridge)
{
	static void *_Atomic loaded;
	enum verbs_foreign_result result;
	char path[PATH_MAX];

	*bridge = loaded;
	if (*bridge)
		return VERBS_FOREIGN_LOADED;
	snprintf(path, sizeof(path), "%s/" BRIDGE, plugins);
	result = open_library(path, name, RTLD_NOW, bridge);
	if (result != VERBS_FOREIGN_LOADED)
		return result; /* the other thread may have loaded it */
	connect_bridge(*bridge);
	loaded = *bridge;
	return result;
}

static bool find_number(const char *stem, char *found, size_t size)
{
	const char *slash = strrchr(stem, '/');
	char dir[PATH_MAX], prefix[NAME_MAX + 1];
	struct dirent *entry;
	bool hit = false;
	DIR *handle;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - stem + 1), stem);
	snprintf(prefix, sizeof(prefix), "%s-rdmav", slash + 1);
	handle = opendir(dir);
	while (handle && !hit && (entry = readdir(handle))) {
		hit = !strncmp(entry->d_name, prefix, strlen(prefix));
		if (hit)
			snprintf(found, size, "%s", entry->d_name);
	}
	if (handle)
		closedir(handle);
	return hit;
}

static enum verbs_foreign_result load_plugin(const char *name, const char *path)
{
	void *plugin;
	const enum verbs_foreign_result result = open_library(path, name, RTLD_NOW, &plugin);

	if (result == VERBS_FOREIGN_LOADED)
		verbs_info("loaded %s", path);
	return result;
}

static enum verbs_foreign_result load_stem(const char *plugins, const char *name, const char *stem)
{
	char path[PATH_MAX], other[NAME_MAX + 1];
	enum verbs_foreign_result result;
	void *bridge;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		snprintf(path, sizeof(path), "%s-rdmav%u.so", stem, numbers[i]);
		if (access(path, F_OK))
			continue;
		result = verbs_foreign_open(plugins, name, &bridge);
		return result == VERBS_FOREIGN_LOADED ? load_plugin(name, path) : result;
	}
	if (!find_number(stem, other, sizeof(other)))
		return VERBS_FOREIGN_ABSENT;
	verbs_warn("provider %s: skipped: %s has another private interface of libibverbs than 34 "
		   "and 65",
		   name, other);
	return VERBS_FOREIGN_REFUSED;
}

enum verbs_foreign_result verbs_foreign_load(const char *plugins, const char *name)
{
	char stem[PATH_MAX];

	if (strchr(name, '/'))
		return load_stem(plugins, name, name);
	snprintf(stem, sizeof(stem), "%s/lib%s", plugins, name);
	return load_stem(plugins, name, stem);
}
