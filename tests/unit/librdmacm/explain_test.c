/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_test.c - names of events, and the line of the log for each kind of status.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/explain.c"
#include "tests/unit/log_text.h"

static struct rdma_cm_id id;

static const char *explained(enum rdma_port_space ps, enum rdma_cm_event_type type, int status)
{
	const struct rdma_cm_event event = { .id = &id, .event = type, .status = status };

	id.ps = ps;
	rdmacm_event_explain(&event);
	return log_text();
}

static void an_event_has_its_name(void **state)
{
	static const char *const names[] = {
		"ADDR_RESOLVED",     "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
		"CONNECT_REQUEST",   "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
		"REJECTED",          "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
		"MULTICAST_JOIN",    "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT",
		"ADDRINFO_RESOLVED", "ADDRINFO_ERROR",   "USER",           "INTERNAL",
	};
	const int count = sizeof(names) / sizeof(*names);

	(void)state;
	for (int i = 0; i < count; i++) {
		const char *name = rdma_event_str((enum rdma_cm_event_type)i);

		assert_memory_equal(name, "RDMA_CM_EVENT_", 14);
		assert_string_equal(name + 14, names[i]);
	}
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type)count), "UNKNOWN EVENT");
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type) - 1), "UNKNOWN EVENT");
}

static void success_and_the_programs_events_say_nothing(void **state)
{
	(void)state;
	assert_string_equal(explained(RDMA_PS_TCP, RDMA_CM_EVENT_REJECTED, 0), "");
	assert_string_equal(explained(RDMA_PS_TCP, RDMA_CM_EVENT_USER, 5), "");
	assert_string_equal(explained(RDMA_PS_TCP, RDMA_CM_EVENT_USER, 0), "");
}

static void a_status_is_explained_by_its_kind(void **state)
{
	static const struct {
		enum rdma_port_space ps;
		enum rdma_cm_event_type type;
		int status;
		const char *text;
	} cases[] = {
		{ RDMA_PS_TCP, RDMA_CM_EVENT_REJECTED, 28,
		  "RDMA_CM_EVENT_REJECTED: the other program says no (status 28)\n" },
		{ RDMA_PS_IB, RDMA_CM_EVENT_REJECTED, 1, ": no QP to be had (status 1)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_REJECTED, 35,
		  ": vendor option (ECE) not supported (status 35)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_REJECTED, 34, ": reason unknown (status 34)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_REJECTED, 36, ": reason unknown (status 36)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_REJECTED, 1000, ": reason unknown (status 1000)\n" },
		{ RDMA_PS_UDP, RDMA_CM_EVENT_UNREACHABLE, 1,
		  ": no such service: no program listens there (status 1)\n" },
		{ RDMA_PS_IPOIB, RDMA_CM_EVENT_UNREACHABLE, 5,
		  ": version of the protocol refused (status 5)\n" },
		{ RDMA_PS_UDP, RDMA_CM_EVENT_UNREACHABLE, 6, ": reason unknown (status 6)\n" },
		{ RDMA_PS_UDP, RDMA_CM_EVENT_REJECTED, 2,
		  ": the other program says no (status 2)\n" },
		{ RDMA_PS_UDP, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT,
		  ": Connection timed out (status -110)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT,
		  ": Connection timed out (status -110)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_UNREACHABLE, EPERM,
		  ": Operation not permitted (status 1)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_REJECTED, 8,
		  "(status 8): start the server first, with the same port space and port\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_UNREACHABLE, 8, "(status 8)\n" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV,
		  "(status -19): no network interface of an RDMA port leads to the address" },
		{ RDMA_PS_TCP, RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL,
		  "(status -22): the subnet has no path to the address" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = explained(cases[i].ps, cases[i].type, cases[i].status);

		if (!strstr(text, cases[i].text))
			fail_msg("\"%s\" is not in: %s", cases[i].text, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_has_its_name),
		cmocka_unit_test(success_and_the_programs_events_say_nothing),
		cmocka_unit_test(a_status_is_explained_by_its_kind),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
