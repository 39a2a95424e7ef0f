/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to ibacm, byte for byte as Debian's librdmacm sends them, and the parsing of valid and
 * invalid answers.
 *
 * Covers: librdmacm/acm_wire.c
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/acm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <netinet/in.h>
#include <string.h>

/* Numbers are in the host's byte order. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define HOST16(value) (value) & 0xff, (value) >> 8
#define HOST32(value) HOST16((value)&0xffff), HOST16((value) >> 16)
#else
#define HOST16(value) (value) >> 8, (value)&0xff
#define HOST32(value) HOST16((value) >> 16), HOST16((value)&0xffff)
#endif

static struct sockaddr_in ipv4(const char *text)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { inet_addr(text) } };
}

/* Compares bytes, and clears them; the bytes left at the end must be 0. */
static void bytes_check(uint8_t *bytes, size_t at, const uint8_t *expected, size_t len)
{
	assert_memory_equal(bytes + at, expected, len);
	memset(bytes + at, 0, len);
}

static void check_rest_is_zero(const struct acm_message *message)
{
	static const struct acm_message zero;

	assert_memory_equal(message, &zero, sizeof(zero));
}

static void destination_is_header_and_one_entry(void **state)
{
	static const uint8_t header[] = { 1, 1, 0, 0, 0, 0, HOST16(88) };
	static const uint8_t entry[] = { HOST32(2), HOST16(2), 0, 0, 127, 0, 0, 1 };
	struct sockaddr_in dst = ipv4("127.0.0.1");
	struct acm_question question = { .dst = (struct sockaddr *)&dst };
	struct acm_message message;

	(void)state;
	assert_int_equal(rdmacm_acm_pack(&question, &message), 0);
	bytes_check((uint8_t *)&message, 0, header, sizeof(header));
	bytes_check((uint8_t *)&message, 16, entry, sizeof(entry));
	check_rest_is_zero(&message);
}

static void source_goes_first_and_no_delay_is_of_the_destination(void **state)
{
	static const uint8_t header[] = { 1, 1, 0, 0, 0, 0, HOST16(160) };
	static const uint8_t first[] = { HOST32(1), HOST16(2), 0, 0, 198, 18, 0, 9 };
	static const uint8_t second[] = { HOST32(0x40000002), HOST16(2), 0, 0, 127, 0, 0, 1 };
	struct sockaddr_in src = ipv4("198.18.0.9"), dst = ipv4("127.0.0.1");
	struct acm_question question = { .src = (struct sockaddr *)&src,
					 .dst = (struct sockaddr *)&dst,
					 .no_delay = true };
	struct acm_message message;

	(void)state;
	assert_int_equal(rdmacm_acm_pack(&question, &message), 0);
	bytes_check((uint8_t *)&message, 0, header, sizeof(header));
	bytes_check((uint8_t *)&message, 16, first, sizeof(first));
	bytes_check((uint8_t *)&message, 88, second, sizeof(second));
	check_rest_is_zero(&message);
}

static void gid_is_asked_for_as_a_path(void **state)
{
	static const uint8_t header[] = { 1, 1, 0, 0, 0, 0, HOST16(88) };
	static const uint8_t kind[] = { HOST32(0), HOST16(0x10) };
	static const uint8_t gid[] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4 };
	struct sockaddr_ib dst = { .sib_family = AF_IB };
	struct acm_question question = { .dst = (struct sockaddr *)&dst, .no_delay = true };
	struct acm_message message;

	(void)state;
	memcpy(dst.sib_addr.sib_raw, gid, sizeof(gid));
	assert_int_equal(rdmacm_acm_pack(&question, &message), 0);
	bytes_check((uint8_t *)&message, 0, header, sizeof(header));
	bytes_check((uint8_t *)&message, 16, kind, sizeof(kind));
	bytes_check((uint8_t *)&message, 24 + 8, gid, sizeof(gid));
	check_rest_is_zero(&message);
}

static void other_families_are_refused(void **state)
{
	struct sockaddr dst = { .sa_family = AF_UNIX };
	struct acm_question question = { .dst = &dst };
	struct acm_message message;

	(void)state;
	assert_int_equal(rdmacm_acm_pack(&question, &message), EINVAL);
}

