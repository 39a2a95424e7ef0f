/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * distribution_test.c - the command that returns to the distribution's packages, by os-release.
 */
#include "libibverbs/doctor/distribution.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The first words of the cure; it is "install" alone if the distribution is unknown. */
static void check_way(const char *os_release, const char *beginning)
{
	char text[128];
	FILE *file;

	snprintf(text, sizeof(text), "%s", os_release);
	file = fmemopen(text, strlen(text), "r");
	assert_non_null(file);
	assert_memory_equal(way_to_distribution_of(file), beginning, strlen(beginning));
	fclose(file);
}

static void debian_and_what_is_like_it_have_apt(void **state)
{
	(void)state;
	check_way("NAME=\"Debian GNU/Linux\"\nID=debian\n", "on amd64 apt install ");
	check_way("ID=ubuntu\nID_LIKE=debian\n", "on amd64 apt install ");
	check_way("ID=linuxmint\nID_LIKE=\"ubuntu debian\"", "on amd64 apt install ");
}

static void fedora_and_what_is_like_it_have_dnf(void **state)
{
	(void)state;
	check_way("NAME=\"Fedora Linux\"\nID=fedora\n", "dnf");
	check_way("ID=\"rhel\"\n", "dnf");
	check_way("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf");
}

static void others_have_no_tool_that_is_known(void **state)
{
	(void)state;
	check_way("ID=arch\nNAME=debian\nBUG_REPORT_URL=\"https://fedora\"\nID=", "install");
	check_way("\n=\nID\n", "install");
	assert_memory_equal(way_to_distribution_of(NULL), "install", 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debian_and_what_is_like_it_have_apt),
		cmocka_unit_test(fedora_and_what_is_like_it_have_dnf),
		cmocka_unit_test(others_have_no_tool_that_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
