/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon.c - the process that has the adapters and answers trapped calls.
 *
 * Two threads: this one polls listeners, runners and clients, and plays the kernel; the engine
 * (engine.c) runs the adapters.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "prm/mlx5/eqe.h"
#include "softhca/net/fabric.h"
#include "softhca/fault.h"
#include "softhca/front/control.h"
#include "softhca/front/faults.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/holder/epitaph.h"
#include "softhca/front/process/link.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/ucma/gsi.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/front/process/uverbs/events.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "softhca/front/process/watch.h"
#include "softhca/log.h"
#include "softhca/trace.h"

static struct daemon the_daemon;

/* ---- listeners ---- */

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) in_all;
	struct mailbox *mailbox;
	struct epitaph *epitaph;
	int holder; /* who answers when we are dead: a socket */
};

static LIST_HEAD(, listener) listeners = LIST_HEAD_INITIALIZER(listeners);

/* A private daemon ends with the last filtered process, or with a runner that could not even start
 * one. */
static void stop_if_unused(void)
{
	if (!the_daemon.num_listeners && !the_daemon.options->socket_path)
		watch_finish();
}

static void listener_close(struct listener *listener)
{
	notify_end(listener->watch.fd);
	watch_remove(&listener->watch);
	LIST_REMOVE(listener, in_all);
	close(listener->watch.fd);
	munmap(listener->mailbox, sizeof(*listener->mailbox));
	epitaph_put(listener->epitaph);
	close(listener->holder);
	free(listener);
	the_daemon.num_listeners--;
	stop_if_unused();
}

static void listener_ready(struct watch *watch, uint32_t events)
{
	struct listener *listener = (struct listener *)watch;

	if (events & EPOLLIN)
		notify_serve_one(&the_daemon, watch->fd, listener->mailbox, listener->epitaph,
				 listener->holder);
	else
		listener_close(listener); /* no filtered process is left */
}

static int listener_add(int fd, int mailbox, int link)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int ret;

	if (!listener)
		return ENOMEM;
	listener->watch = (struct watch){ fd, listener_ready };
	listener->mailbox = mmap(NULL, sizeof(*listener->mailbox), PROT_READ | PROT_WRITE,
				 MAP_SHARED, mailbox, 0);
	if (listener->mailbox == MAP_FAILED) {
		ret = errno;
		goto free_listener;
	}
	ret = epitaph_open(mailbox, &listener->epitaph);
	if (ret)
		goto unmap;
	listener->holder = fcntl(link, F_DUPFD_CLOEXEC, 0);
	if (listener->holder < 0) {
		ret = errno;
		goto put_epitaph;
	}
	memcpy(listener->mailbox->tree, the_daemon.sysfs.root, sizeof(the_daemon.sysfs.root));
	notify_tune(fd);
	ret = watch_add(&listener->watch, EPOLLIN);
	if (ret)
		goto close_holder;
	LIST_INSERT_HEAD(&listeners, listener, in_all);
	the_daemon.num_listeners++;
	return 0;
close_holder:
	close(listener->holder);
put_epitaph:
	epitaph_put(listener->epitaph);
unmap:
	munmap(listener->mailbox, sizeof(*listener->mailbox));
free_listener:
	free(listener);
	return ret;
}

/* ---- runners ---- */

/* The connection to a program's starter. */
struct runner {
	struct watch watch; /* first */
	LIST_ENTRY(runner) in_all;
};
static LIST_HEAD(, runner) runners = LIST_HEAD_INITIALIZER(runners);

static void runner_close(struct runner *runner)
{
	watch_remove(&runner->watch);
	LIST_REMOVE(runner, in_all);
	close(runner->watch.fd);
	free(runner);
}

/* A runner says hello once; its holder then keeps the connection, to see us die. */
static void runner_ready(struct watch *watch, uint32_t events)
{
	int listener, mailbox, ret;

	(void)events;
	ret = link_receive_hello(watch->fd, &listener, &mailbox);
	if (ret) {
		if (ret != ECONNRESET)
			log_error("a runner that cannot be understood: %s", strerror(ret));
		runner_close((struct runner *)watch);
		stop_if_unused();
		return;
	}
	ret = listener_add(listener, mailbox, watch->fd);
	close(mailbox);
	if (ret)
		close(listener);
	link_send_answer(watch->fd, ret);
}

static int runner_add(int fd)
{
	struct runner *runner = calloc(1, sizeof(*runner));
	int ret;

	if (!runner)
		return ENOMEM;
	runner->watch = (struct watch){ fd, runner_ready };
	ret = watch_add(&runner->watch, EPOLLIN);
	if (ret) {
		free(runner);
		return ret;
	}
	LIST_INSERT_HEAD(&runners, runner, in_all);
	return 0;
}

static uint64_t count_objects(void)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < the_daemon.num_adapters; i++)
		count += hca_count_objects(the_daemon.adapters[i]->hca);
	return count;
}

static void control_ready(struct watch *watch, uint32_t events)
{
	(void)events;
	control_receive(watch->fd, the_daemon.fault, engine_now(), count_objects());
	engine_kick();
}

