/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls.c - tests without a counterpart in the distribution's librdmacm: calls of release 65.0, and
 * devices, which are opened only when needed. Runs on three adapters.
 *
 * Covers: librdmacm/device.c, librdmacm/addrinfo_event.c, librdmacm/addrinfo_services.c,
 * librdmacm/addrinfo_port.c, librdmacm/query.c, librdmacm/resolve.c
 */
#include <dirent.h>
#include <infiniband/ib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/cm/cm.h"
#include "own.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

static struct rdma_event_channel *channel;

static void user_events(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	MUST(!rdma_write_cm_event(id, RDMA_CM_EVENT_USER, -5, 0x123456789abcdef0));
	MUST(!rdma_get_cm_event(channel, &event));
	say_check(event->event == RDMA_CM_EVENT_USER && event->id == id,
		  "a user's event comes back");
	say_check(event->status == -5 && event->param.arg == 0x123456789abcdef0,
		  "with its status and its argument");
	rdma_ack_cm_event(event);
	say_check(rdma_write_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, 0) == -1 && errno == EINVAL,
		  "other events are not written");
	say_check(rdma_write_cm_event(id, RDMA_CM_EVENT_INTERNAL, 0, 0) == -1 && errno == EINVAL,
		  "nor are the library's own");
}

static int next_type(int *status)
{
	struct rdma_cm_event *event;
	int type;

	MUST(!rdma_get_cm_event(channel, &event));
	type = event->event;
	*status = event->status;
	rdma_ack_cm_event(event);
	return type;
}

static void resolve_names(struct rdma_cm_id *id)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_DNS, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info = NULL;
	int status;

	MUST(!rdma_resolve_addrinfo(id, "127.0.0.1", "7471", &hints));
	say_check(next_type(&status) == RDMA_CM_EVENT_ADDRINFO_RESOLVED && !status,
		  "a name is found");
	MUST(!rdma_query_addrinfo(id, &info));
	say_check(info->ai_family == AF_INET && info->ai_dst_len == sizeof(struct sockaddr_in),
		  "as an address of IPv4");
	rdma_freeaddrinfo(info);
	say_check(rdma_query_addrinfo(id, &info) == -1, "the answer is handed over once");
	say_check(rdma_resolve_addrinfo(id, "nosuch.invalid", NULL, &hints) == -1 &&
			  errno == ENODATA,
		  "a name that is not there is known at once");
	MUST(!rdma_resolve_addrinfo(id, "127.0.0.1", NULL, &hints));
	next_type(&status); /* not acknowledged, as destroying the id frees the event */
	say_check(rdma_resolve_addrinfo(id, "127.0.0.1", NULL, &hints) == -1 && errno == EBUSY,
		  "what was found is taken before more is asked for");
}

/* run-own has the subnet know one service "storage" of port 7471 at the second adapter, and two
 * "twins". */
static struct rdma_cm_id *bound_id(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(0xc6120001) } };
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&addr));
	return id;
}

static void refused_services(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	struct rdma_cm_id *id = bound_id(), *unbound;
	char name[100];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	say_check(rdma_resolve_addrinfo(id, "127.0.0.1", "1", &hints) == -1 && errno == EOPNOTSUPP,
		  "RAI_SA takes no node");
	say_check(rdma_resolve_addrinfo(id, NULL, NULL, &hints) == -1 && errno == EINVAL,
		  "RAI_SA needs a service");
	say_check(rdma_resolve_addrinfo(id, NULL, name, &hints) == -1 && errno == EINVAL,
		  "a service's name has an end");
	hints.ai_flags |= RAI_DNS;
	say_check(rdma_resolve_addrinfo(id, NULL, "1", &hints) == -1 && errno == EOPNOTSUPP,
		  "RAI_SA and RAI_DNS exclude each other");
	say_check(rdma_resolve_addrinfo(id, NULL, NULL, NULL) == -1 && errno == EINVAL,
		  "nothing to ask for");
	MUST(!rdma_create_id(channel, &unbound, NULL, RDMA_PS_TCP));
	hints.ai_flags = RAI_SA;
	say_check(rdma_resolve_addrinfo(unbound, NULL, "storage", &hints) == -1 && errno == EINVAL,
		  "services are asked for from a port");
	MUST(!rdma_destroy_id(id) && !rdma_destroy_id(unbound));
}

