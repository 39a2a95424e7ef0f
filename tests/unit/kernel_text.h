/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_text.h - facts of kernel headers that do not compile outside the kernel: they are looked
 * for in the headers' text.
 */
#ifndef TESTS_UNIT_KERNEL_TEXT_H
#define TESTS_UNIT_KERNEL_TEXT_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

/* Returns what follows NAME in a line that defines it, or NULL. */
static inline char *definition_of(char *line, const char *name)
{
	static const char define[] = "#define";
	char *at = line + strspn(line, " \t");

	if (!strncmp(at, define, strlen(define)))
		at += strlen(define);
	at += strspn(at, " \t");
	if (strncmp(at, name, strlen(name)) || !strchr(" \t=", at[strlen(name)]))
		return NULL;
	return at + strlen(name);
}

/* Reads a number as headers write it: in brackets, behind the name of a conversion, shifted. */
static inline int number_read(const char *at, uint64_t *value)
{
	char *end;

	at += strspn(at, " \t=(");
	if (isalpha((unsigned char)*at) && strchr(at, '('))
		at = strchr(at, '(');
	at += strspn(at, " (");
	if (!isdigit((unsigned char)*at))
		return 0;
	*value = strtoull(at, &end, 0);
	end += strspn(end, "uUlL ");
	if (!strncmp(end, "<<", 2))
		*value <<= strtoul(end + 2, NULL, 0);
	return 1;
}

static inline int kernel_number(const char *path, const char *name, uint64_t *value)
{
	char line[512], *at;
	int found = 0;
	FILE *f = fopen(path, "r");

	while (f && !found && fgets(line, sizeof(line), f)) {
		at = definition_of(line, name);
		found = at && number_read(at, value);
	}
	if (f)
		fclose(f);
	return found;
}

/* Returns the bytes of a plain type, or 0. */
static inline uint32_t type_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{ "u8", 1 },     { "__u8", 1 },   { "__be16", 2 }, { "u16", 2 },
		{ "__be32", 4 }, { "__be64", 8 }, { "u32", 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, type))
			return types[i].bytes;
	return 0;
}

/* A reader goes through a structure of plain members without holes between them. The members of a
 * union, which are of one size, have one place. */
struct member_reader {
	uint32_t at, bytes; /* of the member that was read last */
	int in_union;
	char name[64];
};

/* Returns 0 when LINE ends the structure, or is of a kind that the reader does not know. */
static inline int member_read(struct member_reader *reader, const char *line)
{
	uint32_t count = 1;
	char type[64];

	reader->name[0] = 0;
	if (strstr(line, "union {") || (reader->in_union && strchr(line, '}'))) {
		reader->at += reader->bytes;
		reader->bytes = 0;
		reader->in_union = strchr(line, '{') != NULL;
		return 1;
	}
	if (line[0] == '}' ||
	    sscanf(line, " %63s %63[a-zA-Z0-9_][%u", type, reader->name, &count) < 2)
		return 0;
	if (!reader->in_union)
		reader->at += reader->bytes;
	reader->bytes = type_bytes(type) * count;
	return reader->bytes != 0;
}

/* Finds where MEMBER is in STRUCTURE, as FLD() says it. */
static inline int kernel_member(const char *path, const char *structure, const char *member,
				uint32_t *field)
{
	struct member_reader reader = { .at = 0 };
	char line[512], begin[128];
	int found = 0;
	FILE *f = fopen(path, "r");

	snprintf(begin, sizeof(begin), "struct %s {", structure);
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, begin, strlen(begin)))
			break;
	while (f && !found && fgets(line, sizeof(line), f) && member_read(&reader, line))
		found = !strcmp(reader.name, member);
	*field = reader.at << 11 | reader.bytes * 8;
	if (f)
		fclose(f);
	return found;
}

#endif
