/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * golden.h - golden bytes: what a test wants to see in a ring, as text.
 */
#ifndef TESTS_UNIT_GOLDEN_H
#define TESTS_UNIT_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* HEX is groups of hex digits, as printed by a dump; the bytes at AT start with it. */
#define check_bytes(at, hex) check_bytes_at(at, hex, __FILE__, __LINE__)

static inline int hex_byte(const char **hex)
{
	char digits[3] = { 0 };

	while (**hex == ' ')
		(*hex)++;
	if (!**hex)
		return -1;
	memcpy(digits, *hex, 2);
	*hex += 2;
	return (int)strtol(digits, NULL, 16);
}

static inline void check_bytes_at(const void *at, const char *hex, const char *file, int line)
{
	const uint8_t *bytes = at;
	const char *rest = hex;
	int want;

	for (unsigned int i = 0; (want = hex_byte(&rest)) >= 0; i++) {
		if (bytes[i] == want)
			continue;
		fprintf(stderr, "byte %u is %02x, not %02x; want %s\n have", i, bytes[i],
			(unsigned int)want, hex);
		for (unsigned int j = 0; j < strlen(hex) * 4 / 9 + 1; j++)
			fprintf(stderr, "%s%02x", j % 4 ? "" : " ", bytes[j]);
		fputc('\n', stderr);
		_fail(file, line);
	}
}

#endif
