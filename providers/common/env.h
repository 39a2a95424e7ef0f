/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * env.h - how the values of environment variables are read. Which variables there are, the env.c of
 * each provider says.
 */
#ifndef PROVIDERS_COMMON_ENV_H
#define PROVIDERS_COMMON_ENV_H

#include <stdbool.h>

/* Reads a switch that is on by default, and off for "0". */
bool provider_env_unless_zero(const char *name);
/* Reads a switch that is off by default, and on for "1". */
bool provider_env_is_one(const char *name);
/* Reads a number from MIN to MAX. A warning tells of anything else, and FALLBACK is used. */
unsigned int provider_env_number(const char *name, unsigned int min, unsigned int max,
				 unsigned int fallback);

/* The enumeration says where the memory of queues comes from. Unlike the rest this is read whenever
 * a queue is created, as programs change it in between: NAME is MLX_QP_ALLOC_TYPE or another of its
 * kind. */
enum env_alloc {
	ENV_ALLOC_ANON,        /* ordinary pages; "ANON", and when nothing is said */
	ENV_ALLOC_HUGE,        /* "HUGE": huge pages or failure */
	ENV_ALLOC_PREFER_HUGE, /* "PREFER_HUGE", "ALL": huge pages if there are any */
	ENV_ALLOC_CONTIG, /* "CONTIG": physically contiguous pages, which Linux does not give */
};

enum env_alloc provider_env_alloc_type(const char *name);

#endif