static unsigned int count_services(struct rdma_cm_id *id, const char *service, uint64_t first)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *info;
	unsigned int count = 0;
	int type, status;

	errno = EXDEV;
	MUST(!rdma_resolve_addrinfo(id, NULL, service, &hints));
	say_check(errno == EXDEV, "a service's name or number leaves errno alone");
	type = next_type(&status);
	if (type != RDMA_CM_EVENT_ADDRINFO_RESOLVED) {
		say_check(type == RDMA_CM_EVENT_ADDRINFO_ERROR && status == -ENODATA &&
				  rdma_query_addrinfo(id, &info) == -1,
			  "%s: an event says that there is none", service);
		return 0;
	}
	MUST(!rdma_query_addrinfo(id, &info));
	say_check(info->ai_family == AF_IB && info->ai_port_space == RDMA_PS_IB &&
			  be64toh(((struct sockaddr_ib *)info->ai_dst_addr)->sib_sid) == first,
		  "%s: the first has its service ID", service);
	for (struct rdma_addrinfo *at = info; at; at = at->ai_next)
		count++;
	rdma_freeaddrinfo(info);
	return count;
}

static void found_services(void)
{
	struct rdma_cm_id *id = bound_id();
	int status;

	say_check(count_services(id, "nosuch", 0) == 0, "no service of that name");
	say_check(count_services(id, "storage", 0x1061d2f) == 1, "an id may ask again");
	say_check(rdma_get_dst_port(id) == htons(7471), "a service is the id's destination");
	MUST(!rdma_resolve_route(id, RESOLVE_MS));
	say_check(next_type(&status) == RDMA_CM_EVENT_ROUTE_RESOLVED && id->route.num_paths == 1,
		  "so the route is next");
	MUST(!rdma_destroy_id(id));
	id = bound_id();
	say_check(count_services(id, "twins", 0x1060001) == 2, "a name of two");
	MUST(!rdma_destroy_id(id));
	id = bound_id();
	say_check(count_services(id, "0x1060002", 0x1060002) == 1, "a service by its ID");
	MUST(!rdma_destroy_id(id));
}

/* Release 65.0 prints the same for these services, except for the port that it chooses for
 * itself. */
static void services_of_all_ports(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *info;
	const struct sockaddr_ib *source;

	say_topic("rdma_getaddrinfo, RAI_SA");
	MUST(!rdma_getaddrinfo(NULL, "storage", &hints, &info));
	source = (struct sockaddr_ib *)info->ai_src_addr;
	say_check(info->ai_flags == RAI_SA && info->ai_family == AF_IB && !info->ai_next &&
			  info->ai_port_space == RDMA_PS_IB,
		  "one entry, of AF_IB");
	say_check(be64toh(((struct sockaddr_ib *)info->ai_dst_addr)->sib_sid) == 0x1061d2f,
		  "the service's ID");
	say_check(info->ai_src_len == sizeof(*source) && source->sib_family == AF_IB &&
			  be64toh(source->sib_sid) == (uint64_t)RDMA_PS_IB << 16,
		  "a port's address");
	rdma_freeaddrinfo(info);
	MUST(!rdma_getaddrinfo(NULL, "twins", &hints, &info));
	say_check(info->ai_next && !info->ai_next->ai_next, "two of a name");
	rdma_freeaddrinfo(info);
	say_check(rdma_getaddrinfo(NULL, "nosuch", &hints, &info) == -1 && errno == ENOENT,
		  "none: ENOENT");
	say_check(rdma_getaddrinfo(NULL, NULL, &hints, &info) == -1 && errno == EINVAL,
		  "without a service: EINVAL");
	say_check(rdma_getaddrinfo("127.0.0.1", "1", &hints, &info) == -1 && errno == EOPNOTSUPP,
		  "with a node: EOPNOTSUPP");
	hints.ai_flags |= RAI_DNS;
	say_check(rdma_getaddrinfo(NULL, "1", &hints, &info) == -1 && errno == EOPNOTSUPP,
		  "with RAI_DNS: EOPNOTSUPP");
}

/* Counts the files of open devices: memfds, as the memory of a device under softhca is one. */
static int open_devices(void)
{
	char path[300], target[300];
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	MUST(dir);
	while ((entry = readdir(dir)) != NULL) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = 0;
		count += !strncmp(target, "/memfd:", 7) || strstr(target, "uverbs") != NULL;
	}
	closedir(dir);
	return count;
}

static void devices(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id, *second;
	int one;

	say_check(open_devices() == 0, "the library's start opens no device");
	MUST(!rdma_getaddrinfo("127.0.0.1", "7471", NULL, &info));
	rdma_freeaddrinfo(info);
	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&any) && !rdma_listen(id, 1));
	say_check(open_devices() == 0, "names and a listener at any address open none");
	MUST(!rdma_destroy_id(id));
	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	one = open_devices();
	say_check(one > 0, "an address opens its device");
	say_check(!strcmp(ibv_get_device_name(id->verbs->device), "mlx5_0"),
		  "which is the one that has it");
	second = cm_resolved(channel, RDMA_PS_TCP, 7471);
	say_check(open_devices() == one && second->verbs == id->verbs,
		  "a second id opens none more");
	MUST(!rdma_destroy_id(id) && !rdma_destroy_id(second));
}

