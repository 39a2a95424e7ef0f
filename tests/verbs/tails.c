/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tails.c - commands that are longer than the kernel's structure: each further byte must be zero,
 * from the first to the last. Checking them must not keep softhca's only thread busy for longer
 * than other commands do, as other programs wait meanwhile.
 *
 * Covers: softhca/front/process/uverbs/uverbs.c, softhca/front/process/uverbs/call.c
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "tests/lib/kernel/uverbs_request.h"
#include "util/bits.h"

enum {
	MLX5_DRIVER = 1,
	KNOWN = sizeof(struct ib_uverbs_ex_query_device),
	LONGEST = UINT16_MAX,
	ROOM = 1 << 16,
	ROUNDS = 100,
	/* times as long as without a tail, as other programs run too; byte by byte it is more than
	 * 500 */
	LIMIT = 20,
};

static struct rig rig;
static uint8_t *bytes; /* ROOM, all zero, with nothing mapped behind it */

/* Returns the errno of a command of LEN bytes, the last of which lie at the end of the memory, or
 * OVER bytes behind it. */
static int try_command(uint16_t len, size_t over)
{
	const uint64_t number = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
	const struct uverbs_request_header command = { .object_id = UVERBS_OBJECT_DEVICE,
						       .method_id = UVERBS_METHOD_INVOKE_WRITE,
						       .driver_id = MLX5_DRIVER };
	struct ib_uverbs_ex_query_device_resp resp;
	struct ib_uverbs_attr attrs[] = {
		uverbs_attr_in(UVERBS_ATTR_WRITE_CMD, sizeof(number), &number),
		uverbs_attr_in(UVERBS_ATTR_CORE_IN, len, bytes + ROOM - len + over),
		uverbs_attr_out(UVERBS_ATTR_CORE_OUT, sizeof(resp), &resp),
	};

	return uverbs_request_run(rig.ctx->cmd_fd, &command, attrs, ARRAY_SIZE(attrs));
}

static void each_byte_counts(void)
{
	static const size_t places[] = {
		KNOWN, KNOWN + 1,    255,          256,         4095,
		4096,  KNOWN + 4095, KNOWN + 4096, LONGEST - 2, LONGEST - 1
	};
	uint8_t *command = bytes + ROOM - LONGEST;

	say_check(!try_command(LONGEST, 0), "zero bytes are taken");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		command[places[i]] = 1;
		say_check(try_command(LONGEST, 0) == EOPNOTSUPP, "byte %zu is seen", places[i]);
		command[places[i]] = 0;
	}
	say_check(try_command(LONGEST, 1) == EFAULT, "the last one has to be there");
	bytes[ROOM - 1] = 1;
	say_check(try_command(KNOWN + 2, 1) == EOPNOTSUPP,
		  "one ahead of what is not there is seen");
	bytes[ROOM - 1] = 0;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The shortest of ROUNDS, as that one is no other program's doing. */
static int64_t duration_ns(uint16_t len)
{
	int64_t began, shortest = INT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		began = now_ns();
		MUST(!try_command(len, 0));
		if (now_ns() - began < shortest)
			shortest = now_ns() - began;
	}
	return shortest;
}

static void nobody_waits_for_a_tail(void)
{
	int64_t plain = duration_ns(KNOWN), longest = duration_ns(LONGEST);

	say_check(longest < LIMIT * plain, "the longest takes less than %d times as long", LIMIT);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "bytes", each_byte_counts },
					       { "time", nobody_waits_for_a_tail } };

	TOPICS_CHOOSE(topics, argc, argv);
	rig_open(&rig);
	bytes = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(bytes != MAP_FAILED && !munmap(bytes + ROOM, ROOM));
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	rig_close(&rig);
	return topics_end();
}
