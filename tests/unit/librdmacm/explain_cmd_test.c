/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_cmd_test.c - what the log says of a command that the kernel refused: the causes that its
 * fields show, and all usual ones where they do not.
 *
 * Covers: librdmacm/explain_cmd.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "librdmacm/cma.h"
#include "util/bits.h"

/* TEXT is the explanation, or its part. */
#define EXPLAINED(cmd, err, text)                                    \
	do {                                                         \
		char why[384];                                       \
                                                                     \
		rdmacm_cmd_explain(cmd, err, why, sizeof(why));      \
		if (!strstr(why, text))                              \
			fail_msg("\"%s\" is not in: %s", text, why); \
		assert_in_range(strlen(why), 1, sizeof(why) - 2);    \
	} while (0)
#define SILENT_ABOUT(cmd, err, text)                             \
	do {                                                     \
		char why[384];                                   \
                                                                 \
		rdmacm_cmd_explain(cmd, err, why, sizeof(why));  \
		if (strstr(why, text))                           \
			fail_msg("\"%s\" is in: %s", text, why); \
	} while (0)

static void a_length_is_named_from_the_shorter_limit_on(void **state)
{
	static const struct {
		uint32_t number;
		unsigned int right, doubtful, wrong; /* lengths; 0: there is none */
		const char *length, *rule;
	} rows[] = {
		{ RDMA_USER_CM_CMD_CONNECT, 56, 57, 217,
		  ": a request takes at most 56 bytes over RDMA_PS_TCP, 180 over RDMA_PS_UDP",
		  " the id needs its route first" },
		{ RDMA_USER_CM_CMD_CONNECT, 0, 216, 255, ": a request takes at most 56 bytes",
		  " the id needs its route first" },
		{ RDMA_USER_CM_CMD_ACCEPT, 136, 137, 197,
		  ": an answer takes at most 196 bytes over RDMA_PS_TCP, 136 over RDMA_PS_UDP",
		  " the id must be of an event RDMA_CM_EVENT_CONNECT_REQUEST" },
		{ RDMA_USER_CM_CMD_ACCEPT, 0, 196, 255, ": an answer takes at most 196 bytes",
		  " the id must be of an event RDMA_CM_EVENT_CONNECT_REQUEST" },
		{ RDMA_USER_CM_CMD_REJECT, 136, 137, 149,
		  ": a rejection takes at most 148 bytes over RDMA_PS_TCP, 136 over RDMA_PS_UDP",
		  " the id must be of an event RDMA_CM_EVENT_CONNECT_REQUEST" },
		{ RDMA_USER_CM_CMD_REJECT, 0, 148, 255, ": a rejection takes at most 148 bytes",
		  " the id must be of an event RDMA_CM_EVENT_CONNECT_REQUEST" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const unsigned int lengths[] = { rows[i].right, rows[i].doubtful, rows[i].wrong };

		for (unsigned int k = 0; k < ARRAY_SIZE(lengths); k++) {
			struct cm_cmd cmd = { .hdr.cmd = rows[i].number };

			if (rows[i].number == RDMA_USER_CM_CMD_CONNECT)
				cmd.connect.conn_param.private_data_len = (uint8_t)lengths[k];
			else if (rows[i].number == RDMA_USER_CM_CMD_ACCEPT)
				cmd.accept.conn_param.private_data_len = (uint8_t)lengths[k];
			else
				cmd.reject.private_data_len = (uint8_t)lengths[k];
			if (k)
				EXPLAINED(&cmd, EINVAL, rows[i].length);
			else
				SILENT_ABOUT(&cmd, EINVAL, "private_data_len");
			if (k < 2)
				EXPLAINED(&cmd, EINVAL, rows[i].rule);
			else
				SILENT_ABOUT(&cmd, EINVAL, rows[i].rule);
		}
	}
}

static void a_timeout_of_0_is_named(void **state)
{
	struct cm_cmd cmd = { .hdr.cmd = RDMA_USER_CM_CMD_RESOLVE_ROUTE };

	(void)state;
	EXPLAINED(&cmd, EINVAL, ": timeout_ms 0: must be 1 or more");
	cmd.resolve_route.timeout_ms = 1;
	SILENT_ABOUT(&cmd, EINVAL, "timeout_ms");
	EXPLAINED(&cmd, EINVAL, ": the id needs its address first");
	EXPLAINED(&cmd, EINVAL, "RDMA_CM_EVENT_ADDR_RESOLVED, and resolve one route");
}

static void a_link_local_address_needs_its_interface(void **state)
{
	struct cm_cmd cmd = { .hdr.cmd = RDMA_USER_CM_CMD_BIND };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	(void)state;
	in6.sin6_addr.s6_addr[0] = 0xfe;
	in6.sin6_addr.s6_addr[1] = 0x80;
	in6.sin6_addr.s6_addr[15] = 1;
	memcpy(&cmd.bind.addr, &in6, sizeof(in6));
	EXPLAINED(&cmd, EINVAL, ": fe80::1 port 0: a link-local address needs its interface's");
	in6.sin6_scope_id = 2;
	memcpy(&cmd.bind.addr, &in6, sizeof(in6));
	EXPLAINED(&cmd, EINVAL, ": the id has an address already");
	in6.sin6_scope_id = 0;
	in6.sin6_addr.s6_addr[0] = 0x20;
	memcpy(&cmd.bind.addr, &in6, sizeof(in6));
	EXPLAINED(&cmd, EINVAL, ": the id has an address already");
}

static void a_rule_has_its_second_cause(void **state)
{
	struct cm_cmd resolve = { .hdr.cmd = RDMA_USER_CM_CMD_RESOLVE_ADDR };
	struct cm_cmd join = { .hdr.cmd = RDMA_USER_CM_CMD_JOIN_MCAST };

	(void)state;
	EXPLAINED(&resolve, EINVAL, "a bound one none of another family");
	EXPLAINED(&join, EINVAL, "of RDMA_PS_UDP or _IPOIB");
	EXPLAINED(&join, EINVAL, "no wildcard");
	EXPLAINED(&resolve, EACCES, "may use it)");
	SILENT_ABOUT(&resolve, EACCES, "1024");
	resolve.resolve_addr.src_size = sizeof(struct sockaddr_in);
	EXPLAINED(&resolve, EACCES, "; a source port below 1024 takes CAP_NET_BIND_SERVICE)");
	EXPLAINED(&join, EACCES, "may use it)");
}

static void what_no_field_shows_is_left_out(void **state)
{
	struct cm_cmd cmd = { .hdr.cmd = RDMA_USER_CM_CMD_RESOLVE_ADDR };
	char why[] = "of an earlier command";

	(void)state;
	rdmacm_cmd_explain(&cmd, ENOMEM, why, sizeof(why));
	assert_string_equal(why, "");
	strcpy(why, "another");
	cmd.hdr.cmd = UINT32_MAX;
	rdmacm_cmd_explain(&cmd, EINVAL, why, sizeof(why));
	assert_string_equal(why, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_length_is_named_from_the_shorter_limit_on),
		cmocka_unit_test(a_timeout_of_0_is_named),
		cmocka_unit_test(a_link_local_address_needs_its_interface),
		cmocka_unit_test(a_rule_has_its_second_cause),
		cmocka_unit_test(what_no_field_shows_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
