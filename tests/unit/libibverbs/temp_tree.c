/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * temp_tree.c - see temp_tree.h. An error ends the test program, since later results would be
 * meaningless.
 */
#include "temp_tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[256];

static void die_of(const char *what)
{
	perror(what);
	abort();
}

const char *tree_make(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%s/unit.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(root))
		die_of(root);
	return root;
}

static void full_path(char *full, size_t size, const char *path)
{
	snprintf(full, size, "%s/%s", root, path);
}

static void make_parents(char *full)
{
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
}

void tree_put(const char *path, const char *text)
{
	char full[1024];
	FILE *file;

	full_path(full, sizeof(full), path);
	make_parents(full);
	file = fopen(full, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		die_of(full);
}

char *tree_get(const char *path)
{
	char full[1024], *text = NULL;
	size_t size = 0;
	FILE *file;

	full_path(full, sizeof(full), path);
	file = fopen(full, "r");
	if (!file)
		die_of(full);
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return text;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void tree_remove(void)
{
	if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS))
		die_of(root);
}
