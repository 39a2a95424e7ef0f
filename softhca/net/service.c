/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.c - see service.h.
 */
#include "softhca/net/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void services_init(struct services *services)
{
	*services = (struct services){ 0 };
	LIST_INIT(&services->list);
}

void services_clear(struct services *services)
{
	struct service *service;

	while ((service = LIST_FIRST(&services->list)) != NULL) {
		LIST_REMOVE(service, entry);
		free(service);
	}
	services_init(services);
}

int services_add(struct services *services, const uint8_t record[SERVICE_RECORD_SIZE])
{
	struct service *service;

	if (services->count == MAX_SERVICES)
		return ENOSPC;
	service = calloc(1, sizeof(*service));
	if (!service)
		return ENOMEM;
	memcpy(service->record, record, sizeof(service->record));
	if (services->last)
		LIST_INSERT_AFTER(services->last, service, entry);
	else
		LIST_INSERT_HEAD(&services->list, service, entry);
	services->last = service;
	services->count++;
	return 0;
}

/* Finds the place of a component in a record. One bit stands for a reserved field: its size is
 * 0. */
static void locate_component(unsigned int component, unsigned int *at, unsigned int *size)
{
	static const struct {
		unsigned int first, at, size;
	} fields[] = {
		{ SERVICE_HAS_DATA64, FLD_BYTE(SERVICE_DATA64), 8 },
		{ SERVICE_HAS_DATA32, FLD_BYTE(SERVICE_DATA32), 4 },
		{ SERVICE_HAS_DATA16, FLD_BYTE(SERVICE_DATA16), 2 },
		{ SERVICE_HAS_DATA8, FLD_BYTE(SERVICE_DATA8), 1 },
		{ SERVICE_HAS_NAME, FLD_BYTE(SERVICE_NAME), SERVICE_NAME_SIZE },
		{ SERVICE_HAS_KEY, FLD_BYTE(SERVICE_KEY), 16 },
		{ SERVICE_HAS_LEASE, FLD_BYTE(SERVICE_LEASE), 4 },
		{ SERVICE_HAS_PKEY + 1, FLD_BYTE(SERVICE_PKEY) + 2, 0 },
		{ SERVICE_HAS_PKEY, FLD_BYTE(SERVICE_PKEY), 2 },
		{ SERVICE_HAS_GID, FLD_BYTE(SERVICE_GID), 16 },
		{ SERVICE_HAS_ID, FLD_BYTE(SERVICE_ID), 8 },
	};
	unsigned int i = 0;

	while (component < fields[i].first)
		i++;
	*size = fields[i].size;
	*at = fields[i].at + (component - fields[i].first) * *size;
}

static bool service_agrees(const struct service *service, uint64_t components,
			   const uint8_t *wanted)
{
	unsigned int at, size;

	for (unsigned int i = 0; i < SERVICE_COMPONENTS; i++) {
		if (!(components >> i & 1))
			continue;
		locate_component(i, &at, &size);
		if (memcmp(service->record + at, wanted + at, size))
			return false;
	}
	return true;
}

unsigned int services_find(const struct services *services, uint64_t components,
			   const uint8_t wanted[SERVICE_RECORD_SIZE],
			   uint8_t (*records)[SERVICE_RECORD_SIZE], unsigned int room)
{
	const struct service *service;
	unsigned int count = 0;

	LIST_FOREACH(service, &services->list, entry) {
		if (!service_agrees(service, components, wanted))
			continue;
		if (count < room)
			memcpy(records[count], service->record, SERVICE_RECORD_SIZE);
		count++;
	}
	return count;
}

static int parse_port(const char *text, struct service_text *service)
{
	int used = 0;

	if (sscanf(text, "mlx5_%u%n", &service->device, &used) != 1)
		return EINVAL;
	text += used;
	if (*text && (sscanf(text, ":%u%n", &service->port, &used) != 1 || text[used]))
		return EINVAL;
	return service->port ? 0 : EINVAL;
}

int service_parse(const char *text, struct service_text *service)
{
	const char *comma = strchr(text, ',');
	size_t len = comma ? (size_t)(comma - text) : 0;
	char *end;

	*service = (struct service_text){ .port = 1 };
	if (!len || len >= sizeof(service->name))
		return EINVAL;
	memcpy(service->name, text, len);
	errno = 0;
	service->id = strtoull(comma + 1, &end, 0);
	if (errno || end == comma + 1 || (*end && *end != ','))
		return EINVAL;
	return *end ? parse_port(end + 1, service) : 0;
}

void service_fill(const struct service_text *service, const uint8_t gid[16],
		  uint8_t record[SERVICE_RECORD_SIZE])
{
	memset(record, 0, SERVICE_RECORD_SIZE);
	fld_set(record, SERVICE_ID, service->id);
	memcpy(fld_at(record, SERVICE_GID), gid, 16);
	fld_set(record, SERVICE_PKEY, PKEY_DEFAULT);
	fld_set(record, SERVICE_LEASE, SERVICE_LEASE_FOREVER);
	memcpy(fld_at(record, SERVICE_NAME), service->name, SERVICE_NAME_SIZE);
}
