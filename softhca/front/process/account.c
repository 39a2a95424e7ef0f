/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * account.c - what the programs of one user have together.
 */
#include <stdlib.h>
#include <unistd.h>

#include "softhca/front/process/account.h"

static LIST_HEAD(, account) accounts = LIST_HEAD_INITIALIZER(accounts);

static struct account *account_find(unsigned int uid)
{
	struct account *account;

	LIST_FOREACH(account, &accounts, in_all)
		if (account->uid == uid)
			return account;
	return NULL;
}

static struct account *account_create(unsigned int uid)
{
	struct account *account = calloc(1, sizeof(*account));

	if (!account)
		return NULL;
	account->uid = uid;
	account->is_ours = uid == geteuid();
	LIST_INSERT_HEAD(&accounts, account, in_all);
	return account;
}

struct account *account_get(unsigned int uid)
{
	struct account *account = account_find(uid);

	if (!account)
		account = account_create(uid);
	if (account)
		account->clients++;
	return account;
}

void account_put(struct account *account)
{
	if (--account->clients)
		return;
	LIST_REMOVE(account, in_all);
	free(account);
}
