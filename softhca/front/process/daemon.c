/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon.c - the process that has the adapters and answers trapped calls.
 *
 * It has two threads: this one polls listeners, runners and clients and emulates the kernel; the
 * engine (engine.c) runs the adapters.
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
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "prm/mlx5/eqe.h"
#include "softhca/net/accept.h"
#include "softhca/net/fabric.h"
#include "softhca/fault.h"
#include "softhca/front/control.h"
#include "softhca/front/eventfd.h"
#include "softhca/front/faults.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/discovery/dump.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/host.h"
#include "softhca/front/process/listener.h"
#include "softhca/front/process/runner.h"
#include "softhca/front/process/server_socket.h"
#include "softhca/front/process/timer.h"
#include "softhca/front/process/ucma/gsi.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/front/process/uverbs/events.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "softhca/front/process/vfio/vfio.h"
#include "softhca/front/process/watch.h"
#include "softhca/front/process/watchdog.h"
#include "softhca/log.h"
#include "softhca/trace.h"

static struct daemon the_daemon;

static uint64_t count_objects(void)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < the_daemon.num_adapters; i++)
		count += hca_count_objects(the_daemon.adapters[i]->hca);
	return count;
}

/* Waits until the engine has applied the faults that are due, and has run all adapters after
 * that. */
static int faults_finish(void *unused, uint64_t now)
{
	(void)unused;
	(void)now;
	return engine_await_round();
}

static void control_ready(struct watch *watch, uint32_t events)
{
	const struct control control = { .fault = the_daemon.fault,
					 .faults_finish = faults_finish };

	(void)events;
	control_receive(watch->fd, &control, engine_now(), count_objects());
	engine_kick();
}

static struct accept_door door = { .listener = -1, .spare = -1 }; /* listening socket of runners */

static void socket_ready(struct watch *watch, uint32_t events)
{
	int fd = accept_next(&door, 0);

	(void)watch;
	(void)events;
	if (fd >= 0 && runner_add(fd))
		close(fd);
}

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

/* Reports a device event to programs. If the device dies, also ends the connections of rdma_cm ids
 * on it. */
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

/* Adds a service, described by TEXT, at the GID of a port of this process. */
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
	if (!ret)
		fabric_describe(the_daemon.fabric);
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

/* Raises this process's limit of descriptors, as each connection of a program takes several. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void device_files_show(bool present)
{
	for (unsigned int i = 0; i < the_daemon.num_adapters; i++)
		sysfs_show_device(&the_daemon.sysfs, the_daemon.adapters[i], present);
}

static uint64_t run_faults(uint64_t now)
{
	uint64_t due = fault_deadline(the_daemon.fault);
	struct hca *hcas[MAX_DEVICES];
	struct faults_target target = { hcas, the_daemon.num_adapters, device_files_show,
					vfio_device_suffer };

	if (due > now)
		return due;
	for (unsigned int i = 0; i < the_daemon.num_adapters; i++)
		hcas[i] = the_daemon.adapters[i]->hca;
	return faults_run(the_daemon.fault, &target, now);
}

static int start_engine(void)
{
	struct engine_load load = {
		.fabric = the_daemon.fabric,
		.adapters = the_daemon.adapters,
		.num_adapters = the_daemon.num_adapters,
		.run_faults = run_faults,
		.run_vfio = vfio_device_progress,
	};

	return engine_start(&load);
}

static int start_threads(void)
{
	int ret = watchdog_block_signal();

	if (!ret)
		ret = start_engine();
	if (ret)
		return ret;
	ret = watchdog_start();
	if (ret)
		engine_stop();
	return ret;
}

static int start_loop(void)
{
	int ret = watch_start();

	return ret ? ret : timers_open();
}

static int daemon_start(const struct options *options)
{
	int ret;

	the_daemon.options = options;
	listeners_start(&the_daemon);
	signal(SIGPIPE, SIG_IGN);
	raise_fd_limit();
	eventfd_start();
	if (options->no_memlock)
		pinned_lift_limit();
	ret = start_loop();
	if (!ret)
		ret = faults_create(options, engine_now(), &the_daemon.fault);
	if (!ret)
		ret = open_trace(options);
	if (!ret)
		ret = create_adapters(options);
	if (!ret)
		ret = vfio_start(&the_daemon);
	if (!ret)
		ret = sysfs_create(the_daemon.adapters, the_daemon.num_adapters,
				   vfio_device_shown(), &the_daemon.sysfs);
	for (unsigned int i = 0; !ret && i < options->num_absent; i++)
		sysfs_remove(&the_daemon.sysfs, options->absent[i]);
	if (ret)
		goto destroy;
	ret = ucma_conn_start();
	if (ret)
		goto destroy_sysfs;
	ucma_start();
	umad_start();
	ret = uverbs_start();
	if (!ret)
		ret = start_threads();
	if (ret)
		goto stop_connections;
	return 0;
stop_connections:
	ucma_conn_stop();
destroy_sysfs:
	sysfs_destroy(&the_daemon.sysfs);
destroy:
	vfio_stop();
	destroy_adapters();
	return ret;
}

/* Makes all adapters die: posted work requests complete in error, so that no program polls for
 * ever. */