static void device_order(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	MUST(list && list[0] && list[1] && list[2]);
	say_check(ibv_get_device_index(list[0]) < ibv_get_device_index(list[1]) &&
			  ibv_get_device_index(list[1]) < ibv_get_device_index(list[2]),
		  "devices come in the order of their numbers");
	ibv_free_device_list(list);
}

static void all_devices(void)
{
	struct ibv_context **list;
	struct rdma_cm_id *id;
	bool found = false;
	int count, one;

	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	one = open_devices();
	list = rdma_get_devices(&count);
	MUST(list);
	for (int i = 0; i < count; i++)
		found |= list[i] == id->verbs;
	say_check(count == 3 && !list[3] && found,
		  "rdma_get_devices() has all three, the id's among them");
	say_check(open_devices() == 3 * one, "which opens the other two");
	say_check(ibv_get_device_index(list[0]->device) < ibv_get_device_index(list[1]->device) &&
			  ibv_get_device_index(list[1]->device) <
				  ibv_get_device_index(list[2]->device),
		  "in the order of their numbers");
	rdma_free_devices(list);
	MUST(!rdma_destroy_id(id));
}

static char port[8];

static struct rdma_cm_id *datagram_ep(int flags, const char *service)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_UDP };
	struct ibv_qp_init_attr attr = { .cap = { 4, 4, 1, 1, 0 }, .sq_sig_all = 1 };
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	MUST(!rdma_getaddrinfo("127.0.0.1", service, &hints, &info));
	MUST(!rdma_create_ep(&id, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	return id;
}

static void *service_look_up(void *arg)
{
	struct rdma_cm_id *id = datagram_ep(0, port);

	*(int *)arg = rdma_connect(id, NULL) ? errno : 0;
	rdma_destroy_ep(id);
	return NULL;
}

enum { TOO_LONG_S = 20 }; /* an alarm, as a listener that waits for its requests would hang */

/* A listener is destroyed before its requests. Not compared, as the distribution's library waits
 * for ever here. */
static void listener_goes_before_its_requests(bool accepts)
{
	struct rdma_cm_id *listener = datagram_ep(RAI_PASSIVE, "0"), *id;
	pthread_t thread;
	int result = -1;

	MUST(!rdma_listen(listener, 2));
	snprintf(port, sizeof(port), "%u", be16toh(rdma_get_src_port(listener)));
	MUST(!pthread_create(&thread, NULL, service_look_up, &result));
	MUST(!rdma_get_request(listener, &id));
	if (accepts)
		MUST(!rdma_accept(id, NULL));
	alarm(TOO_LONG_S);
	rdma_destroy_ep(listener);
	alarm(0);
	say_check(id->event && id->event->event == RDMA_CM_EVENT_CONNECT_REQUEST,
		  "the request of a listener that has gone is still there");
	if (!accepts)
		MUST(!rdma_reject(id, NULL, 0));
	rdma_destroy_ep(id);
	pthread_join(thread, NULL);
	say_check(accepts ? !result : result != 0, "and was answered: %s", say_errno(result));
}

static void data_of_an_endpoint_is_255_bytes(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	uint8_t data[256] = { 0 };
	struct rdma_cm_id *id;

	MUST(!rdma_getaddrinfo("127.0.0.1", "7471", &hints, &info));
	info->ai_connect = data;
	info->ai_connect_len = sizeof(data);
	errno = 0;
	say_check(rdma_create_ep(&id, info, NULL, NULL) && errno == EINVAL,
		  "an endpoint with 256 bytes of data: EINVAL");
	info->ai_connect_len = sizeof(data) - 1;
	say_check(!rdma_create_ep(&id, info, NULL, NULL), "with 255 it is made");
	rdma_destroy_ep(id);
	info->ai_connect = NULL;
	info->ai_connect_len = 0;
	rdma_freeaddrinfo(info);
}

static void calls(void)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	user_events(id);
	resolve_names(id);
	MUST(!rdma_destroy_id(id));
}

static void services(void)
{
	refused_services();
	found_services();
}

static void device_lists(void)
{
	device_order();
	all_devices();
	services_of_all_ports();
}

static void endpoints(void)
{
	listener_goes_before_its_requests(true);
	listener_goes_before_its_requests(false);
	data_of_an_endpoint_is_255_bytes();
}

static const struct topic topics[] = {
	{ "devices", devices },     { "commands", own_commands },
	{ "ece", own_ece },         { "requests", own_requests },
	{ "retries", own_retries }, { "races", own_races },
	{ "binding", own_binds },   { "calls", calls },
	{ "services", services },   { "device-lists", device_lists },
	{ "endpoints", endpoints }, { "loopback", own_loopback },
};

int main(int argc, char **argv)
{
	TOPICS_CHOOSE(topics, argc, argv);
	MUST(channel = rdma_create_event_channel());
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	rdma_destroy_event_channel(channel);
	return topics_end();
}
