/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linked.c - opens the adapter in a program that is linked with the distribution's libefa.so.1, and
 * asks that for a property of its own adapters.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

/* of libefa.so.1; the attributes are its own */
int efadv_query_device(struct ibv_context *context, void *attr, uint32_t inlen);

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	char attr[256] = { 0 };
	int err;

	if (!list || !list[0]) {
		printf("no device\n");
		return 1;
	}
	context = ibv_open_device(list[0]);
	if (!context) {
		printf("%s: %s\n", ibv_get_device_name(list[0]), strerror(errno));
		return 1;
	}
	err = efadv_query_device(context, attr, sizeof(attr));
	printf("%s is open; efadv_query_device: %s\n", ibv_get_device_name(list[0]), strerror(err));
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}
