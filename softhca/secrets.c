/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * secrets.c - reads the file of --crypto. See secrets.h.
 */
#include "softhca/secrets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/log.h"

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	if (!at)
		return -1;
	return at - digits < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

/* Converts hexadecimal TEXT. Returns the number of bytes, or 0 if TEXT is not hexadecimal or
 * exceeds ROOM. */
static size_t parse_hex(const char *text, uint8_t *bytes, size_t room)
{
	size_t len = 0;

	for (; text[0]; text += 2) {
		int high = hex_digit(text[0]), low = text[1] ? hex_digit(text[1]) : -1;

		if (high < 0 || low < 0 || len == room)
			return 0;
		bytes[len++] = (uint8_t)(high << 4 | low);
	}
	return len;
}

static const char *take_kek(struct hca_secrets *secrets, const char *hex)
{
	struct hca_kek *kek = &secrets->kek[secrets->keks];

	if (secrets->keks == HCA_KEKS)
		return "more keys than an adapter has room for";
	kek->len = (uint8_t)parse_hex(hex, kek->bytes, sizeof(kek->bytes));
	if (kek->len != 16 && kek->len != 32)
		return "a kek has 32 or 64 hexadecimal digits";
	secrets->keks++;
	return NULL;
}

static const char *take_credential(struct hca_secrets *secrets, const char *hex)
{
	if (secrets->credentials == HCA_CREDENTIALS)
		return "more credentials than an adapter has room for";
	if (parse_hex(hex, secrets->credential[secrets->credentials], HCA_CREDENTIAL) !=
	    HCA_CREDENTIAL)
		return "a credential has 80 hexadecimal digits";
	secrets->credentials++;
	return NULL;
}

static const char *take_line(struct hca_secrets *secrets, const char *line)
{
	char what[16], hex[128], more[2];
	int words = sscanf(line, "%15s %127s %1s", what, hex, more);

	if (words <= 0 || what[0] == '#')
		return NULL;
	if (words == 2 && !strcmp(what, "kek"))
		return take_kek(secrets, hex);
	if (words == 2 && !strcmp(what, "credential"))
		return take_credential(secrets, hex);
	return "neither 'kek HEX' nor 'credential HEX'";
}

static const char *take_lines(struct hca_secrets *secrets, FILE *file, unsigned int *number)
{
	const char *why = NULL;
	char *line = NULL;
	size_t size = 0;

	while (!why && getline(&line, &size, file) >= 0) {
		++*number;
		why = take_line(secrets, line);
	}
	free(line);
	return why;
}

int secrets_read(const char *path, struct hca_secrets *secrets)
{
	FILE *file = fopen(path, "re");
	unsigned int number = 0;
	const char *why;

	if (!file)
		return errno;
	why = take_lines(secrets, file, &number);
	fclose(file);
	if (!why && (!secrets->keks || !secrets->credentials))
		why = "no kek, or no credential, in the whole file";
	if (why)
		log_error("--crypto %s: line %u: %s", path, number, why);
	return why ? EINVAL : 0;
}
