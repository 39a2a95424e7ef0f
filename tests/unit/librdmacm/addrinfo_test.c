/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_test.c - what rdma_getaddrinfo() asks of the C library, for each kind of hints, and what
 * it makes of the answer. The C library's getaddrinfo() is the test's own, but for numbers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/addrinfo.c"

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found);

static struct {
	struct addrinfo wanted;
	int fails; /* an EAI_ number */
	int services, routes, route_fails;
} it;

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found)
{
	it.wanted = *hints;
	return it.fails ? it.fails : __real_getaddrinfo(node, service, hints, found);
}

int rdmacm_addrinfo_add_route(struct rdma_addrinfo **list, const struct rdma_addrinfo *hints)
{
	(void)hints;
	assert_non_null(*list);
	it.routes++;
	return it.route_fails;
}

int rdmacm_addrinfo_find_service(const char *node, const char *service,
				 const struct rdma_addrinfo *hints, struct rdma_addrinfo **list)
{
	(void)node, (void)service;
	it.services++;
	return take_hints(hints, list);
}

static int call_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	return 0;
}

static void nothing_is_an_error(void **state)
{
	const struct rdma_addrinfo hints = { 0 };
	struct rdma_addrinfo *res;

	(void)state;
	errno = 0;
	assert_int_equal(rdma_getaddrinfo(NULL, NULL, NULL, &res), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(rdma_getaddrinfo("127.0.0.1", "7", &hints, NULL), -1);
	assert_int_equal(errno, EINVAL);
}

/* Hints have a port space, a QP type, both or none. */
static void port_space_and_qp_type_decide_each_other(void **state)
{
	static const struct {
		int port_space, qp_type, socktype, protocol, gets_port_space, gets_qp_type;
	} cases[] = {
		{ 0, 0, SOCK_STREAM, 0, RDMA_PS_TCP, IBV_QPT_RC },
		{ RDMA_PS_TCP, 0, SOCK_STREAM, IPPROTO_TCP, RDMA_PS_TCP, IBV_QPT_RC },
		{ RDMA_PS_IB, 0, SOCK_STREAM, 0, RDMA_PS_IB, IBV_QPT_RC },
		{ RDMA_PS_UDP, 0, SOCK_DGRAM, IPPROTO_UDP, RDMA_PS_UDP, IBV_QPT_UD },
		{ RDMA_PS_IPOIB, 0, SOCK_DGRAM, IPPROTO_UDP, RDMA_PS_IPOIB, IBV_QPT_UD },
		{ 0, IBV_QPT_UD, SOCK_DGRAM, 0, RDMA_PS_UDP, IBV_QPT_UD },
		{ 0, IBV_QPT_UC, SOCK_STREAM, 0, RDMA_PS_TCP, IBV_QPT_UC },
		{ 0, IBV_QPT_XRC_SEND, SOCK_STREAM, 0, RDMA_PS_TCP, IBV_QPT_XRC_SEND },
		{ 0, IBV_QPT_XRC_RECV, SOCK_STREAM, 0, RDMA_PS_TCP, IBV_QPT_XRC_RECV },
		{ RDMA_PS_IB, IBV_QPT_UD, SOCK_DGRAM, 0, RDMA_PS_IB, IBV_QPT_UD },
		{ 0, IBV_QPT_RAW_PACKET, 0, 0, RDMA_PS_TCP, IBV_QPT_RAW_PACKET },
	};
	struct rdma_addrinfo *res;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST,
						     .ai_port_space = cases[i].port_space,
						     .ai_qp_type = cases[i].qp_type };

		assert_int_equal(rdma_getaddrinfo("127.0.0.1", "7", &hints, &res), 0);
		assert_int_equal(it.wanted.ai_socktype, cases[i].socktype);
		assert_int_equal(it.wanted.ai_protocol, cases[i].protocol);
		assert_int_equal(it.wanted.ai_flags, AI_NUMERICHOST);
		assert_int_equal(res->ai_port_space, cases[i].gets_port_space);
		assert_int_equal(res->ai_qp_type, cases[i].gets_qp_type);
		rdma_freeaddrinfo(res);
	}
	assert_int_equal(it.routes, sizeof(cases) / sizeof(*cases));
}

static void an_address_is_of_the_peer_or_ones_own(void **state)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct rdma_addrinfo hints = { .ai_src_addr = (struct sockaddr *)&own,
				       .ai_src_len = sizeof(own) };
	const struct sockaddr_in *addr;
	struct rdma_addrinfo *res;

	(void)state;
	assert_int_equal(rdma_getaddrinfo("127.0.0.1", "7", &hints, &res), 0);
	assert_int_equal(it.wanted.ai_flags, 0);
	addr = (const struct sockaddr_in *)res->ai_dst_addr;
	assert_int_equal(ntohs(addr->sin_port), 7);
	assert_int_equal(res->ai_dst_len, sizeof(*addr));
	assert_int_equal(res->ai_family, AF_INET);
	assert_int_equal(res->ai_flags, 0);
	assert_memory_equal(res->ai_src_addr, &own, sizeof(own));
	rdma_freeaddrinfo(res);
	hints.ai_flags = RAI_PASSIVE | RAI_NUMERICHOST;
	assert_int_equal(rdma_getaddrinfo(NULL, "7", &hints, &res), 0);
	assert_int_equal(it.wanted.ai_flags, AI_PASSIVE | AI_NUMERICHOST);
	addr = (const struct sockaddr_in *)res->ai_src_addr;
	assert_int_equal(ntohs(addr->sin_port), 7);
	assert_null(res->ai_dst_addr);
	assert_int_equal(res->ai_flags, RAI_PASSIVE);
	rdma_freeaddrinfo(res);
}

