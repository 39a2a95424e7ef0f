/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refused_users.c - see refused_users.h.
 */
#include "softhca/front/process/program/refused_users.h"
#include "util/bits.h"

enum { MAX_REFUSED = 64 };

static struct {
	uid_t user;
	uint64_t until; /* 0: unused */
} refused[MAX_REFUSED];

void refused_users_add(uid_t user, uint64_t now)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(refused); i++) {
		if (refused[i].user == user && refused[i].until > now) {
			at = i;
			break;
		}
		if (refused[i].until < refused[at].until)
			at = i;
	}
	refused[at].user = user;
	refused[at].until = now + REFUSED_USER_MS * NS_PER_MS;
}

bool refused_users_has(uid_t user, uint64_t now)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(refused); i++)
		if (refused[i].user == user && refused[i].until > now)
			return true;
	return false;
}
