/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults.c - see faults.h.
 */
#include <errno.h>
#include <string.h>

#include "prm/mlx5/eqe.h"
#include "softhca/front/faults.h"
#include "softhca/log.h"

static unsigned int fronts_of(const struct options *options)
{
	if (options->command == COMMAND_PCI)
		return FAULT_PCI_FRONT;
	return FAULT_PROCESS_FRONT | (options->vfio ? FAULT_VFIO_FRONT : 0);
}

int faults_create(const struct options *options, uint64_t now_ns, struct fault **fault)
{
	int ret = fault_create(options->seed, fault);

	if (!ret)
		fault_set_front(*fault, fronts_of(options));
	for (unsigned int i = 0; !ret && i < options->num_faults; i++) {
		ret = fault_add(*fault, options->faults[i], now_ns);
		if (ret)
			log_error("--fault %s: %s", options->faults[i], faults_answer(ret));
	}
	return ret;
}

const char *faults_answer(int ret)
{
	switch (ret) {
	case 0:
		return "ok";
	case EINVAL:
		return "not a fault that softhca knows";
	case EOPNOTSUPP:
		return "not a fault of these adapters: softhca --help says which are of run and "
		       "serve, of pci, or of --vfio";
	default:
		return strerror(ret);
	}
}

static void happen_to_port(struct hca *hca, unsigned int port, enum fault_event event)
{
	static const uint8_t change[] = {
		[FAULT_LID_CHANGE] = PRM_PORT_CHANGE_LID,
		[FAULT_PKEY_CHANGE] = PRM_PORT_CHANGE_PKEY,
		[FAULT_GID_CHANGE] = PRM_PORT_CHANGE_GUID,
		[FAULT_CLIENT_REREGISTER] = PRM_PORT_CHANGE_CLIENT_REREG,
	};

	if (event == FAULT_LINK_UP || event == FAULT_LINK_DOWN)
		hca_set_link(hca, port, event == FAULT_LINK_UP);
	else
		hca_report_port(hca, port, change[event]);
}

static void fault_happen(struct hca *hca, enum fault_event event)
{
	if (event == FAULT_DIE)
		hca_kill(hca);
	else if (event == FAULT_KEKS_VANISH)
		hca_take_keks(hca);
	else
		for (unsigned int port = 1; port <= MAX_PORTS; port++)
			happen_to_port(hca, port, event);
}

static void happen_to_target(const struct faults_target *target, enum fault_event event)
{
	if (event == FAULT_NODES_VANISH || event == FAULT_NODES_APPEAR) {
		if (target->device_files)
			target->device_files(event == FAULT_NODES_APPEAR);
		return;
	}
	if (target->driven && (event == FAULT_DIE || event == FAULT_UNPLUG))
		target->driven(event);
	if (event == FAULT_UNPLUG)
		return;
	for (unsigned int i = 0; i < target->count; i++)
		if (target->hcas[i])
			fault_happen(target->hcas[i], event);
}

uint64_t faults_run(struct fault *fault, const struct faults_target *target, uint64_t now_ns)
{
	enum fault_event event;

	while (fault_due(fault, now_ns, &event))
		happen_to_target(target, event);
	return fault_deadline(fault);
}