static void a_gid_is_written_as_an_ipv6_address(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST | RAI_FAMILY,
				       .ai_family = AF_IB };
	struct rdma_addrinfo *res;
	struct sockaddr_ib sib;

	(void)state;
	assert_int_equal(rdma_getaddrinfo("fe80::2:c903:0:1", "7", &hints, &res), 0);
	assert_int_equal(res->ai_family, AF_IB);
	assert_int_equal(res->ai_dst_len, sizeof(sib));
	memcpy(&sib, res->ai_dst_addr, sizeof(sib));
	assert_int_equal(sib.sib_family, AF_IB);
	assert_int_equal(sib.sib_pkey, 0xffff);
	assert_int_equal(sib.sib_addr.sib_raw[15], 1);
	assert_int_equal(be64toh(sib.sib_sid), (uint64_t)RDMA_PS_IB << 16 | 7);
	assert_int_equal(be64toh(sib.sib_sid_mask), UINT64_MAX);
	rdma_freeaddrinfo(res);
	hints.ai_port_space = RDMA_PS_TCP;
	assert_int_equal(rdma_getaddrinfo("fe80::2:c903:0:1", NULL, &hints, &res), 0);
	memcpy(&sib, res->ai_dst_addr, sizeof(sib));
	assert_int_equal(be64toh(sib.sib_sid), (uint64_t)RDMA_PS_TCP << 16);
	assert_int_equal(be64toh(sib.sib_sid_mask), RDMA_IB_IP_PS_MASK);
	rdma_freeaddrinfo(res);
	hints.ai_flags = RAI_NUMERICHOST; /* then it is an IP address */
	assert_int_equal(rdma_getaddrinfo("127.0.0.1", NULL, &hints, &res), 0);
	assert_int_equal(it.wanted.ai_family, AF_UNSPEC);
	assert_int_equal(res->ai_family, AF_INET);
	rdma_freeaddrinfo(res);
}

static void hints_alone_are_the_answer(void **state)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_in6 peer = { .sin6_family = AF_INET6, .sin6_port = htons(10) };
	const struct rdma_addrinfo hints = { .ai_flags = RAI_NOROUTE,
					     .ai_family = AF_INET6,
					     .ai_qp_type = IBV_QPT_UC,
					     .ai_port_space = RDMA_PS_IB,
					     .ai_src_addr = (struct sockaddr *)&own,
					     .ai_src_len = sizeof(own),
					     .ai_dst_addr = (struct sockaddr *)&peer,
					     .ai_dst_len = sizeof(peer) };
	struct rdma_addrinfo *res;

	(void)state;
	assert_int_equal(rdma_getaddrinfo(NULL, NULL, &hints, &res), 0);
	assert_int_equal(res->ai_flags, RAI_NOROUTE);
	assert_int_equal(res->ai_family, AF_INET6);
	assert_int_equal(res->ai_qp_type, IBV_QPT_UC);
	assert_int_equal(res->ai_port_space, RDMA_PS_IB);
	assert_memory_equal(res->ai_src_addr, &own, sizeof(own));
	assert_memory_equal(res->ai_dst_addr, &peer, sizeof(peer));
	assert_int_equal(it.routes, 1);
	rdma_freeaddrinfo(res);
}

static void services_need_no_route(void **state)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	struct rdma_addrinfo *res;

	(void)state;
	assert_int_equal(rdma_getaddrinfo(NULL, "name", &hints, &res), 0);
	assert_int_equal(it.services, 1);
	assert_int_equal(it.routes, 0);
	rdma_freeaddrinfo(res);
}

static void what_fails_has_an_errno_and_no_list(void **state)
{
	static const struct {
		int eai, err;
	} cases[] = { { EAI_MEMORY, ENOMEM },       { EAI_AGAIN, EAGAIN },
		      { EAI_FAMILY, EAFNOSUPPORT }, { EAI_BADFLAGS, EINVAL },
		      { EAI_SERVICE, EINVAL },      { EAI_SOCKTYPE, EINVAL },
		      { EAI_NONAME, ENODATA },      { EAI_FAIL, ENODATA } };
	struct rdma_addrinfo *res = NULL;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		it.fails = cases[i].eai;
		assert_int_equal(rdma_getaddrinfo("name", NULL, NULL, &res), cases[i].eai);
		assert_int_equal(errno, cases[i].err);
	}
	it.fails = EAI_SYSTEM;
	errno = EMFILE;
	assert_int_equal(rdma_getaddrinfo("name", NULL, NULL, &res), EAI_SYSTEM);
	assert_int_equal(errno, EMFILE);
	it.fails = 0;
	it.route_fails = ENOMEM;
	assert_int_equal(rdma_getaddrinfo("127.0.0.1", NULL, NULL, &res), -1);
	assert_int_equal(errno, ENOMEM);
	assert_null(res);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, call_begin)
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_an_error),
		TEST(port_space_and_qp_type_decide_each_other),
		TEST(an_address_is_of_the_peer_or_ones_own),
		TEST(a_gid_is_written_as_an_ipv6_address),
		TEST(hints_alone_are_the_answer),
		TEST(services_need_no_route),
		TEST(what_fails_has_an_errno_and_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