static struct acm_message answer_of(unsigned int entries)
{
	return (struct acm_message){ .header = { .version = ACM_VERSION,
						 .opcode = ACM_OP_RESOLVE | ACM_OP_ACK,
						 .length = sizeof(struct acm_header) +
							   entries * sizeof(struct acm_entry) } };
}

static void paths_and_source_are_taken_in_any_order(void **state)
{
	struct acm_message message = answer_of(5);
	struct acm_answer answer;

	(void)state;
	message.entries[0].kind = ACM_ENTRY_PATH;
	message.entries[0].flags = 0x2b;
	message.entries[0].path.dlid = htons(7);
	message.entries[1].kind = ACM_ENTRY_IPV4;
	message.entries[1].flags = ACM_FLAG_DEST;
	message.entries[2].kind = ACM_ENTRY_IPV6;
	message.entries[2].flags = ACM_FLAG_SOURCE;
	message.entries[2].addr[15] = 1;
	message.entries[3].kind = ACM_ENTRY_PATH;
	message.entries[3].path.dlid = htons(8);
	message.entries[4] = message.entries[2]; /* a second source is ignored */
	message.entries[4].addr[15] = 2;
	assert_int_equal(rdmacm_acm_unpack(&message, &answer), 0);
	assert_int_equal(answer.num_paths, 2);
	assert_int_equal(answer.paths[0].flags, 0x2b);
	assert_int_equal(answer.paths[0].path.dlid, htons(7));
	assert_int_equal(answer.paths[1].path.dlid, htons(8));
	assert_int_equal(answer.src_len, sizeof(struct sockaddr_in6));
	assert_int_equal(((struct sockaddr_in6 *)&answer.src)->sin6_addr.s6_addr[15], 1);
}

static void full_answer_has_eight_paths(void **state)
{
	struct acm_message message = answer_of(ACM_MAX_ENTRIES);
	struct acm_answer answer;

	(void)state;
	for (int i = 0; i < ACM_MAX_ENTRIES; i++)
		message.entries[i].kind = ACM_ENTRY_PATH;
	assert_int_equal(rdmacm_acm_unpack(&message, &answer), 0);
	assert_int_equal(answer.num_paths, ACM_MAX_ENTRIES);
}

static void answers_without_a_path_are_no_answers(void **state)
{
	struct acm_message message = answer_of(2);
	struct acm_answer answer;

	(void)state;
	message.entries[0].kind = ACM_ENTRY_IPV4;
	message.entries[1].kind = 0x77;
	assert_int_equal(rdmacm_acm_unpack(&message, &answer), ENODATA);
	message.entries[1].kind = ACM_ENTRY_PATH;
	for (unsigned int status = 1; status < 256; status++) {
		message.header.status = status;
		assert_int_equal(rdmacm_acm_unpack(&message, &answer), ENODATA);
	}
}

static void headers_that_make_no_sense_are_refused(void **state)
{
	struct acm_header good = answer_of(1).header, header = good;

	(void)state;
	assert_true(rdmacm_acm_header_is_sane(&good));
	header.version = 2;
	assert_false(rdmacm_acm_header_is_sane(&header));
	header = good;
	header.opcode = ACM_OP_RESOLVE;
	assert_false(rdmacm_acm_header_is_sane(&header));
	header = good;
	header.length = sizeof(header) - 1;
	assert_false(rdmacm_acm_header_is_sane(&header));
	header.length = sizeof(struct acm_message) + 1;
	assert_false(rdmacm_acm_header_is_sane(&header));
	header.length = sizeof(struct acm_message);
	assert_true(rdmacm_acm_header_is_sane(&header));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(destination_is_header_and_one_entry),
		cmocka_unit_test(source_goes_first_and_no_delay_is_of_the_destination),
		cmocka_unit_test(gid_is_asked_for_as_a_path),
		cmocka_unit_test(other_families_are_refused),
		cmocka_unit_test(paths_and_source_are_taken_in_any_order),
		cmocka_unit_test(full_answer_has_eight_paths),
		cmocka_unit_test(answers_without_a_path_are_no_answers),
		cmocka_unit_test(headers_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
