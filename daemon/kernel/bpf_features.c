/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the helpers in the instructions of the programs. libbpf asks the kernel which features it
 * has.
 */
#include "kernel/bpf_features.h"

#include "bpf/profd.skel.h"
#include "kernel/bpf_parts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

/* __BPF_FUNC_MAPPER() supplies the commas. */
#define HELPER(name) [BPF_FUNC_##name] = "bpf_" #name
static const char *const helper_names[__BPF_FUNC_MAX_ID] = {__BPF_FUNC_MAPPER(HELPER)};
#undef HELPER

enum { MAX_TYPES = 64 };

struct finding {
	struct bpf_features *features;
	bool look;
	bool program_types[MAX_TYPES], map_types[MAX_TYPES], helpers[__BPF_FUNC_MAX_ID];
};

static void add_name(struct buf *names, const char *name)
{
	buf_printf(names, "%s%s", names->len ? ", " : "", name ? name : "?");
}

/* `there` is the result of a libbpf probe: 1, 0, or an error. An error does not say that the kernel
 * lacks the feature. */
static void tell(struct bpf_features *features, const char *name, int there)
{
	add_name(&features->used, name);
	if (!there)
		add_name(&features->lacking, name);
}

static void find_helpers(struct finding *finding, const struct bpf_program *program)
{
	const struct bpf_insn *instructions = bpf_program__insns(program);
	const unsigned int type = bpf_program__type(program);

	for (size_t i = 0; i < bpf_program__insn_cnt(program); i++) {
		int helper = instructions[i].imm;

		/* src_reg is not 0 in calls of profd's own BPF functions and of kernel functions,
		 * which are not helpers. */
		if (instructions[i].code != (BPF_JMP | BPF_CALL) || instructions[i].src_reg ||
		    helper <= 0 || helper >= __BPF_FUNC_MAX_ID || finding->helpers[helper])
			continue;
		finding->helpers[helper] = true;
		tell(&finding->features[BPF_FEATURE_HELPERS], helper_names[helper],
		     finding->look ? libbpf_probe_bpf_helper(type, (enum bpf_func_id)helper, NULL)
		                   : 1);
	}
}

/* To probe BPF_PROG_TYPE_TRACING, libbpf loads a program that attaches to a function. Some kernels
 * refuse that although they have iterators, which are all that profd needs of this type. */
static bool can_be_probed(unsigned int type)
{
	return type != BPF_PROG_TYPE_TRACING;
}

static void find_program(struct finding *finding, const struct bpf_program *program)
{
	const unsigned int type = bpf_program__type(program);
	bool look = finding->look && can_be_probed(type);

	if (type < MAX_TYPES && !finding->program_types[type]) {
		finding->program_types[type] = true;
		tell(&finding->features[BPF_FEATURE_PROGRAM_TYPES], libbpf_bpf_prog_type_str(type),
		     look ? libbpf_probe_bpf_prog_type(type, NULL) : 1);
	}
	find_helpers(finding, program);
}

static void find_map(struct finding *finding, const struct bpf_map *map)
{
	const unsigned int type = bpf_map__type(map);

	if (type >= MAX_TYPES || finding->map_types[type])
		return;
	finding->map_types[type] = true;
	tell(&finding->features[BPF_FEATURE_MAP_TYPES], libbpf_bpf_map_type_str(type),
	     finding->look ? libbpf_probe_bpf_map_type(type, NULL) : 1);
}

static void find_all(struct finding *finding, const struct profd_bpf *skeleton)
{
	struct bpf_program *program;
	struct bpf_map *map;

	if (!skeleton)
		return;
	bpf_object__for_each_program(program, skeleton->obj)
	{
		find_program(finding, program);
	}
	bpf_object__for_each_map(map, skeleton->obj)
	{
		find_map(finding, map);
	}
}

void bpf_features_find(const struct bpf *bpf, bool look,
                       struct bpf_features ret_features[BPF_FEATURE_KINDS])
{
	struct finding finding = {.features = ret_features, .look = look};

	for (int kind = 0; kind < BPF_FEATURE_KINDS; kind++)
		ret_features[kind] = (struct bpf_features){BUF_INIT, BUF_INIT};
	if (!bpf->skeleton)
		return;
	find_all(&finding, bpf->skeleton);
	/* When libbpf loads a program, it appends the functions that the program calls. So the
	 * programs of a part are read from the part's own skeleton. */
	for (int part = 0; bpf->parts && part < BPF_PARTS; part++)
		find_all(&finding, bpf_part(bpf, (enum bpf_part)part));
}

void bpf_features_release(struct bpf_features features[BPF_FEATURE_KINDS])
{
	for (int kind = 0; kind < BPF_FEATURE_KINDS; kind++) {
		buf_release(&features[kind].used);
		buf_release(&features[kind].lacking);
	}
}
