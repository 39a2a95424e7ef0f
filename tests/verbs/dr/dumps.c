/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dumps.c - dumps of domains, tables, matchers and rules, in the format that tools read. Numbers
 * that differ between runs are replaced by the order in which they appear, and the release by a
 * word.
 *
 * Covers: providers/mlx5/dv/dr/dump.c
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/verbs/dr/dr.h"
#include "util/bits.h"

enum { NAMES = 32, SHORT_NUMBER = 6 /* of digits, with 0x */ };

static struct {
	char *text[NAMES];
	int count;
} names;

static int name_of(const char *number)
{
	int i = 0;

	while (i < names.count && strcmp(names.text[i], number))
		i++;
	MUST(i < NAMES);
	if (i == names.count)
		MUST(names.text[names.count++] = strdup(number));
	return i;
}

static void names_end(void)
{
	while (names.count)
		free(names.text[--names.count]);
}

/* Returns how many fields of a record are the same in all releases. The last field of a reformat on
 * a root table is left out, as it is uninitialised there. */
static int fields_of(const char *line)
{
	static const struct {
		const char *record;
		int fields;
	} shorter[] = { { "3400,", 3 }, { "3401,", 3 }, { "3402,", 5 } };

	for (size_t i = 0; i < ARRAY_SIZE(shorter); i++) {
		if (!strncmp(line, shorter[i].record, strlen(shorter[i].record)))
			return shorter[i].fields;
	}
	return INT_MAX;
}

/* Prints a line, without the fifth field of record 3000, as that is the library's release. Names
 * numbers of more than KEPT digits, but keeps 0. */
static void say_line(char *line, size_t kept)
{
	const bool is_domain = !strncmp(line, "3000,", 5);
	const int fields = fields_of(line);
	char text[512] = "", *rest = line, *field;
	size_t used = 0;

	for (int i = 0; i < fields && (field = strsep(&rest, ",")); i++) {
		const char *comma = i ? "," : "";

		if (is_domain && i == 5)
			used += snprintf(text + used, sizeof(text) - used, "%sRELEASE", comma);
		else if (!strncmp(field, "0x", 2) && strcmp(field, "0x0") && strlen(field) > kept)
			used += snprintf(text + used, sizeof(text) - used, "%sN%d", comma,
					 name_of(field));
		else
			used += snprintf(text + used, sizeof(text) - used, "%s%s", comma, field);
		MUST(used < sizeof(text));
	}
	say("%s|", text);
}

static void say_dump(int ret, FILE *file, char **text, const char *what)
{
	char *rest, *line;

	fclose(file);
	say_ret(ret, "%s", what);
	rest = *text;
	while ((line = strsep(&rest, "\n")))
		say_line(line, SHORT_NUMBER);
	free(*text);
	names_end();
}

#define DUMP(call, object, what)                                    \
	do {                                                        \
		char *text_ = NULL;                                 \
		size_t size_;                                       \
		FILE *file_ = open_memstream(&text_, &size_);       \
		MUST(file_);                                        \
		say_dump(call(file_, object), file_, &text_, what); \
	} while (0)

/* The order of two tables in a domain. */
static void dump_two_tables(struct dr_root *root)
{
	struct mlx5dv_dr_table *second = mlx5dv_dr_table_create(root->domain, 0);
	char first_id[32], second_id[32];

	MUST(second);
	snprintf(first_id, sizeof(first_id), "0x%lx", (unsigned long)(uintptr_t)root->table);
	snprintf(second_id, sizeof(second_id), "0x%lx", (unsigned long)(uintptr_t)second);
	MUST(name_of(first_id) == 0 && name_of(second_id) == 1); /* N0, N1 */
	DUMP(mlx5dv_dump_dr_domain, root->domain, "two tables");
	MUST(!mlx5dv_dr_table_destroy(second));
}

static void dump_nothing(struct dr_root *root)
{
	SAY_RET(mlx5dv_dump_dr_domain(NULL, root->domain), "no file for a domain");
	SAY_RET(mlx5dv_dump_dr_table(NULL, root->table), "no file for a table");
	SAY_RET(mlx5dv_dump_dr_domain(stdout, NULL), "no domain");
	SAY_RET(mlx5dv_dump_dr_table(stdout, NULL), "no table");
	SAY_RET(mlx5dv_dump_dr_matcher(stdout, NULL), "no matcher");
	SAY_RET(mlx5dv_dump_dr_rule(stdout, NULL), "no rule");
}

