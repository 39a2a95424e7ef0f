/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * source.h - the bytes that decide what a fuzzer does: every choice takes some, and the run ends
 * when none are left. They come from a seed (main.c) or from libFuzzer.
 */
#ifndef FUZZ_SOURCE_H
#define FUZZ_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
	const uint8_t *at;
	size_t left;
};

/* The byte after the last one is 0. */
static inline uint8_t take8(struct source *source)
{
	if (!source->left)
		return 0;
	source->left--;
	return *source->at++;
}

static inline uint32_t take32(struct source *source)
{
	uint32_t value = take8(source);

	value = value << 8 | take8(source);
	value = value << 8 | take8(source);
	return value << 8 | take8(source);
}

static inline uint32_t pick(struct source *source, uint32_t n)
{
	if (n <= 1)
		return 0;
	return (n <= 256 ? take8(source) : take32(source)) % n;
}

static inline bool once_in(struct source *source, uint32_t n)
{
	return pick(source, n) == n - 1;
}

/* Returns a number that is probably a limit of some field. */
static inline uint32_t take_edge(struct source *source)
{
	uint32_t power = 1u << pick(source, 32);

	switch (pick(source, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT32_MAX;
	case 2:
		return power;
	case 3:
		return power - 1;
	case 4:
		return -power;
	default:
		return take32(source);
	}
}

#endif
