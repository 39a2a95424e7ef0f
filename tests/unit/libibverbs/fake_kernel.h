/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_kernel.h - commands as the kernel sees them: object, method and attributes, spelled out.
 *
 * ioctl() is replaced (--wrap) by a kernel that writes down what it was given, fills outputs with a
 * pattern and names new objects 0x51, 0x52, ... An attribute reads "ID=LEN:VALUE" with its value
 * inside, "ID<BYTES" with its value in memory, "ID>LEN" for an output, "ID=new" for an object that
 * is made and "ID=HANDLE" for one that exists; a question mark stands before what the kernel may
 * ignore, and the variant of an enumerated attribute behind a slash.
 */
#ifndef TESTS_UNIT_LIBIBVERBS_FAKE_KERNEL_H
#define TESTS_UNIT_LIBIBVERBS_FAKE_KERNEL_H

#include "unit.h"

#include <endian.h>
#include <stdio.h>

#include "fake_device.h"
#include "cmd/cmd.h"

struct fake_kernel {
	char text[4096];
	int calls;
	int err;
	int eintr; /* number of EINTR before a success */
	bool old;  /* knows INVOKE_WRITE only, like Linux 5.4 for most methods */
	uint32_t next_handle;
	unsigned char fill;
	bool counts;            /* fills outputs with 1, 2, 3, ... instead */
	uint32_t report_events; /* first word of outputs, unless 0 */
};
extern struct fake_kernel kernel;

#define IDS(...) ((const uint16_t[]){ __VA_ARGS__, 0xffff })

/* Names the output attributes and new objects of the next method, as the ioctl itself does not tell
 * them. */
void expect(const uint16_t *outs, const uint16_t *news);

void count_bytes(void *data, size_t len);

int open_fake(void **state);
int close_fake(void **state);
struct ibv_context *context_of(void **state);

/* The kernel's structures are in host byte order, and "<BYTES" is written for little-endian hosts.
 * On big-endian hosts, bytes are compared in any order within groups of 8, since no number crosses
 * a group; finer tests are skipped there. */
#if __BYTE_ORDER == __BIG_ENDIAN
void assert_same_but_for_order(const char *got, const char *want);
#undef assert_string_equal
#define assert_string_equal(got, want) assert_same_but_for_order(got, want)
#define NEEDS_LITTLE_ENDIAN()          skip()
#else
#define NEEDS_LITTLE_ENDIAN() ((void)0)
#endif

#define ADDRESS_OF(object) ((unsigned long long)(uintptr_t)(object))

/* Returns the bytes of a 64-bit value in this host's order. */
static inline const char *bytes_of(uint64_t value)
{
	static char text[17];

	for (int i = 0; i < 8; i++)
		snprintf(text + 2 * i, 3, "%02x", ((unsigned char *)&value)[i]);
	return text;
}

#define COMMAND_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_fake, close_fake)

#endif
