/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.c - reads sysfs. The library's own functions are not public, and the doctor reads more of
 * it than a library does.
 */
#include "sysfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *sysfs_root(void)
{
	const char *path = secure_getenv("SYSFS_PATH");

	return path ? path : "/sys";
}

static void path_of(char path[PATH_MAX], const char *format, va_list args)
{
	int len = snprintf(path, PATH_MAX, "%s/", sysfs_root());

	if (len < PATH_MAX)
		vsnprintf(path + len, PATH_MAX - len, format, args);
}

bool sysfs_has(const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	path_of(path, format, args);
	va_end(args);
	return !access(path, F_OK);
}

void sysfs_read(char text[SYSFS_TEXT], const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	FILE *file;

	va_start(args, format);
	path_of(path, format, args);
	va_end(args);
	text[0] = '\0';
	file = fopen(path, "re");
	if (!file)
		return;
	if (fscanf(file, "%63s", text) != 1)
		text[0] = '\0';
	fclose(file);
}

void sysfs_link(char text[SYSFS_TEXT], const char *format, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	va_list args;
	ssize_t len;

	va_start(args, format);
	path_of(path, format, args);
	va_end(args);
	text[0] = '\0';
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return;
	target[len] = '\0';
	last = strrchr(target, '/');
	snprintf(text, SYSFS_TEXT, "%.63s", last ? last + 1 : target);
}

static int is_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "abi_version");
}

int sysfs_each(const char *dir, void (*visit)(const char *name))
{
	struct dirent **entries;
	char path[PATH_MAX];
	int count;

	snprintf(path, sizeof(path), "%s/%s", sysfs_root(), dir);
	count = scandir(path, &entries, is_name, alphasort);
	if (count < 0)
		return 0;
	for (int i = 0; i < count; i++) {
		visit(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return count;
}
