/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * env.c - parses values of environment variables.
 */
#include "providers/common/env.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/bits.h"
#include "util/log.h"

bool provider_env_unless_zero(const char *name)
{
	const char *value = getenv(name);

	return !value || strcmp(value, "0");
}

bool provider_env_is_one(const char *name)
{
	const char *value = getenv(name);

	return value && !strcmp(value, "1");
}

unsigned int provider_env_number(const char *name, unsigned int min, unsigned int max,
				 unsigned int fallback)
{
	const char *value = getenv(name);
	unsigned long n;
	char *end;

	if (!value)
		return fallback;
	n = strtoul(value, &end, 0);
	if (*value && !*end && n >= min && n <= max)
		return (unsigned int)n;
	verbs_warn("environment: %s is \"%s\", must be a number from %u to %u; using %u", name,
		   value, min, max, fallback);
	return fallback;
}

/* Returns the type. "PREFER_CONTIG" and "EXTERNAL" also mean ordinary pages, because Linux provides
 * no contiguous ones to programs, and programs that set them must go on. */
enum env_alloc provider_env_alloc_type(const char *name)
{
	static const struct {
		const char *value;
		enum env_alloc type;
	} types[] = {
		{ "HUGE", ENV_ALLOC_HUGE },
		{ "PREFER_HUGE", ENV_ALLOC_PREFER_HUGE },
		{ "ALL", ENV_ALLOC_PREFER_HUGE },
		{ "CONTIG", ENV_ALLOC_CONTIG },
	};
	const char *value = getenv(name);

	for (size_t i = 0; value && i < ARRAY_SIZE(types); i++)
		if (!strcasecmp(value, types[i].value))
			return types[i].type;
	return ENV_ALLOC_ANON;
}
