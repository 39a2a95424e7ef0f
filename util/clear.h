/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clear.h - clears a struct of some hundred bytes with vector stores. Compilers turn a memset() of
 * that size into one string instruction, whose start-up alone takes longer than these stores.
 */
#ifndef UTIL_CLEAR_H
#define UTIL_CLEAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t clear_line __attribute__((vector_size(16), aligned(4), may_alias));

/* Clears SIZE bytes; SIZE is a constant. The empty asm keeps the compiler from turning the loop
 * into a string instruction. */
static inline __attribute__((always_inline)) void clear_struct(void *to, size_t size)
{
	const size_t lines = size / sizeof(clear_line);
	clear_line *at = to;

#pragma GCC unroll 32
	for (size_t i = 0; i < lines; i++) {
		at[i] = (clear_line){ 0 };
		__asm__("" ::: "memory");
	}
	memset(at + lines, 0, size % sizeof(clear_line));
}

#endif
