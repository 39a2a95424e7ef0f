/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unloaded.c - cm-unloaded: a program that loads librdmacm by dlopen(), uses it and unloads it must
 * have the same descriptors as before, except for the contexts that it was given.
 *
 * Covers: librdmacm/leave.c
 */
#include <dirent.h>
#include <dlfcn.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"

enum { ROUNDS = 3 };

static struct {
	void *library;
	struct rdma_event_channel *(*create_event_channel)(void);
	void (*destroy_event_channel)(struct rdma_event_channel *channel);
	int (*create_id)(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
			 enum rdma_port_space ps);
	int (*bind_addr)(struct rdma_cm_id *id, struct sockaddr *addr);
	int (*destroy_id)(struct rdma_cm_id *id);
	struct ibv_context **(*get_devices)(int *num_devices);
	void (*free_devices)(struct ibv_context **list);
} cm;

static void *call_of(const char *name)
{
	void *call = dlsym(cm.library, name);

	MUST(call);
	return call;
}

static void library_load(void)
{
	cm.library = dlopen("librdmacm.so.1", RTLD_NOW);
	MUST(cm.library);
	cm.create_event_channel = call_of("rdma_create_event_channel");
	cm.destroy_event_channel = call_of("rdma_destroy_event_channel");
	cm.create_id = call_of("rdma_create_id");
	cm.bind_addr = call_of("rdma_bind_addr");
	cm.destroy_id = call_of("rdma_destroy_id");
	cm.get_devices = call_of("rdma_get_devices");
	cm.free_devices = call_of("rdma_free_devices");
}

static void library_unload(void)
{
	MUST(!dlclose(cm.library));
	say_check(!dlopen("librdmacm.so.1", RTLD_NOW | RTLD_NOLOAD), "librdmacm is unloaded");
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	MUST(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void bind_an_id(void)
{
	struct rdma_event_channel *channel = cm.create_event_channel();
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr = { htonl(0xc6120001) } }; /* 198.18.0.1 */
	struct rdma_cm_id *id;

	MUST(channel && !cm.create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!cm.bind_addr(id, (struct sockaddr *)&addr) && id->verbs);
	MUST(!cm.destroy_id(id));
	cm.destroy_event_channel(channel);
}

static void unloaded_ids(void)
{
	int before = 0;

	for (int i = 0; i <= ROUNDS; i++) {
		library_load();
		bind_an_id();
		library_unload();
		/* not in the first round, as that one loaded the providers, which stay loaded */
		if (i)
			say_check(count_fds() == before, "no descriptor is left by an id");
		before = count_fds();
	}
}

/* Nobody can free the library's part of a context after the library is unloaded, so leak checkers
 * must not look at it. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:unloaded_devices\n";
}

static void unloaded_devices(void)
{
	struct ibv_device_attr attr;
	struct ibv_context **list, *context;

	library_load();
	list = cm.get_devices(NULL);
	MUST(list && *list);
	context = *list;
	cm.free_devices(list);
	library_unload();
	say_check(!ibv_query_device(context, &attr), "a context that was handed out lives on");
}

static const struct topic topics[] = {
	{ "ids", unloaded_ids },
	{ "devices", unloaded_devices },
};

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
