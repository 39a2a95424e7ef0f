/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * release.c - checks which release of the distribution a guest is of. Its private number is not
 * enough, as structures change between releases of one number, and the tables are of some only.
 *
 * The release is the third number in a library's file name: libefa-rdmav34.so leads to
 * libefa.so.1.2.44.0. A plugin that is no link, as librxe-rdmav34.so, is of the release of the
 * others beside it, which come with it in one package. Where no name tells, proof.c looks at the
 * tables themselves.
 */
#include "guest.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define SUFFIX "-rdmav" GUEST_TEXT(HOST_NUMBER) ".so"

/* Returns the release in the name of the file that PATH leads to, or 0 if it has none. */
static unsigned int release_in(const char *path, char *resolved)
{
	unsigned int abi, minor, release;
	const char *numbers;

	if (!realpath(path, resolved))
		return 0;
	numbers = strstr(strrchr(resolved, '/'), ".so.");
	if (!numbers || sscanf(numbers, ".so.%u.%u.%u.", &abi, &minor, &release) != 3)
		return 0;
	return release;
}

static bool is_plugin(const char *file)
{
	const size_t length = strlen(file);

	return length > strlen(SUFFIX) && !strcmp(file + length - strlen(SUFFIX), SUFFIX);
}

static unsigned int release_beside(const char *plugin, char *resolved)
{
	const char *slash = strrchr(plugin, '/');
	const int length = slash ? (int)(slash - plugin) : 0;
	unsigned int release = 0;
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir;

	snprintf(path, sizeof(path), "%.*s/", length, plugin);
	dir = opendir(path);
	while (dir && !release && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%.*s/%s", length, plugin, entry->d_name);
		if (is_plugin(entry->d_name))
			release = release_in(path, resolved);
	}
	if (dir)
		closedir(dir);
	return release;
}

bool guest_release_fits(const struct host_device_ops *ops, bool *is_known)
{
	char resolved[PATH_MAX];
	unsigned int release;
	Dl_info plugin;

	*is_known = false;
	if (!dladdr(ops, &plugin))
		return true;
	release = release_in(plugin.dli_fname, resolved);
	if (!release && is_plugin(plugin.dli_fname))
		release = release_beside(plugin.dli_fname, resolved);
	if (!release)
		return true;
	*is_known = release >= HOST_FIRST_RELEASE && release <= HOST_LAST_RELEASE;
	if (*is_known)
		return true;
	verbs_error("provider %s: skipped: %s was built for release %u, as %s tells; with "
		    "number " GUEST_TEXT(HOST_NUMBER) ", only releases " GUEST_TEXT(
			    HOST_FIRST_RELEASE) " to " GUEST_TEXT(HOST_LAST_RELEASE) " are known",
		    ops->name, plugin.dli_fname, release, strrchr(resolved, '/') + 1);
	return false;
}
