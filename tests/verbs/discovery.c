/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * discovery.c - verbs-discovery TOPIC...: devices that a program finds, and their attributes, on a
 * host with unusual sysfs or device files. run-discovery starts an adapter with such a view.
 * "by-sysfs" in front of a topic hides RDMA netlink from the library.
 *
 * Covers: libibverbs/device.c, libibverbs/discovery/netlink.c, libibverbs/discovery/sysfs.c,
 * libibverbs/discovery/sysfs_device.c, softhca/front/process/discovery/
 */
#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/control.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

struct nl_sock;
int nl_connect(struct nl_sock *sock, int protocol);

uint32_t nla_get_u32(const struct nlattr *attr);

#define IN_FRONT __attribute__((visibility("default")))

static bool has_netlink = true;
static uint32_t other_driver; /* in place of the adapter's kernel driver, unless 0 */

IN_FRONT uint32_t nla_get_u32(const struct nlattr *attr)
{
	uint32_t value;

	memcpy(&value, attr + 1, sizeof(value));
	return other_driver && attr->nla_type == RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID ? other_driver
										  : value;
}

IN_FRONT int nl_connect(struct nl_sock *sock, int protocol)
{
	int (*real)(struct nl_sock *, int) = dlsym(RTLD_NEXT, "nl_connect");

	return has_netlink ? real(sock, protocol) : -1;
}

static bool node_is_there(void)
{
	return !access("/dev/infiniband/uverbs0", F_OK);
}

/* The files are there, or not, as soon as the adapter has answered. */
static void nodes_show(bool present)
{
	adapter_tell(present ? "nodes-appear" : "nodes-vanish");
	MUST(node_is_there() == present);
}

static void node_await(void)
{
	for (int i = 0; !node_is_there(); i++) {
		MUST(i < 30000);
		usleep(1000);
	}
}

static void say_device(struct ibv_device *device)
{
	say("%s %s guid %016llx, node type %d, transport %d", ibv_get_device_name(device),
	    device->dev_name, (unsigned long long)be64toh(ibv_get_device_guid(device)),
	    device->node_type, device->transport_type);
}

static void list_devices(void)
{
	struct ibv_device **list;
	int num = -1;

	list = SAY_PTR(ibv_get_device_list(&num), "list");
	say("num %d", num);
	for (struct ibv_device **at = list; at && *at; at++) {
		struct ibv_context *context;

		say_device(*at);
		context = SAY_PTR(ibv_open_device(*at), "open");
		if (context)
			ibv_close_device(context);
	}
	if (list)
		ibv_free_device_list(list);
}

/* Linux forgets the times of sysfs's files whenever it wants memory, and makes up new ones, so a
 * device must not be recognised by them. */
static void keep_pointers(void)
{
	struct ibv_device **first = ibv_get_device_list(NULL), **second;

	MUST(first && first[0]);
	second = ibv_get_device_list(NULL);
	MUST(second && second[0]);
	say_check(first[0] == second[0], "the device has one address");
	ibv_free_device_list(first);
	ibv_free_device_list(second);
}

static unsigned int descriptors_count(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* librdmacm opens a device once, whenever and however often it looks for devices. */
static void rdma_cm_opens_once(void)
{
	void *library = dlopen("librdmacm.so.1", RTLD_NOW);
	struct ibv_context **(*get_devices)(int *num);
	void (*free_devices)(struct ibv_context * *list);
	struct ibv_context **first, **second;
	unsigned int before;
	int num[2];

	MUST(library && (get_devices = dlsym(library, "rdma_get_devices")) &&
	     (free_devices = dlsym(library, "rdma_free_devices")));
	MUST(first = get_devices(&num[0]));
	before = descriptors_count();
	usleep(2000);
	MUST(second = get_devices(&num[1]));
	say_check(num[0] == num[1], "as many devices as before");
	say_check(first[0] == second[0], "the context is the same");
	say_check(descriptors_count() == before, "no more descriptors");
	free_devices(first);
	free_devices(second);
}

static struct rdma_cm {
	struct rdma_event_channel *(*create_event_channel)(void);
	int (*create_id)(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
			 enum rdma_port_space ps);
	int (*bind_addr)(struct rdma_cm_id *id, struct sockaddr *addr);
	int (*destroy_id)(struct rdma_cm_id *id);
	int (*get_cm_event)(struct rdma_event_channel *channel, struct rdma_cm_event **event);
	int (*ack_cm_event)(struct rdma_cm_event *event);
	void (*destroy_event_channel)(struct rdma_event_channel *channel);
	struct ibv_context **(*get_devices)(int *num);
} rdma_cm;

static void rdma_cm_load(void)
{
	void *library = dlopen("librdmacm.so.1", RTLD_NOW);

	MUST(library);
	MUST(rdma_cm.create_event_channel = dlsym(library, "rdma_create_event_channel"));
	MUST(rdma_cm.create_id = dlsym(library, "rdma_create_id"));
	MUST(rdma_cm.bind_addr = dlsym(library, "rdma_bind_addr"));
	MUST(rdma_cm.destroy_id = dlsym(library, "rdma_destroy_id"));
	MUST(rdma_cm.get_cm_event = dlsym(library, "rdma_get_cm_event"));
	MUST(rdma_cm.ack_cm_event = dlsym(library, "rdma_ack_cm_event"));
	MUST(rdma_cm.destroy_event_channel = dlsym(library, "rdma_destroy_event_channel"));
	MUST(rdma_cm.get_devices = dlsym(library, "rdma_get_devices"));
}

/* An id that is bound to the adapter has it open. */
static struct rdma_cm_id *bound_id(struct rdma_event_channel *channel)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(0xc6120001) } };
	struct rdma_cm_id *id;

	MUST(!rdma_cm.create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_cm.bind_addr(id, (struct sockaddr *)&addr) && id->verbs);
	return id;
}