static void socket_ready(struct watch *watch, uint32_t events)
{
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);

	(void)events;
	if (fd >= 0 && runner_add(fd))
		close(fd);
}

/* ---- adapters ---- */

static int open_trace(const struct options *options)
{
	int ret = options->trace_path ? trace_open(options->trace_path, &the_daemon.trace) : 0;

	if (ret)
		log_error("--trace %s: %s", options->trace_path, strerror(ret));
	return ret;
}

static int create_fabric(const struct options *options)
{
	int ret = fabric_create(&the_daemon.fabric);

	return ret ? ret
		   : fabric_connect(the_daemon.fabric, options->link_layer == HCA_LINK_ETHERNET,
				    options->network_path, options->pcap_path);
}

/* A device that dies is an event for programs, and the end of connections. */
static void event_from_device(void *adapter, uint32_t eqn, const uint8_t eqe[64])
{
	events_from_device(adapter, eqn, eqe);
	if (fld_get(eqe, EQE_TYPE) == PRM_EVENT_INTERNAL_ERROR)
		gsi_adapter_died(adapter);
}

static const struct adapter_listener listener = {
	.event = event_from_device,
	.datagram = gsi_datagram,
	.frame = gsi_frame,
};

/* A service is at a port of this process, and so under its GID. */
static int add_service(const char *text)
{
	struct service_text service;
	struct gid_entry entry;
	uint8_t record[SERVICE_RECORD_SIZE];
	int ret = service_parse(text, &service);

	if (!ret && (service.device >= the_daemon.num_adapters ||
		     service.port > the_daemon.adapters[service.device]->num_ports))
		ret = ENODEV;
	if (!ret)
		ret = adapter_query_gid(the_daemon.adapters[service.device], service.port, 0,
					&entry);
	if (!ret) {
		service_fill(&service, entry.gid, record);
		ret = fabric_add_service(the_daemon.fabric, record);
	}
	if (ret)
		log_error("--service %s: %s", text, strerror(ret));
	return ret;
}

static int create_adapters(const struct options *options)
{
	int ret = create_fabric(options);

	for (unsigned int i = 0; !ret && i < options->devices; i++) {
		ret = adapter_create(options, i, the_daemon.fabric, the_daemon.fault,
				     the_daemon.trace, &listener, &the_daemon.adapters[i]);
		if (!ret)
			the_daemon.num_adapters++;
	}
	for (unsigned int i = 0; !ret && i < options->num_services; i++)
		ret = add_service(options->services[i]);
	return ret;
}

static void destroy_adapters(void)
{
	while (the_daemon.num_adapters)
		adapter_destroy(the_daemon.adapters[--the_daemon.num_adapters]);
	if (the_daemon.fabric)
		fabric_destroy(the_daemon.fabric);
	if (the_daemon.trace)
		trace_close(the_daemon.trace);
	if (the_daemon.fault)
		fault_destroy(the_daemon.fault);
}

/* Programs with many connections need several descriptors here for each. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Runs in the engine's thread. */
static uint64_t run_faults(uint64_t now)
{
	uint64_t due = fault_deadline(the_daemon.fault);
	struct hca *hcas[MAX_DEVICES];

	if (due > now)
		return due;
	for (unsigned int i = 0; i < the_daemon.num_adapters; i++)
		hcas[i] = the_daemon.adapters[i]->hca;
	return faults_run(the_daemon.fault, hcas, the_daemon.num_adapters, now);
}

static int start_engine(void)
{
	struct engine_load load = {
		.fabric = the_daemon.fabric,
		.adapters = the_daemon.adapters,
		.num_adapters = the_daemon.num_adapters,
		.run_faults = run_faults,
	};

	return engine_start(&load);
}

static int daemon_start(const struct options *options)
{
	int ret;

	the_daemon.options = options;
	signal(SIGPIPE, SIG_IGN);
	raise_fd_limit();
	ret = watch_start();
	if (!ret)
		ret = faults_create(options, engine_now(), &the_daemon.fault);
	if (!ret)
		ret = open_trace(options);
	if (!ret)
		ret = create_adapters(options);
	if (!ret)
		ret = sysfs_create(the_daemon.adapters, the_daemon.num_adapters, &the_daemon.sysfs);
	if (ret)
		goto destroy;
	ret = ucma_conn_start();
	if (ret)
		goto destroy_sysfs;
	ret = uverbs_start();
	if (!ret)
		ret = start_engine();
	if (ret)
		goto stop_connections;
	return 0;
stop_connections:
	ucma_conn_stop();
destroy_sysfs:
	sysfs_destroy(&the_daemon.sysfs);
destroy:
	destroy_adapters();
	return ret;
}

/* The adapters end as one that dies: what is posted completes in error, so that no program polls
 * for ever. */
static void kill_adapters(void)
{
	const unsigned int max_turns = 100000; /* more than it takes to flush the largest queues */

	for (unsigned int i = 0; i < the_daemon.num_adapters; i++) {
		struct hca *hca = the_daemon.adapters[i]->hca;
		unsigned int turns = 0;

		hca_kill(hca);
		while (!hca_progress(hca, 0) && turns < max_turns)
			turns++;
	}
}

