/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * no_adapter.c - librdmacm on a machine whose kernel has rdma_cm but no adapter. The first call
 * must fail, because programs then choose another transport.
 *
 * Covers: librdmacm/device.c rdmacm_device_must_exist, librdmacm/id.c rdma_create_event_channel
 */
#include <errno.h>
#include <fcntl.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/say.h"
#include "tests/lib/topics.h"

static void first_calls(void)
{
	struct rdma_cm_id *id = NULL;
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0); /* the kernel has rdma_cm */
	close(fd);
	errno = 0;
	say_check(!rdma_create_event_channel() && errno == ENODEV, "no channel");
	errno = 0;
	say_check(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == -1 && errno == ENODEV,
		  "no id with a channel of its own");
	errno = 0;
	say_check(rsocket(AF_INET, SOCK_STREAM, 0) == -1 && errno == ENODEV, "no socket");
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "no-adapter", first_calls } };

	return topics_main(topics, 1, argc, argv);
}
