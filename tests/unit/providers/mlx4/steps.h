/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - runs a function one CPU instruction at a time, so that a test sees memory as an
 * adapter could at any moment. x86 keeps stores in program order: memory between two instructions
 * is memory that others can see.
 */
#ifndef TESTS_UNIT_MLX4_STEPS_H
#define TESTS_UNIT_MLX4_STEPS_H

/* Calls RUN with ARG, and LOOK after each instruction. Returns the number of instructions, or 0 if
 * the CPU, or its emulator, cannot single-step. */
unsigned long steps_run(void (*run)(void *arg), void *arg, void (*look)(void));

#endif
