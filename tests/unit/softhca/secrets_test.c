/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * secrets_test.c - the secrets file of --crypto: its contents, and the lines that are refused.
 *
 * Covers: softhca/secrets.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "softhca/secrets.h"

#define KEK        "kek 000102030405060708090a0b0c0d0e0F\n"
#define TEN        "10111213141516171819"
#define CREDENTIAL "credential " TEN TEN TEN TEN "\n"

static int read_text(const char *text, struct hca_secrets *secrets)
{
	char path[] = "/tmp/secrets.XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	*secrets = (struct hca_secrets){ 0 };
	ret = secrets_read(path, secrets);
	unlink(path);
	return ret;
}

static void keys_and_credentials_are_taken(void **state)
{
	struct hca_secrets secrets;

	(void)state;
	assert_int_equal(read_text("# two\n\n" KEK KEK "  " CREDENTIAL, &secrets), 0);
	assert_int_equal(secrets.keks, 2);
	assert_int_equal(secrets.credentials, 1);
	assert_int_equal(secrets.kek[1].len, 16);
	assert_int_equal(secrets.kek[1].bytes[15], 15);
	assert_int_equal(secrets.credential[0][HCA_CREDENTIAL - 1], 0x19);
}

/* A line may be longer than any buffer: its tail belongs to it, comment or not. */
static void lines_may_be_long(void **state)
{
	struct hca_secrets secrets;
	char text[4096];

	(void)state;
	for (int width = 240; width < 270; width++) {
		snprintf(text, sizeof(text), "#%*s" KEK KEK CREDENTIAL, width, "");
		assert_int_equal(read_text(text, &secrets), 0);
		assert_int_equal(secrets.keks, 1);
		snprintf(text, sizeof(text), "%*s" KEK CREDENTIAL, width, "");
		assert_int_equal(read_text(text, &secrets), 0);
	}
	snprintf(text, sizeof(text), "#%*s\n" KEK CREDENTIAL, 3000, "?");
	assert_int_equal(read_text(text, &secrets), 0);
}

static void other_lines_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		KEK,
		CREDENTIAL,
		KEK CREDENTIAL "key 00\n",
		KEK CREDENTIAL "kek\n",
		KEK CREDENTIAL "kek 00\n",
		KEK CREDENTIAL "kek 000102030405060708090a0b0c0d0e0g\n",
		KEK CREDENTIAL "kek 000102030405060708090a0b0c0d0e0\n",
		KEK CREDENTIAL "kek 000102030405060708090a0b0c0d0e0f more\n",
		KEK CREDENTIAL "credential " TEN TEN TEN "\n",
		KEK CREDENTIAL "credential " TEN TEN TEN TEN "10\n",
	};
	struct hca_secrets secrets;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(read_text(texts[i], &secrets), EINVAL);
	assert_int_equal(secrets_read("/nonexistent/secrets", &secrets), ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_credentials_are_taken),
		cmocka_unit_test(lines_may_be_long),
		cmocka_unit_test(other_lines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
