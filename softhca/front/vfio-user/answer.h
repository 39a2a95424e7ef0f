/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.h - answers to the client's messages. It does not use the socket.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_ANSWER_H
#define SOFTHCA_FRONT_VFIO_USER_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/front/pci/device.h"
#include "softhca/front/vfio-user/protocol.h"

struct message {
	enum vfu_command command;
	const uint8_t *body;
	size_t len;
	int *fd; /* set to -1 when taken; the caller closes the others */
	unsigned int num_fds;
	uint8_t *reply; /* VFU_MAX_TRANSFER and a struct vfu_region_access */
	size_t reply_len;
};

/* Answers a message. Returns 0 with the reply's body, or the errno for the client. */
int message_answer(struct device *device, struct message *message);

#endif
