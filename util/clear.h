/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clear.h - clears a struct of some hundred bytes. Compilers make one string instruction of its
 * zeros, which takes longer to begin than the stores that are written here take together.
 */
#ifndef UTIL_CLEAR_H
#define UTIL_CLEAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t clear_line __attribute__((vector_size(16), aligned(4), may_alias));

/* SIZE is a constant. The empty asm keeps the loop from being made the string instruction again. */
static inline __attribute__((always_inline)) void clear_struct(void *to, size_t size)
{
	const size_t lines = size / sizeof(clear_line);
	clear_line *at = to;

#pragma GCC unroll 16
	for (size_t i = 0; i < lines; i++) {
		at[i] = (clear_line){ 0 };
		__asm__("" ::: "memory");
	}
	memset(at + lines, 0, size % sizeof(clear_line));
}

#endif
