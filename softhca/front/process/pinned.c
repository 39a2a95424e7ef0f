/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pinned.c - accounting of pinned memory. See pinned.h. Decision: docs/adr/0053.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/pinned.h"
#include "softhca/log.h"

enum { PAGE_SHIFT = 12 };

static bool no_limit;

void pinned_lift_limit(void)
{
	no_limit = true;
}

/* Returns the memlock limit of process PID in bytes. Reads it each time, as it may change at any
 * time. */
static uint64_t limit_of(pid_t pid)
{
	uint64_t limit = UINT64_MAX;
	char path[32], line[128];
	FILE *limits;

	snprintf(path, sizeof(path), "/proc/%d/limits", pid);
	limits = fopen(path, "re");
	while (limits && fgets(line, sizeof(line), limits))
		if (sscanf(line, "Max locked memory %" SCNu64, &limit) == 1)
			break; /* "unlimited" does not parse, so it leaves no limit */
	if (limits)
		fclose(limits);
	return limit;
}

/* Logs a refusal, as programs often do not report which call failed. */
static void refusal_explain(const struct client *client, uint64_t pages, uint64_t limit)
{
	static bool said;

	if (said)
		return;
	said = true;
	log_error("process %d has %" PRIu64 " bytes pinned, and %" PRIu64
		  " more would pass RLIMIT_MEMLOCK, which is %" PRIu64
		  ": refused, as Linux does. Cure: ulimit -l, docker run --ulimit memlock=-1, or "
		  "softhca's --memlock unlimited",
		  client->pid, client->pinned_pages << PAGE_SHIFT, pages << PAGE_SHIFT, limit);
}

static int charge(struct client *client, pid_t tid, uint64_t pages)
{
	uint64_t limit = no_limit ? UINT64_MAX : limit_of(client->pid);

	if (client->pinned_pages + pages > limit >> PAGE_SHIFT &&
	    !client_may(tid, CLIENT_CAP_IPC_LOCK)) {
		refusal_explain(client, pages, limit);
		return limit ? ENOMEM : EPERM;
	}
	client->pinned_pages += pages;
	return 0;
}

int pinned_add(struct client *client, pid_t tid, uint64_t addr, uint64_t len)
{
	uint64_t page = 1u << PAGE_SHIFT, end = addr + len;
	uint64_t pages = (end >> PAGE_SHIFT) + (end % page != 0) - (addr >> PAGE_SHIFT);
	int ret = charge(client, tid, pages);

	if (!ret)
		client->pinning.pages += pages;
	return ret;
}

static struct pinned_record *record_find(struct client *client, uint64_t page)
{
	struct pinned_record *record;

	LIST_FOREACH(record, &client->records, entry)
		if (record->page == page)
			return record;
	return NULL;
}

static int record_new(struct client *client, pid_t tid, uint64_t page, struct pinned_record **out)
{
	struct pinned_record *record = calloc(1, sizeof(*record));
	int ret = record ? charge(client, tid, 1) : ENOMEM;

	if (ret) {
		free(record);
		return ret;
	}
	record->client = client;
	record->page = page;
	LIST_INSERT_HEAD(&client->records, record, entry);
	*out = record;
	return 0;
}

int pinned_add_record(struct client *client, pid_t tid, uint64_t addr)
{
	uint64_t page = addr >> PAGE_SHIFT;
	struct pinned_record *record = record_find(client, page);
	int ret = record ? 0 : record_new(client, tid, page, &record);

	if (ret)
		return ret;
	record->users++;
	client->pinning.record = record;
	return 0;
}

static void record_put(struct pinned_record *record)
{
	if (--record->users)
		return;
	record->client->pinned_pages--;
	LIST_REMOVE(record, entry);
	free(record);
}

static void pages_drop(struct pinned *pinned)
{
	if (pinned->pages)
		pinned->client->pinned_pages -= pinned->pages;
	pinned->pages = 0;
}

void pinned_take(struct client *client, struct pinned *pinned)
{
	pages_drop(pinned);
	pinned->client = client;
	pinned->pages = client->pinning.pages;
	if (client->pinning.record)
		pinned->record = client->pinning.record;
	client->pinning = (struct pinned){ .client = client };
}

void pinned_drop(struct pinned *pinned)
{
	pages_drop(pinned);
	if (pinned->record)
		record_put(pinned->record);
	pinned->record = NULL;
}
