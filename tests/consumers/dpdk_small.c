/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dpdk_small.c - under DPDK's own test of its cryptographic drivers, a device seems to have one
 * queue pair, and that is short: for each case the test sets up all there are, which makes half a
 * million memory keys.
 */
#include <dlfcn.h>
#include <stdint.h>

#include <rte_cryptodev.h>

enum { QUEUES = 1, DESCRIPTORS = 64 };

static unsigned int queues_of_device(uint8_t dev, struct rte_cryptodev_info *info)
{
	void (*info_get)(uint8_t, struct rte_cryptodev_info *);
	unsigned int queues;

	*(void **)&info_get = dlsym(RTLD_NEXT, "rte_cryptodev_info_get");
	info_get(dev, info);
	queues = info->max_nb_queue_pairs;
	if (queues > QUEUES)
		info->max_nb_queue_pairs = QUEUES;
	return queues;
}

void rte_cryptodev_info_get(uint8_t dev, struct rte_cryptodev_info *info)
{
	queues_of_device(dev, info);
}

/* Turns one queue pair more than the small device has into one more than the real one has, so that
 * the adapter itself refuses it. */
int rte_cryptodev_configure(uint8_t dev, struct rte_cryptodev_config *config)
{
	int (*configure)(uint8_t, struct rte_cryptodev_config *);
	struct rte_cryptodev_config asked = *config;
	struct rte_cryptodev_info info;

	*(void **)&configure = dlsym(RTLD_NEXT, "rte_cryptodev_configure");
	if (asked.nb_queue_pairs == QUEUES + 1)
		asked.nb_queue_pairs = (uint16_t)(queues_of_device(dev, &info) + 1);
	return configure(dev, &asked);
}

int rte_cryptodev_queue_pair_setup(uint8_t dev, uint16_t qp,
				   const struct rte_cryptodev_qp_conf *conf, int socket)
{
	int (*setup)(uint8_t, uint16_t, const struct rte_cryptodev_qp_conf *, int);
	struct rte_cryptodev_qp_conf small = *conf;

	*(void **)&setup = dlsym(RTLD_NEXT, "rte_cryptodev_queue_pair_setup");
	if (small.nb_descriptors > DESCRIPTORS)
		small.nb_descriptors = DESCRIPTORS;
	return setup(dev, qp, &small, socket);
}
