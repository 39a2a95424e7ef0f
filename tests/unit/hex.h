/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hex.h - golden bytes as text.
 */
#ifndef TEST_HEX_H
#define TEST_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Pairs of digits; spaces between pairs do not count. It returns how many bytes are in OUT. */
static inline size_t from_hex(const char *text, uint8_t *out)
{
	size_t len = 0;

	for (; *text; text++)
		if (*text != ' ') {
			char byte[3] = { text[0], text[1], 0 };

			out[len++] = (uint8_t)strtoul(byte, NULL, 16);
			text++;
		}
	return len;
}

#endif
