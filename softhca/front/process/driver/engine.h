/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine.h - the thread that runs the adapters: looks for doorbells and lets the device core work.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_ENGINE_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_ENGINE_H

#include <stdint.h>

struct adapter;
struct fabric;
struct uar_page;

/* What the engine runs. It stays the caller's until engine_stop(). */
struct engine_load {
	struct fabric *fabric;
	struct adapter *const *adapters;
	unsigned int num_adapters;
	/* Lets the faults happen that are due; returns when the next one is. */
	uint64_t (*run_faults)(uint64_t now);
};

int engine_start(const struct engine_load *load);
void engine_stop(void);
/* To be called when something may have to be done at once, e.g. after a command. */
void engine_kick(void);
/* On return what was rung before has had its turns, or as many of these as TURNS says: an adapter
 * in hardware would have long seen it. */
enum { ENGINE_ALL_TURNS = 1000 };
void engine_catch_up(struct adapter *adapter, unsigned int turns);
/* The clock by which the engine runs the device core */
uint64_t engine_now(void);

/* Doorbells of PAGE are noticed from now on, or no longer. */
void engine_add_page(struct adapter *adapter, struct uar_page *page);
void engine_remove_page(struct adapter *adapter, struct uar_page *page);

#endif
