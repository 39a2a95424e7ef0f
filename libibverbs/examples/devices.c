/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devices.c - ibv_devices: prints name and GUID of every adapter.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs.h>

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list) {
		perror("Failed to get IB devices list");
		return EXIT_FAILURE;
	}
	printf("    %-16s\t   node GUID\n", "device");
	printf("    %-16s\t----------------\n", "------");
	for (struct ibv_device **device = list; *device; device++)
		printf("    %-16s\t%016" PRIx64 "\n", ibv_get_device_name(*device),
		       be64toh(ibv_get_device_guid(*device)));
	ibv_free_device_list(list);
	return EXIT_SUCCESS;
}