static void kill_adapters(void)
{
	const unsigned int max_turns = 100000; /* enough to flush the largest queues */

	for (unsigned int i = 0; i < the_daemon.num_adapters; i++) {
		struct hca *hca = the_daemon.adapters[i]->hca;
		unsigned int turns = 0;

		hca_kill(hca);
		while (!hca_progress(hca, 0) && turns < max_turns)
			turns++;
	}
}

static void daemon_finish(void)
{
	watchdog_stop();
	engine_stop();
	kill_adapters();
	listeners_tell_holders();
	ucma_stop();
	umad_stop();
	ucma_conn_stop();
	dumps_stop();
	uverbs_stop();
	vfio_stop();
	sysfs_destroy(&the_daemon.sysfs);
	destroy_adapters();
	runners_close();
	timers_close();
	watch_stop();
}

static void explain_failure(int ret)
{
	if (!log_has_error())
		log_error("the adapter cannot be started: %s", strerror(ret));
}

static void signal_ready(struct watch *watch, uint32_t events)
{
	(void)watch;
	(void)events;
	watch_finish();
}

/* Blocks the signals that the loop gets as events. Called before the engine's thread starts, which
 * inherits the mask, as a signal could otherwise end the process in that thread. */
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
	if (ret) {
		explain_failure(ret);
		return EXIT_FAILURE;
	}
	ret = runner_add_own(runner);
	if (!ret)
		ret = watch_signals(&signals, &mask);
	if (!ret && write(ready, "", 1) == 1) {
		close(ready);
		watch_loop();
	}
	daemon_finish();
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int watch_all(int sock, int control, struct watch watches[2])
{
	int ret = accept_open(&door, sock);

	watches[0] = (struct watch){ sock, socket_ready };
	watches[1] = (struct watch){ control, control_ready };
	if (!ret)
		ret = watch_add(&watches[0], EPOLLIN);
	return ret ? ret : watch_add(&watches[1], EPOLLIN);
}

/* Serves at PATH, which is already this server's. Opens the control socket only now, as that name
 * could have been another server's before. */
static int serve_shown(const struct options *options, int sock)
{
	struct watch sockets[2], signals;
	sigset_t mask;
	int control, ret = control_open(options->socket_path, &control);

	if (ret)
		return ret;
	block_signals(&mask);
	ret = watch_all(sock, control, sockets);
	if (!ret)
		ret = watch_signals(&signals, &mask);
	if (!ret) {
		log_note("serving %u adapter(s) at %s", the_daemon.num_adapters,
			 options->socket_path);
		watch_loop();
	}
	accept_close(&door);
	control_close(options->socket_path, control);
	return ret;
}

int daemon_serve(const struct options *options)
{
	sigset_t mask;
	int fd = -1, ret;
	bool shown = false;

	if (host_check())
		return EXIT_FAILURE;
	block_signals(&mask);
	ret = server_socket_open(options->socket_path, options->socket_mode, &fd);
	if (ret) {
		log_error("cannot listen at %s: %s", options->socket_path, strerror(ret));
		return EXIT_FAILURE;
	}
	ret = daemon_start(options);
	if (ret) {
		explain_failure(ret);
		goto close_socket;
	}
	ret = server_socket_show(options->socket_path);
	shown = !ret;
	if (!ret)
		ret = serve_shown(options, fd);
	daemon_finish();
close_socket:
	server_socket_close(fd, options->socket_path, shown);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
