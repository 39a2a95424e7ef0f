/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * distribution.c - names the command that installs the distribution's RDMA packages. os-release
 * decides, because package tools of other distributions may be installed as well.
 */
#include "distribution.h"

#include <string.h>

static const struct {
	const char *family;
	const char *way;
} ways[] = {
	{ "debian", "on amd64 apt install ibverbs-providers, which goes with this libibverbs1; "
		    "elsewhere \"apt-cache policy libibverbs1\" shows their version, apt install "
		    "--allow-downgrades libibverbs1=VERSION ibverbs-providers=VERSION returns to "
		    "them" },
	{ "fedora", "dnf distro-sync 'libibverbs*' 'librdmacm*' returns to them" },
	{ "rhel", "dnf distro-sync 'libibverbs*' 'librdmacm*' returns to them" },
};

/* Returns the entry `way` of the first family that a line of os-release names in ID or ID_LIKE, or
 * NULL. The line's value may be quoted. */
static const char *way_of_line(char *line)
{
	char *save, *key = strtok_r(line, "=", &save), *word;

	if (!key || (strcmp(key, "ID") && strcmp(key, "ID_LIKE")))
		return NULL;
	while ((word = strtok_r(NULL, " \"'\n", &save)))
		for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
			if (!strcmp(word, ways[i].family))
				return ways[i].way;
	return NULL;
}

const char *way_to_distribution_of(FILE *os_release)
{
	const char *way = NULL;
	char line[256];

	while (os_release && !way && fgets(line, sizeof(line), os_release))
		way = way_of_line(line);
	return way ? way : "install its libibverbs, librdmacm and providers again";
}

const char *way_to_distribution(void)
{
	FILE *file = fopen("/etc/os-release", "re");
	const char *way = way_to_distribution_of(file);

	if (file)
		fclose(file);
	return way;
}
