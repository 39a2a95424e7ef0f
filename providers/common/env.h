/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * env.h - parses values of environment variables; each provider's env.c has the variables.
 */
#ifndef PROVIDERS_COMMON_ENV_H
#define PROVIDERS_COMMON_ENV_H

#include <stdbool.h>

bool provider_env_unless_zero(const char *name);
bool provider_env_is_one(const char *name);
/* Reads a number from MIN to MAX. For any other value logs a warning and returns FALLBACK. */
unsigned int provider_env_number(const char *name, unsigned int min, unsigned int max,
				 unsigned int fallback);

/* Source of queue memory. Read for each new queue, unlike other variables, because programs change
 * it in between. NAME is MLX_QP_ALLOC_TYPE or a similar variable. */
enum env_alloc {
	ENV_ALLOC_ANON,        /* "ANON", the default: ordinary pages */
	ENV_ALLOC_HUGE,        /* "HUGE": huge pages, or failure */
	ENV_ALLOC_PREFER_HUGE, /* "PREFER_HUGE", "ALL": huge pages if available */
	ENV_ALLOC_CONTIG, /* "CONTIG": physically contiguous pages, which Linux does not provide */
};

enum env_alloc provider_env_alloc_type(const char *name);

#endif
