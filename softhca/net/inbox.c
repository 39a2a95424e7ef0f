/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inbox.c - see inbox.h.
 */
#include <stdlib.h>
#include <string.h>

#include "softhca/log.h"
#include "softhca/net/inbox.h"

void inbox_init(struct inbox *inbox)
{
	STAILQ_INIT(&inbox->letters);
	inbox->count = 0;
	inbox->has_overflowed = false;
}

void inbox_clear(struct inbox *inbox)
{
	struct letter *letter;

	while ((letter = inbox_take(inbox)) != NULL)
		free(letter);
}

static void note_overflow(struct inbox *inbox)
{
	if (!inbox->has_overflowed)
		log_note("more than %d management requests at once: the rest is not answered",
			 INBOX_MAX);
	inbox->has_overflowed = true;
}

void inbox_put(struct inbox *inbox, const struct fabric_msg *msg)
{
	struct letter *letter;

	if (msg->payload_len != MAD_SIZE)
		return;
	if (inbox->count == INBOX_MAX) {
		note_overflow(inbox);
		return;
	}
	letter = malloc(sizeof(*letter));
	if (!letter)
		return;
	letter->msg = *msg;
	memcpy(letter->mad, msg->payload, MAD_SIZE);
	letter->msg.payload = letter->mad;
	STAILQ_INSERT_TAIL(&inbox->letters, letter, entry);
	inbox->count++;
}

struct letter *inbox_take(struct inbox *inbox)
{
	struct letter *letter = STAILQ_FIRST(&inbox->letters);

	if (!letter)
		return NULL;
	STAILQ_REMOVE_HEAD(&inbox->letters, entry);
	inbox->count--;
	return letter;
}
