/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.c - where the plugins and their configuration are: where the build was told, or, if the
 * library's file is elsewhere (a tree that was unpacked or moved), as far from it as they were
 * installed. loader.c asks once.
 *
 * Plugins are code. So what is found beside a moved library counts only if nobody can have put it
 * there who could not have replaced the library as well: the way to it is resolved, links and all,
 * and each directory on it that is not above the library too must be of the library's owner or
 * root's, and closed to others. A process with more rights than its user believes in what the
 * build was told and in nothing else.
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

/* Where the library is, and who can replace it. */
struct home {
	char dir[PATH_MAX];
	uid_t owner;
	struct stat st; /* of the directory */
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

/* The names may differ where directories are links, as /lib is to /usr/lib. */
static bool is_same_directory(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A group may write where it may write beside the library. */
static bool is_closed(const struct stat *st, const struct home *home)
{
	if (st->st_mode & S_IWOTH)
		return false;
	return !(st->st_mode & S_IWGRP) ||
	       (home->st.st_mode & S_IWGRP && home->st.st_gid == st->st_gid);
}

/* On the way, a sticky directory is as good as a closed one: only the owner of the next directory,
 * or its own, can put another one in its place. */
static bool is_trusted(const char *dir, const struct home *home, bool is_on_way)
{
	struct stat st;

	return !stat(dir, &st) && S_ISDIR(st.st_mode) &&
	       (st.st_uid == home->owner || st.st_uid == 0) &&
	       (is_closed(&st, home) || (is_on_way && st.st_mode & S_ISVTX));
}

/* PATH is empty for the root. */
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

/* Returns the directory that is RELATIVE to the library's, or OTHERWISE. What was looked at is what
 * is returned: no link is left in it. */
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