/* Programs had the event of their adapters' death: the holders need not tell them. */
static void tell_holders(void)
{
	struct listener *listener;

	LIST_FOREACH(listener, &listeners, in_all)
		listener->mailbox->told = 1;
}

static void daemon_finish(void)
{
	engine_stop();
	kill_adapters();
	tell_holders();
	ucma_stop();
	ucma_conn_stop();
	uverbs_stop();
	sysfs_destroy(&the_daemon.sysfs);
	destroy_adapters();
	while (!LIST_EMPTY(&runners))
		runner_close(LIST_FIRST(&runners));
	watch_stop();
}

/* ---- the two kinds of daemon ---- */

static void signal_ready(struct watch *watch, uint32_t events)
{
	(void)watch;
	(void)events;
	watch_finish();
}

/* Signals arrive as an event of the loop; they are blocked before the engine's thread inherits the
 * mask. */
static int block_signals(sigset_t *mask)
{
	sigemptyset(mask);
	sigaddset(mask, SIGTERM);
	sigaddset(mask, SIGINT);
	sigaddset(mask, SIGHUP);
	return pthread_sigmask(SIG_BLOCK, mask, NULL);
}

static int watch_signals(struct watch *watch, const sigset_t *mask)
{
	*watch = (struct watch){ signalfd(-1, mask, SFD_CLOEXEC), signal_ready };
	return watch->fd < 0 ? errno : watch_add(watch, EPOLLIN);
}

int daemon_run_private(const struct options *options, int runner, int ready)
{
	struct watch signals;
	sigset_t mask;
	int ret;

	block_signals(&mask);
	ret = daemon_start(options);
	if (ret)
		return EXIT_FAILURE;
	ret = runner_add(runner);
	if (!ret)
		ret = watch_signals(&signals, &mask);
	if (!ret && write(ready, "", 1) == 1) {
		close(ready);
		watch_loop();
	}
	daemon_finish();
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The socket is made under this name, before it is shown at PATH. */
static int hidden_name(const char *path, struct sockaddr_un *addr)
{
	int len;

	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	len = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s.%d", path, (int)getpid());
	return len < (int)sizeof(addr->sun_path) ? 0 : ENAMETOOLONG;
}

/* A socket that nobody listens at is left over from a server that was killed. */
static int door_claim(int fd, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat at_path;

	memcpy(addr.sun_path, path, strlen(path));
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return EADDRINUSE;
	if (errno == ECONNREFUSED && !lstat(path, &at_path) && S_ISSOCK(at_path.st_mode))
		unlink(path);
	return 0;
}

/* Who sees the file may connect at once, so it gets its name when there is somebody who listens. */
static int open_socket(const char *path, int *sock)
{
	struct sockaddr_un addr;
	int fd, ret = hidden_name(path, &addr);

	if (ret)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	ret = door_claim(fd, path);
	if (!ret && (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 64)))
		ret = errno;
	if (ret)
		close(fd);
	else
		*sock = fd;
	return ret;
}

static int show_door(const char *path)
{
	struct sockaddr_un addr;
	int ret = hidden_name(path, &addr);

	if (!ret && link(addr.sun_path, path))
		ret = errno == EEXIST ? EADDRINUSE : errno;
	unlink(addr.sun_path);
	if (ret)
		log_error("cannot listen at %s: %s", path, strerror(ret));
	return ret;
}

static void close_socket(int sock, const char *path, bool shown)
{
	struct sockaddr_un addr;

	if (!hidden_name(path, &addr))
		unlink(addr.sun_path);
	if (shown)
		unlink(path);
	close(sock);
}

static int watch_all(int sock, int control, struct watch watches[2])
{
	int ret;

	watches[0] = (struct watch){ sock, socket_ready };
	watches[1] = (struct watch){ control, control_ready };
	ret = watch_add(&watches[0], EPOLLIN);
	return ret ? ret : watch_add(&watches[1], EPOLLIN);
}

int daemon_serve(const struct options *options)
{
	struct watch sockets[2], signals;
	sigset_t mask;
	int fd = -1, control_fd = -1, ret;
	bool shown = false;

	block_signals(&mask);
	ret = open_socket(options->socket_path, &fd);
	if (ret) {
		log_error("cannot listen at %s: %s", options->socket_path, strerror(ret));
		return EXIT_FAILURE;
	}
	ret = control_open(options->socket_path, &control_fd);
	if (ret)
		goto close_socket;
	ret = daemon_start(options);
	if (ret)
		goto close_control;
	ret = watch_all(fd, control_fd, sockets);
	if (!ret)
		ret = watch_signals(&signals, &mask);
	if (!ret)
		ret = show_door(options->socket_path);
	if (!ret) {
		shown = true;
		log_note("serving %u adapter(s) at %s", the_daemon.num_adapters,
			 options->socket_path);
		watch_loop();
	}
	daemon_finish();
close_control:
	control_close(options->socket_path, control_fd);
close_socket:
	close_socket(fd, options->socket_path, shown);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
