/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.c - the hardware's counters of a device and of its ports (sysfs: hw_counters), and which
 * of them have moved since the program opened the device.
 *
 * Counters belong to the adapter, so other programs move them, too.
 */
#include "check.h"

#include "util/bits.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS_MAX = 256, NAME_SIZE = 64, DEVICE = 0, PORTS_MAX = 255 };

struct counter {
	char name[NAME_SIZE];
	uint64_t start;
};

/* The counters of one directory. Never freed: a program opens few devices. */
struct counters {
	struct counters *next;
	char device[IBV_SYSFS_NAME_MAX];
	char path[IBV_SYSFS_PATH_MAX + NAME_SIZE];
	unsigned int process; /* from verbs_check_process(); a child counts from its own start */
	unsigned int port;    /* or DEVICE */
	unsigned int count;
	struct counter all[];
};

static struct counters *watched; /* guarded by the checker's lock; entries do not change */

static bool counter_read(const char *path, const char *name, uint64_t *value)
{
	char text[32], *end;

	/* not a count of events, but how long the kernel keeps values */
	if (*name == '.' || !strcmp(name, "lifespan") || strlen(name) >= NAME_SIZE ||
	    verbs_sysfs_read(path, name, text, sizeof(text)))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return end != text && !*end && !errno;
}

static void counters_fill(struct counters *counters, DIR *dir)
{
	struct dirent *entry;
	uint64_t value;

	while (counters->count < COUNTERS_MAX && (entry = readdir(dir))) {
		if (!counter_read(counters->path, entry->d_name, &value))
			continue;
		strcpy(counters->all[counters->count].name, entry->d_name);
		counters->all[counters->count++].start = value;
	}
}

/* Reads the counters of a port, or of the device. Returns NULL if there are none. */
static struct counters *counters_read(const struct ibv_device *device, unsigned int port)
{
	struct counters *counters =
		calloc(1, sizeof(*counters) + COUNTERS_MAX * sizeof(struct counter));
	DIR *dir;

	if (!counters)
		return NULL;
	counters->process = verbs_check_process();
	counters->port = port;
	verbs_text_join(counters->device, sizeof(counters->device), device->name, "", "");
	if (port == DEVICE)
		snprintf(counters->path, sizeof(counters->path), "%s/hw_counters",
			 device->ibdev_path);
	else
		snprintf(counters->path, sizeof(counters->path), "%s/ports/%u/hw_counters",
			 device->ibdev_path, port);
	dir = opendir(counters->path);
	if (!dir) {
		free(counters);
		return NULL;
	}
	counters_fill(counters, dir);
	closedir(dir);
	return counters;
}

static bool is_ours(const struct counters *counters)
{
	return counters->process == verbs_check_process();
}

static bool device_is_watched(const char *name)
{
	const struct counters *at;

	verbs_check_lock();
	at = watched;
	while (at && (!is_ours(at) || strcmp(at->device, name) != 0))
		at = at->next;
	verbs_check_unlock();
	return at;
}

static void counters_watch(struct counters *counters)
{
	verbs_check_lock();
	counters->next = watched;
	watched = counters;
	verbs_check_unlock();
}

void verbs_check_counters_watch(const struct ibv_device *device)
{
	struct counters *counters;

	if (device_is_watched(device->name))
		return;
	counters = counters_read(device, DEVICE);
	if (counters)
		counters_watch(counters);
	for (unsigned int port = 1; port <= PORTS_MAX; port++) {
		counters = counters_read(device, port);
		if (!counters)
			return;
		counters_watch(counters);
	}
}

/* Adds the counters that have moved to TEXT, as "NAME +N, NAME +N". */
static void moves_write(const struct counters *counters, char *text, size_t size)
{
	size_t length = 0;
	uint64_t now;

	*text = '\0';
	for (unsigned int i = 0; i < counters->count && length < size; i++) {
		const struct counter *counter = &counters->all[i];

		if (counter_read(counters->path, counter->name, &now) && now > counter->start)
			length += (size_t)snprintf(text + length, size - length, "%s%s +%llu",
						   length ? ", " : "", counter->name,
						   (unsigned long long)(now - counter->start));
	}
}

static void counters_say(const struct counters *counters)
{
	char text[700], owner[16] = "the device";

	moves_write(counters, text, sizeof(text));
	if (counters->port != DEVICE)
		snprintf(owner, sizeof(owner), "port %u", counters->port);
	if (*text)
		verbs_log_write_each(VERBS_LOG_WARN,
				     "status: %s: counters of %s that have moved since the start, "
				     "by this program or another: %s",
				     counters->device, owner, text);
}

void verbs_check_counters_say(void)
{
	const struct counters *at;

	verbs_check_lock();
	at = watched;
	verbs_check_unlock();
	for (; at; at = at->next)
		if (is_ours(at))
			counters_say(at);
}
