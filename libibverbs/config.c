/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.c - reads the configuration directory: *.driver files with lines "driver NAME", blank
 * lines and # comments.
 */
#include "libibverbs/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"

#define SPACES " \t\r\n"

/* Parses LINE. Returns whether it is well-formed. Sets *name to the driver's name, or to NULL for
 * an empty line or a comment. */
static bool parse_line(char *line, char **name)
{
	char *save = NULL, *word = strtok_r(line, SPACES, &save);

	*name = NULL;
	if (!word || word[0] == '#')
		return true;
	if (strcmp(word, "driver"))
		return false;
	*name = strtok_r(NULL, SPACES, &save);
	return *name;
}

static int read_lines(FILE *file, const char *path, void (*on_driver)(const char *name))
{
	char *line = NULL, *name;
	unsigned int number = 0;
	size_t size = 0;
	int err;

	while (errno = 0, getline(&line, &size, file) > 0) {
		number++;
		if (!parse_line(line, &name))
			verbs_warn("%s:%u: not a line of the form \"driver NAME\": skipped", path,
				   number);
		else if (name)
			on_driver(name);
	}
	err = feof(file) ? 0 : errno;
	free(line);
	return err;
}

static int read_config_file(const char *dir, const char *file_name,
			    void (*on_driver)(const char *name))
{
	FILE *file = NULL;
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", dir, file_name) < 0)
		return ENOMEM;
	file = fopen(path, "re");
	err = file ? read_lines(file, path, on_driver) : errno;
	if (err)
		verbs_warn("%s: skipped: %s", path, strerror(err));
	if (file)
		fclose(file);
	free(path);
	return err;
}

static int is_config_file(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');

	return suffix && suffix != entry->d_name && !strcmp(suffix, ".driver");
}

void verbs_config_read(const char *dir, void (*on_driver)(const char *name),
		       void (*on_failure)(int err))
{
	struct dirent **entries;
	int count = scandir(dir, &entries, is_config_file, alphasort), err;

	if (count < 0) {
		err = errno;
		verbs_warn("%s: no providers are configured: %s", dir, strerror(err));
		on_failure(err);
		return;
	}
	for (int i = 0; i < count; i++) {
		err = read_config_file(dir, entries[i]->d_name, on_driver);
		if (err)
			on_failure(err);
		free(entries[i]);
	}
	free(entries);
}