static void dump_all(struct dr_root *root, const struct dr_made *made)
{
	DUMP(mlx5dv_dump_dr_domain, root->domain, "the domain");
	DUMP(mlx5dv_dump_dr_table, root->table, "the table");
	if (made->matcher)
		DUMP(mlx5dv_dump_dr_matcher, made->matcher, "the matcher");
	if (made->rule)
		DUMP(mlx5dv_dump_dr_rule, made->rule, "the rule");
}

static void dump_rules(struct rig *rig, struct dr_root *root, struct raw *raw)
{
	struct steer_counter counter = steer_counter_make(rig->ctx);
	struct dr_tir tir = dr_tir_make(rig->ctx, raw->to[1]);
	struct mlx5dv_dr_action *actions[] = {
		mlx5dv_dr_action_create_dest_ibv_qp(raw->to[0]),
		mlx5dv_dr_action_create_dest_devx_tir(tir.tir),
		mlx5dv_dr_action_create_drop(),
		mlx5dv_dr_action_create_default_miss(),
	};
	struct mlx5dv_dr_action *extras[] = {
		mlx5dv_dr_action_create_tag(5),
		mlx5dv_dr_action_create_flow_counter(counter.obj, 0),
	};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		struct steer_rule rule = { STEER_TO_PORT(200), .priority = (uint16_t)i };
		struct dr_made made =
			DR_MAKE(root, &rule, "a rule", extras[0], extras[1], actions[i]);

		dump_all(root, &made);
		dr_end(&made);
		MUST(!mlx5dv_dr_action_destroy(actions[i]));
	}
	MUST(!mlx5dv_dr_action_destroy(extras[0]) && !mlx5dv_dr_action_destroy(extras[1]));
	dr_tir_end(&tir);
	MUST(!mlx5dv_devx_obj_destroy(counter.obj));
}

/* Rules that change headers, in a table of received or of sent frames. */
static void dump_changes(struct rig *rig, struct raw *raw, enum mlx5dv_dr_domain_type type)
{
	static const struct steer_rule rule = { STEER_TO_PORT(200) };
	static uint8_t header[14];
	const bool sends = type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	__be64 list = htobe64(0x100a000800000040); /* set the time to live */
	struct mlx5dv_dr_action *changes[3], *to = mlx5dv_dr_action_create_dest_ibv_qp(raw->to[0]);
	struct dr_root root;

	MUST(dr_root_open(rig, type, &root));
	changes[0] = mlx5dv_dr_action_create_modify_header(
		root.domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, sizeof(list), &list);
	changes[1] = mlx5dv_dr_action_create_packet_reformat(
		root.domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL,
		sends ? MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL
		      : MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2,
		sends ? sizeof(header) : 0, sends ? header : NULL);
	changes[2] = mlx5dv_dr_action_create_packet_reformat(
		root.domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL,
		sends ? MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL
		      : MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2,
		sizeof(header), header);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct mlx5dv_dr_action *actions[] = { changes[i], to };
		struct dr_made made;

		MUST(changes[i]);
		made = dr_make(&root, &rule, sends ? 1 : 2, actions, "a change");
		dump_all(&root, &made);
		dr_end(&made);
		MUST(!mlx5dv_dr_action_destroy(changes[i]));
	}
	MUST(!mlx5dv_dr_action_destroy(to));
	dr_root_close(&root);
}

void dr_dump_lines(struct mlx5dv_dr_rule *rule, const char *record, struct mlx5dv_dr_table *first)
{
	char *text = NULL, first_id[32], *rest, *line;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	MUST(file && !mlx5dv_dump_dr_rule(file, rule));
	fclose(file);
	snprintf(first_id, sizeof(first_id), "0x%lx", (unsigned long)(uintptr_t)first);
	name_of(first_id);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, "3100,", 5) || !strncmp(line, record, strlen(record)))
			say_line(line, 0);
	free(text);
	names_end();
}

void dr_dumps(struct rig *rig)
{
	static const struct dr_made none;
	struct dr_root root;
	struct raw raw;

	for (int type = 0; type < 2; type++) {
		if (dr_root_open(rig, (enum mlx5dv_dr_domain_type)type, &root)) {
			dump_all(&root, &none);
			mlx5dv_dr_domain_set_reclaim_device_memory(root.domain, true);
			mlx5dv_dr_domain_allow_duplicate_rules(root.domain, false);
			dump_all(&root, &none);
			dump_two_tables(&root);
			dump_nothing(&root);
		}
		dr_root_close(&root);
	}
	if (!raw_open(rig, 0, &raw))
		return;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &root));
	dump_rules(rig, &root, &raw);
	dump_changes(rig, &raw, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
	dump_changes(rig, &raw, MLX5DV_DR_DOMAIN_TYPE_NIC_TX);
	dr_root_close(&root);
	raw_close(&raw);
}
