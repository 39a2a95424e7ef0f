/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.c - finds the directories of the plugins and their configuration. They are as configured
 * at build time, or, if the library's file was moved (an unpacked tree), at the same relative path
 * from it as when installed. loader.c calls this once.
 *
 * Plugins are code, so a directory next to a moved library is trusted only if everyone who can
 * write to it could also replace the library: its path is resolved, links included, and each
 * directory on it that is not also above the library must belong to the library's owner or root,
 * and not be writable by others. A process with elevated privileges only uses the directories
 * configured at build time.
 */
#include "libibverbs/discovery/places.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

/* Directory of the library, and the users that can replace the library. Only these users are
 * trusted with plugins, because a plugin can do in the process whatever the library can. */
struct home {
	char dir[PATH_MAX];
	uid_t owner;
	struct stat st;
};

static bool find_home(struct home *home)
{
	Dl_info info;

	if (!dladdr((void *)find_home, &info) || !realpath(info.dli_fname, home->dir) ||
	    stat(home->dir, &home->st))
		return false;
	home->owner = home->st.st_uid;
	*strrchr(home->dir, '/') = '\0';
	return !stat(home->dir[0] ? home->dir : "/", &home->st);
}

/* Compares directories by device and inode, because two names may mean the same directory: /lib is
 * a link to /usr/lib. */
static bool is_same_directory(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Returns whether no untrusted user may write to the directory ST. Its group is trusted if that
 * group may write to the library's directory, too. */
static bool is_closed(const struct stat *st, const struct home *home)
{
	if (st->st_mode & S_IWOTH)
		return false;
	return !(st->st_mode & S_IWGRP) ||
	       (home->st.st_mode & S_IWGRP && home->st.st_gid == st->st_gid);
}

/* Returns whether DIR is trusted. If DIR is on the way to the target, the sticky bit suffices: only
 * the owner of DIR or of an entry can then replace the entry. */
static bool is_trusted(const char *dir, const struct home *home, bool is_on_way)
{
	struct stat st;

	return !stat(dir, &st) && S_ISDIR(st.st_mode) &&
	       (st.st_uid == home->owner || st.st_uid == 0) &&
	       (is_closed(&st, home) || (is_on_way && st.st_mode & S_ISVTX));
}

/* Returns whether PATH is the library's directory or above it. An empty PATH is the root
 * directory. */
static bool is_above_library(const char *path, const struct home *home)
{
	size_t len = strlen(path);

	return !strncmp(path, home->dir, len) && (home->dir[len] == '/' || home->dir[len] == '\0');
}

static bool is_way_trusted(const char *path, const struct home *home)
{
	bool trusted = is_trusted(path, home, false);
	char way[PATH_MAX];

	strcpy(way, path);
	*strrchr(way, '/') = '\0';
	while (trusted && !is_above_library(way, home)) {
		trusted = is_trusted(way, home, true);
		*strrchr(way, '/') = '\0';
	}
	return trusted;
}

/* Returns the directory at the path RELATIVE to the library's directory, or OTHERWISE if that
 * directory is missing or not trusted. The result is the resolved path that was checked, without
 * links. */
static const char *dir_beside_library(const struct home *home, const char *relative,
				      const char *otherwise)
{
	char resolved[PATH_MAX];
	const char *found = NULL;
	char *path;

	if (asprintf(&path, "%s/%s", home->dir, relative) < 0)
		return otherwise;
	if (realpath(path, resolved) && is_way_trusted(resolved, home))
		found = strdup(resolved);
	free(path);
	return found ? found : otherwise;
}

struct verbs_places verbs_places_find(const struct verbs_layout *layout)
{
	struct verbs_places places = { layout->plugins, layout->config };
	struct home home;

	if (getauxval(AT_SECURE) || !find_home(&home) ||
	    is_same_directory(home.dir, layout->library))
		return places;
	places.plugins = dir_beside_library(&home, layout->library_to_plugins, layout->plugins);
	places.config = dir_beside_library(&home, layout->library_to_config, layout->config);
	return places;
}