static unsigned int contexts_count(void)
{
	char path[64], target[64];
	unsigned int count = 0;
	ssize_t size;

	for (int fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		size = readlink(path, target, sizeof(target) - 1);
		target[size < 0 ? 0 : size] = 0;
		count += strstr(target, "uverbs") != NULL;
	}
	return count;
}

/* No event reports it, but the list of devices no longer has it. */
static void rdma_cm_closes_unlisted(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *first, *second;
	int num;

	rdma_cm_load();
	MUST(channel = rdma_cm.create_event_channel());
	first = bound_id(channel);
	second = bound_id(channel);
	say_check(contexts_count() == 1, "two ids have one context");
	nodes_show(false);
	say_check(!rdma_cm.get_devices(&num) && !num, "no device is listed");
	MUST(!rdma_cm.destroy_id(first));
	say_check(contexts_count() == 1, "while an id uses it, the context stays");
	MUST(!rdma_cm.destroy_id(second));
	say_check(!contexts_count(), "it is closed with the last id");
	nodes_show(true);
	first = bound_id(channel);
	say_check(contexts_count() == 1, "a device that is there again is opened again");
	MUST(!rdma_cm.destroy_id(first));
	say_check(contexts_count() == 1, "one that stays is open for the next id");
	rdma_cm.destroy_event_channel(channel);
}

/* The adapter fails, and an event reports it. */
static void rdma_cm_closes_removed(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	rdma_cm_load();
	MUST(channel = rdma_cm.create_event_channel());
	id = bound_id(channel);
	adapter_tell("kill");
	MUST(!rdma_cm.get_cm_event(channel, &event));
	say_check(event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && event->id == id,
		  "the id is told");
	MUST(!rdma_cm.ack_cm_event(event));
	say_check(contexts_count() == 1, "its context stays");
	MUST(!rdma_cm.destroy_id(id));
	say_check(!contexts_count(), "until the id is destroyed");
	rdma_cm.destroy_event_channel(channel);
}

static void node_comes_late(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	MUST(list && list[0]);
	nodes_show(false);
	adapter_tell("nodes-appear@200");
	context = SAY_PTR(ibv_open_device(list[0]), "open while the file is about to come");
	if (context)
		ibv_close_device(context);
	ibv_free_device_list(list);
	node_await();
}

static void node_never_comes(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	MUST(list && list[0]);
	nodes_show(false);
	SAY_PTR(ibv_open_device(list[0]), "open without the file");
	ibv_free_device_list(list);
	list_devices();
	nodes_show(true);
	list_devices();
}

/* An idle adapter applies a fault at any moment of its naps. */
static void nodes_come_and_go(void)
{
	const int times = 2000;

	for (int i = 0; i < times; i++) {
		nodes_show(false);
		nodes_show(true);
	}
}

/* Logged once, although the program calls ibv_get_device_list() twice. */
static void of_another_vendor(void)
{
	other_driver = 6; /* bnxt_re */
	list_devices();
	list_devices();
}

/* Counts the lines that `rdma resource show KIND` prints. */
static unsigned int lines_of_rdma(const char *kind)
{
	char command[64];
	unsigned int lines = 0;
	FILE *pipe;
	int c;

	snprintf(command, sizeof(command), "rdma resource show %s", kind);
	MUST(pipe = popen(command, "re"));
	while ((c = fgetc(pipe)) != EOF)
		lines += c == '\n';
	say_check(!pclose(pipe), "rdma lists each %s", kind);
	return lines;
}

/* A list of more than a datagram, and of more than the socket takes at once. */
static void resources_are_listed(void)
{
	enum { PDS = 5000 };
	static struct ibv_pd *pd[PDS];
	struct rig rig;

	rig_open(&rig);
	for (unsigned int i = 0; i < PDS; i++)
		MUST(pd[i] = ibv_alloc_pd(rig.ctx));
	say("%u PDs are listed", lines_of_rdma("pd"));
	say("%u contexts are listed", lines_of_rdma("ctx"));
	say("%u QPs are listed", lines_of_rdma("qp"));
	for (unsigned int i = 0; i < PDS; i++)
		MUST(!ibv_dealloc_pd(pd[i]));
	MUST(!ibv_close_device(rig.ctx));
}

static const struct topic topics[] = {
	{ "list", list_devices },
	{ "pointers", keep_pointers },
	{ "rdma-cm", rdma_cm_opens_once },
	{ "unlisted", rdma_cm_closes_unlisted },
	{ "removed", rdma_cm_closes_removed },
	{ "late", node_comes_late },
	{ "never", node_never_comes },
	{ "come-and-go", nodes_come_and_go },
	{ "foreign", of_another_vendor },
	{ "resources", resources_are_listed },
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "by-sysfs")) {
		has_netlink = false;
		argc--;
		argv++;
	}
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
