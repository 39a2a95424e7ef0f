/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.c - where the plugins and their configuration are: where the build was told, or, if the
 * library's file is elsewhere (a tree that was unpacked or moved), as far from it as they were
 * installed. loader.c asks once.
 *
 * Plugins are code. So what is found beside a moved library counts only if its owner is that of the
 * library or root and not everybody can write there: the way to the configuration may leave the
 * tree, through a directory that others may write to. A process with more rights than its user
 * believes in what the build was told and in nothing else.
 */
#include "places.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

/* DIR has room for PATH_MAX bytes. */
static bool own_directory(char *dir, struct stat *library)
{
	Dl_info info;

	if (!dladdr((void *)own_directory, &info) || !realpath(info.dli_fname, dir) ||
	    stat(dir, library))
		return false;
	*strrchr(dir, '/') = '\0';
	return true;
}

/* The names may differ where directories are links, as /lib is to /usr/lib. */
static bool is_same_directory(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_trusted(const char *dir, const struct stat *library)
{
	struct stat st;

	return !stat(dir, &st) && S_ISDIR(st.st_mode) && !(st.st_mode & S_IWOTH) &&
	       (st.st_uid == library->st_uid || st.st_uid == 0);
}

/* The function returns the directory that is RELATIVE to the library's, or OTHERWISE. */
static const char *beside(const char *dir, const struct stat *library, const char *relative,
			  const char *otherwise)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, relative) < 0)
		return otherwise;
	if (is_trusted(path, library))
		return path;
	free(path);
	return otherwise;
}

struct verbs_places verbs_places_find(const struct verbs_layout *layout)
{
	struct verbs_places places = { layout->plugins, layout->config };
	struct stat library;
	char dir[PATH_MAX];

	if (getauxval(AT_SECURE) || !own_directory(dir, &library) ||
	    is_same_directory(dir, layout->library))
		return places;
	places.plugins = beside(dir, &library, layout->library_to_plugins, layout->plugins);
	places.config = beside(dir, &library, layout->library_to_config, layout->config);
	return places;
}
