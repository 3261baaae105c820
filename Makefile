# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# profd: one Makefile, not recursive, sources by wildcard. `make help` lists the targets.
#
#   V=1                     show the commands
#   CC=clang                another compiler
#   WERROR=1                warnings are errors (what CI uses)
#   SAN=address,undefined   sanitizers, in a build folder of their own
#   TESTS="unit walker"     what `make test` runs
#   LISTEN= FREQ= OPTIONS=  settings for `make run`, OPTIONS=--insecure for instance
#   PREFIX= DESTDIR=        where `make install` installs; ZSH_COMPLETIONS= is the folder for zsh

VERSION := 0.1.0
PREFIX  ?= /usr
DESTDIR ?=
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/$(if $(wildcard /etc/debian_version),vendor-completions,site-functions)
SBIN_DIR ?= $(PREFIX)/sbin
UNIT_DIR ?= $(PREFIX)/lib/systemd/system
LISTEN  ?= 127.0.0.1:9090
FREQ    ?= 99
OPTIONS ?=

comma := ,
BUILD := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
CC    := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG ?= clang
ARCH  := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
Q     := $(if $(V),,@)
say    = $(if $(V),@:,@printf '  %-8s %s\n' $(1) $(2))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
            -Wcast-qual -Wwrite-strings -Wpointer-arith $(if $(WERROR),-Werror)
OPTIMIZE := $(if $(SAN),-O1 -fno-omit-frame-pointer -fsanitize=$(SAN) -fno-sanitize-recover=all,-O2)
PACKAGES := libbpf libelf libdw liblzma libprotobuf-c libmicrohttpd libuv zlib jansson inih libseccomp gnutls \
            yaml-0.1 libxcrypt
# Asked once, when the first recipe needs it: `make deps` may install the packages during the same run.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PACKAGES)))$(PKG_CFLAGS)
PKG_LIBS   = $(shell pkg-config --libs $(PACKAGES)) -liberty -lZydis -lm
CFLAGS    ?= -g
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DPROFD_VERSION='"$(VERSION)"' $(OPTIMIZE) -fstack-protector-strong \
             $(WARNINGS) -Idaemon -I. -isystem $(BUILD) $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS)
BPF_CFLAGS = -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Wno-unused-parameter \
             $(if $(WERROR),-Werror) -I. -ffile-prefix-map=$(CURDIR)=. $(shell pkg-config --cflags libbpf)

# The object that defines the maps must come first: libbpf resolves maps across objects only in that order.
BPF_OBJECTS  := $(BUILD)/bpf/maps.bpf.o $(patsubst %.c,$(BUILD)/%.o,$(filter-out bpf/maps.bpf.c,$(wildcard bpf/*.bpf.c bpf/*/*.bpf.c)))
SKELETON     := $(BUILD)/bpf/profd.skel.h
PROTO_SRC    := $(patsubst proto/%.proto,$(BUILD)/proto/%.pb-c.c,$(wildcard proto/*.proto))
PRELOAD_SRC  := $(wildcard daemon/preload/*.c)
CUDA_HELPER_SRC := $(wildcard daemon/cuda_helper/*.c)
DAEMON_SRC   := $(filter-out $(PRELOAD_SRC) $(CUDA_HELPER_SRC),$(wildcard daemon/*.c daemon/*/*.c))
WEB_FILES    := $(shell find web -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.svg')
DAEMON_OBJ   := $(DAEMON_SRC:%.c=$(BUILD)/%.o) $(PROTO_SRC:.c=.o) $(BUILD)/web/files.o
# The objects that tests link: all except main() and those that need the skeleton.
LIBRARY_OBJ  := $(filter-out $(BUILD)/daemon/main.o $(BUILD)/daemon/daemon.o,$(DAEMON_OBJ))
UNIT_OBJ     := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/*.c))
FUZZERS      := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
# Further builds of the stacks_ workloads, whose stacks only .eh_frame describes.
STACKS_OTHER := stacks_chain-static stacks_chain-static-pie stacks_chain-musl stacks_plt-lazy stacks_plugin.so \
                $(if $(filter x86,$(ARCH)),stacks_plt-ibt)
# A heap workload, also linked statically, with the allocators of glibc and musl.
HEAP_OTHER   := heap_sites-static heap_sites-musl
# Programs that use a GPU, and stand-ins for its libraries, which the programs find in their own folder.
GPU_LIBRARIES := libcuda.so.1 libcuda.so libcudart.so.12 libcudart.so.13 libcudart_static.a libnvidia-ml.so.1 libc10.so \
                 xla_cuda_plugin.so
GPU_PROGRAMS := $(GPU_LIBRARIES) gpu_truth gpu_contexts gpu_launches gpu_launches-13 gpu_launches-static gpu_tensors gpu_chunks
# The levels programs with each kind of debug information, as far as their compilers are installed.
NAMES_OTHER   = $(addprefix $(BUILD)/workloads/names/,$(shell tests/workloads/variants.sh list))
WORKLOADS     = $(patsubst tests/workloads/%.c,$(BUILD)/workloads/%,\
                  $(filter-out %_plugin.c %/levels_c.c,$(wildcard tests/workloads/*.c))) \
                $(patsubst tests/workloads/%.cc,$(BUILD)/workloads/%,\
                  $(filter-out %/levels.cc,$(wildcard tests/workloads/*.cc))) \
                $(STACKS_OTHER:%=$(BUILD)/workloads/%) $(HEAP_OTHER:%=$(BUILD)/workloads/%) $(BUILD)/workloads/victim_plugin.so $(NAMES_OTHER) \
                $(GPU_PROGRAMS:%=$(BUILD)/workloads/cuda/%)
GUEST_WORKLOADS = $(addprefix $(BUILD)/workloads/,spin60_30_10 stacks_chain memory_growth heap_sites hog waits cuda/gpu_truth cuda/gpu_launches)

# Texts generated from the tables of settings and commands: packaging/X.in is the template of X.
TEXTS_OBJ    := $(patsubst %.c,$(BUILD)/%.o,$(wildcard packaging/texts/*.c))
TEXTS_MADE   := $(patsubst %.in,$(BUILD)/%,$(wildcard packaging/*.in))
MANUAL       := $(notdir $(filter %.1 %.5 %.7 %.8,$(TEXTS_MADE)))

CUPTI_WAYS   := 12 13
CUDA_HELPER_TESTS = $(addprefix $(BUILD)/tests/cuda_helper/,test_helper kernels $(CUPTI_WAYS:%=libcupti.so.%))
# Attacks by other users of the host (tests/hostile).
HOSTILE      := $(patsubst tests/hostile/%.c,$(BUILD)/hostile/%,$(wildcard tests/hostile/*.c))
BENCH_WORKLOADS := fixed_work sleepers records_floor cpubound stacks_chain stacks_recursion stacks_cold
HEAP_BENCH    = $(addprefix $(BUILD)/tests/bench/,preload heap_mixed heap_map)

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.SECONDARY:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(BUILD)/profd $(BUILD)/libprofd-heap.so $(BUILD)/libprofd-cuda.so ## build/profd, the one binary, and the libraries that go into programs

.PHONY: docs
docs: $(TEXTS_MADE) ## manual pages, completions and the sample file, in build/packaging

.PHONY: deps
deps: ## install what is missing with apt or dnf; asks nothing
	$(Q)tests/lint/deps.sh

# On a bare machine `make run` and `make test` must install the tools before make evaluates the other rules.
.PHONY: run
run: deps ## deps, build, and the daemon in the foreground, on 127.0.0.1:9090 or LISTEN=
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) build
	$(Q)$(BUILD)/profd serve --listen $(LISTEN) --freq $(FREQ) $(OPTIONS)

TESTS := unit walker preload cuda-helper gpu-probes system web

NEEDS_unit        = $(BUILD)/tests/unit/unit $(BUILD)/tests/unit/libnvidia-ml.so.1
NEEDS_walker      = $(BUILD)/tests/bpf/test_walker $(BUILD)/tests/bpf/oracle
NEEDS_preload     = $(BUILD)/libprofd-heap.so $(addprefix $(BUILD)/tests/preload/,preload libprofd-heap.so dlsym_allocates.so)
NEEDS_cuda-helper = $(BUILD)/libprofd-cuda.so $(CUDA_HELPER_TESTS) $(BUILD)/workloads/cuda/libcuda.so.1
NEEDS_gpu-probes  = $(BUILD)/tests/gpu/kernel_half $(BUILD)/tests/gpu/kernel_contexts
NEEDS_system      = $(BUILD)/profd $(BUILD)/libprofd-heap.so $(BUILD)/libprofd-cuda.so $(WORKLOADS) $(HOSTILE) $(CUDA_HELPER_TESTS) $(TEXTS_MADE) $(BUILD)/tests/system/endless.so
NEEDS_siege       = $(NEEDS_system)
NEEDS_web         = $(BUILD)/profd $(BUILD)/workloads/spin60_30_10

# The tests are built by all CPUs and then run one after the other, except for those that mostly wait and do not depend
# on each other. These run at once; meanwhile make builds and downloads what the others need: Go's pprof and the
# driver of the browser.
TESTS_WAITING := $(filter unit walker preload cuda-helper web,$(TESTS))
TESTS_OTHER   := $(filter-out $(TESTS_WAITING),$(TESTS))
FROM_OTHERS   := $(if $(filter system siege web,$(TESTS)),go-pprof) $(if $(filter web,$(TESTS)),web-venv)

.PHONY: test
test: deps ## deps, build and TESTS, by default unit walker preload cuda-helper gpu-probes system web: not siege, kernels, package, fuzz
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) needs
	$(Q)$(if $(strip $(TESTS_WAITING) $(FROM_OTHERS)),$(MAKE) --no-print-directory -j --output-sync $(TESTS_WAITING:%=test-%) $(FROM_OTHERS))
	$(Q)$(if $(TESTS_OTHER),$(MAKE) --no-print-directory -j1 $(TESTS_OTHER:%=test-%))

.PHONY: needs
needs: $(foreach test,$(TESTS),$(NEEDS_$(test)))

# A test that hangs is ended. Where the scheduler shares CPUs among sessions (autogroups), one session of many programs beside
# the many of other tests may get a thirtieth of a CPU for each.
export CK_TIMEOUT_MULTIPLIER ?= 6

# Unit tests mostly sleep, so they run in parts, at once. A single suite or case that is asked for runs as one part.
UNIT_PARTS := $(if $(CK_RUN_SUITE)$(CK_RUN_CASE),1,1 2 3 4 5)

.PHONY: test-unit
test-unit: $(UNIT_PARTS:%=test-unit-%) ## unit tests; no root needed

.PHONY: $(UNIT_PARTS:%=test-unit-%)
$(UNIT_PARTS:%=test-unit-%): test-unit-%: $(NEEDS_unit)
	$(Q)UNIT_PART=$*/$(words $(UNIT_PARTS)) $<

.PHONY: test-walker
test-walker: $(NEEDS_walker) ## the kernel half's walker, as plain C over recorded stacks; no root needed
	$(Q)$<

.PHONY: test-preload
test-preload: $(NEEDS_preload) ## libprofd-heap.so in programs of ours and of others; no root needed
	$(Q)LD_PRELOAD=$(CURDIR)/$(BUILD)/tests/preload/libprofd-heap.so PROFD_HEAP_RATE=1KiB $(BUILD)/tests/preload/preload
	$(Q)BUILD=$(BUILD) python3 tests/preload/programs.py

.PHONY: test-gpu-probes
test-gpu-probes: $(NEEDS_gpu-probes) ## what the kernel half counts of calls to a stand-in of CUDA; root
	$(Q)$(BUILD)/tests/gpu/kernel_half
	$(Q)$(BUILD)/tests/gpu/kernel_contexts

.PHONY: test-cuda-helper
test-cuda-helper: $(CUPTI_WAYS:%=test-cuda-helper-%) ## libprofd-cuda.so with a stand-in for CUPTI; no root, no GPU needed

.PHONY: $(CUPTI_WAYS:%=test-cuda-helper-%)
$(CUPTI_WAYS:%=test-cuda-helper-%): test-cuda-helper-%: $(NEEDS_cuda-helper)
	$(Q)$(BUILD)/tests/cuda_helper/test_helper $(BUILD)/tests/cuda_helper/libcupti.so.$* $(BUILD)/workloads/cuda/libcuda.so.1

.PHONY: oracle
oracle: $(BUILD)/tests/bpf/oracle ## build the tool that compares our walks of a live process with libdw's

.PHONY: test-system
test-system: $(NEEDS_system) ## the daemon, workloads of known truth, and the readers' own tools; root
	$(Q)BUILD=$(BUILD) python3 tests/system/run.py

.PHONY: test-siege
test-siege: $(NEEDS_siege) ## the daemon under attacks that load the CPUs; root
	$(Q)BUILD=$(BUILD) python3 tests/siege/run.py

.PHONY: test-web
test-web: $(NEEDS_web) web-venv go-pprof ## the page, in a browser over the daemon; root
	$(Q)BUILD=$(BUILD) $(BUILD)/web-venv/bin/python tests/web/run.py

.PHONY: pictures
pictures: $(NEEDS_web) web-venv ## the pictures of the page in README.md; root
	$(Q)BUILD=$(BUILD) $(BUILD)/web-venv/bin/python tests/web/picture.py

.PHONY: web-venv go-pprof
web-venv:
	$(Q)tests/web/venv.sh $(BUILD)/web-venv

go-pprof:
	$(Q)BUILD=$(BUILD) nice python3 tests/system/pprof.py

.PHONY: test-gpu
test-gpu: $(BUILD)/profd $(BUILD)/libprofd-cuda.so ## on a machine with an NVIDIA GPU: profiles of PyTorch, CuPy, Triton, JAX and the driver beside their own figures; root
	$(Q)BUILD=$(BUILD) python3 tests/gpu/run.py
	$(Q)BUILD=$(BUILD) python3 tests/gpu/frameworks/run.py

.PHONY: test-torch
test-torch: $(BUILD)/profd $(BUILD)/workloads/cuda/libcuda.so.1 ## tensors of a real PyTorch by Python line; downloads half a GB, once; root
	$(Q)tests/torch/fetch.sh $(BUILD)/torch
	$(Q)BUILD=$(BUILD) python3 tests/torch/run.py

.PHONY: test-cupti
test-cupti: $(BUILD)/tests/cupti/loads $(BUILD)/workloads/cuda/libcuda.so.1 ## libprofd-cuda.so and the real CUPTI, without a GPU; downloads 45 MB, once
	$(Q)tests/cupti/fetch.sh $(BUILD)/cupti
	$(Q)tests/cupti/run.sh $(BUILD)

.PHONY: test-kernels
test-kernels: $(BUILD)/profd $(GUEST_WORKLOADS) ## the daemon on other kernels, KERNELS="6.1 6.12" or a few, in guests that qemu emulates
	$(Q)tests/kernels/deps.sh
	$(Q)BUILD=$(BUILD) python3 tests/kernels/run.py $(KERNELS)

.PHONY: bench
bench: $(BUILD)/profd $(BENCH_WORKLOADS:%=$(BUILD)/workloads/%) ## what profd costs, programs' slowdown first; ROWS= PARTS= VARIANTS= REPETITIONS= of it; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/bench.py

.PHONY: bench-unwind
bench-unwind: $(BUILD)/profd $(WORKLOADS) ## how many stacks are whole, by program, and what walking costs; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/unwind.py

.PHONY: bench-names
bench-names: $(BUILD)/profd $(BUILD)/tests/bench/names_cost ## what names and lines cost, beside other tools; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/names.py

.PHONY: bench-python
bench-python: $(BUILD)/profd ## profiles of Python beside py-spy's: what they say and what they cost; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/python.py

.PHONY: bench-heap
bench-heap: $(BUILD)/profd $(BUILD)/libprofd-heap.so $(HEAP_BENCH) ## what heap profiles cost, beside other tools; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/heap.py

.PHONY: bench-gpu
bench-gpu: $(BUILD)/tests/gpu/gpu_cost ## what a launch costs that is counted, beside one that is not; root
	$(Q)$<

.PHONY: bench-cuda-helper
bench-cuda-helper: $(BUILD)/profd $(BUILD)/libprofd-cuda.so $(CUDA_HELPER_TESTS) ## what libprofd-cuda.so adds to a launch; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/cuda_helper.py

.PHONY: agreement-python
agreement-python: $(BUILD)/profd ## Python stacks against what the source can call, pair by pair; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/python_agreement.py

.PHONY: agreement-wall
agreement-wall: $(BUILD)/profd $(BUILD)/workloads/waits ## time of threads that run and wait against pyinstrument, yappi, py-spy and perf sched; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/wall_agreement.py

.PHONY: agreement-time
agreement-time: $(BUILD)/profd $(BUILD)/workloads/timed ## CPU times of programs that sleep and wake against their own clocks; RATES= DAEMONS= RUNS= PERF=1; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/time_agreement.py

.PHONY: agreement
agreement: $(BUILD)/tests/bpf/oracle $(WORKLOADS) ## our walks of busy programs against libdw's, frame by frame; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/agreement.py

.PHONY: soak
soak: $(BUILD)/profd $(WORKLOADS) ## a long run under load, watching memory and descriptors; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/soak.py

CHAOS_PRELOADS := $(addprefix $(BUILD)/tests/bench/,clock_steps.so own_program.so)

.PHONY: chaos
chaos: $(BUILD)/profd $(BUILD)/libprofd-heap.so $(CHAOS_PRELOADS) $(WORKLOADS) $(HOSTILE) ## CHAOS_SECONDS (1800) of storms, damage, bad clients, stops and kills; root
	$(Q)BUILD=$(BUILD) python3 tests/bench/chaos.py

$(BUILD)/tests/faults/faults.so: tests/faults/faults.h

.PHONY: faults
faults: $(BUILD)/profd $(BUILD)/tests/faults/faults.so $(BUILD)/workloads/spin60_30_10 ## lives of a daemon in which one call fails, FAULTS (10) of each kind or all; root
	$(Q)BUILD=$(BUILD) python3 tests/faults/run.py

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZ_SECONDS (60) each
	$(Q)$(MAKE) --no-print-directory $(addprefix fuzz-run-,$(FUZZERS))

.PHONY: check
check: ## format, headers alone, layers, what the loop may wait for, both compilers with warnings as errors, stacks of BPF programs, spelling, cppcheck, clang-tidy, shellcheck
	$(Q)tests/lint/check.sh

.PHONY: format
format: ## clang-format every C file
	$(Q)git ls-files '*.c' '*.h' '*.cc' | xargs clang-format -i

.PHONY: install
install: $(BUILD)/profd $(BUILD)/libprofd-heap.so $(BUILD)/libprofd-cuda.so $(TEXTS_MADE) $(BUILD)/packaging/packaged.conf ## install below DESTDIR
	install -D -m 755 $(BUILD)/profd $(DESTDIR)$(SBIN_DIR)/profd
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/profd $(BUILD)/libprofd-heap.so $(BUILD)/libprofd-cuda.so
	install -D -m 644 -t $(DESTDIR)$(UNIT_DIR) $(wildcard systemd/*.service systemd/*.socket)
	install -D -m 644 systemd/profd.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/profd.conf
	install -D -m 644 systemd/profd.sysctl $(DESTDIR)$(PREFIX)/lib/sysctl.d/50-profd.conf
	# Existing settings belong to the administrator and are kept.
	test -e $(DESTDIR)/etc/profd/profd.conf || \
		install -D -m 644 $(BUILD)/packaging/packaged.conf $(DESTDIR)/etc/profd/profd.conf
	for page in $(MANUAL); do \
		install -D -m 644 $(BUILD)/packaging/$$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page || exit; done
	install -D -m 644 $(BUILD)/packaging/profd.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/profd
	install -D -m 644 $(BUILD)/packaging/profd.zsh $(DESTDIR)$(ZSH_COMPLETIONS)/_profd
	install -D -m 644 $(BUILD)/packaging/profd.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/profd.fish
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/profd README.md $(BUILD)/packaging/profd.conf

.PHONY: dist
dist: ## the sources as build/profd-VERSION.tar.xz
	$(Q)packaging/dist.sh $(VERSION) $(BUILD)/profd-$(VERSION).tar.xz

.PHONY: deb
deb: ## build/profd_VERSION_ARCH.deb
	$(Q)CC="$(CC)" packaging/deb.sh $(VERSION) $(BUILD)

.PHONY: rpm
rpm: ## build/profd-VERSION-1.ARCH.rpm
	$(Q)CC="$(CC)" packaging/rpm.sh $(VERSION) $(BUILD)

.PHONY: deps-package
deps-package: deps ## install what is missing for test-package
	$(Q)tests/lint/deps.sh package

.PHONY: test-package
test-package: deps-package ## the .deb in a machine of its own, under its systemd: install, use, upgrade, purge; root
	$(Q)$(MAKE) --no-print-directory deb
	$(Q)BUILD=$(BUILD) VERSION=$(VERSION) python3 tests/package/run.py

.PHONY: test-bare
test-bare: deps-package ## `make run` and `make test`, typed on a Debian with make, git and certificates only; root
	$(Q)BUILD=$(BUILD) python3 tests/bare/run.py

.PHONY: clean
clean: ## remove every build folder
	rm -rf build build-*

# ---- the kernel half -------------------------------------------------------------------------------------
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MD -MP -c $< -o $@

$(BUILD)/bpf/profd.linked.o: $(BPF_OBJECTS)
	$(call say,LINK,$@)
	$(Q)PATH="$$PATH:/usr/sbin:/sbin" bpftool gen object $@ $(BPF_OBJECTS)

$(SKELETON): $(BUILD)/bpf/profd.linked.o
	$(call say,SKEL,$@)
	$(Q)PATH="$$PATH:/usr/sbin:/sbin" bpftool gen skeleton $< name profd_bpf > $@

# ---- the daemon ------------------------------------------------------------------------------------------
$(BUILD)/proto/%.pb-c.c $(BUILD)/proto/%.pb-c.h: proto/%.proto
	$(call say,PROTO,$<)
	$(Q)mkdir -p $(@D)
	$(Q)protoc-c --proto_path=proto --c_out=$(@D) $<

$(BUILD)/proto/%.o: $(BUILD)/proto/%.c
	$(Q)$(CC) $(filter-out -W%,$(ALL_CFLAGS)) -c $< -o $@

# Generated headers must exist before the first compilation; after that the files of -MD list the dependencies.
$(BUILD)/%.o: %.c Makefile | $(SKELETON) $(PROTO_SRC)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MD -MP -c $< -o $@

$(BUILD)/web/help.made: web/help.sh $(addprefix $(BUILD)/packaging/,$(MANUAL)) Makefile
	$(call say,WEB,$(@D)/help)
	$(Q)rm -rf $(BUILD)/web/pages
	$(Q)mkdir -p $(@D)
	$(Q)web/help.sh $(BUILD)/web/pages $(addprefix $(BUILD)/packaging/,$(MANUAL))
	$(Q)touch $@

$(BUILD)/web/files.c: web/embed.sh $(WEB_FILES) $(BUILD)/web/help.made Makefile
	$(call say,WEB,$@)
	$(Q)web/embed.sh $(BUILD)/web/pages > $@

$(BUILD)/web/files.o: $(BUILD)/web/files.c daemon/api/page.h
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BUILD)/profd: $(DAEMON_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(BUILD)/packaging/packaged.conf: $(BUILD)/packaging/profd.conf packaging/packaged_conf.sh
	$(Q)packaging/packaged_conf.sh $< > $@

# ---- texts for people ------------------------------------------------------------------------------------
# Without the page's files: these contain the manual pages that this program makes.
$(BUILD)/packaging/texts/texts: $(TEXTS_OBJ) $(filter-out $(BUILD)/web/files.o,$(LIBRARY_OBJ))
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) -o $@ $^ $(PKG_LIBS)

$(BUILD)/packaging/%: packaging/%.in $(BUILD)/packaging/texts/texts
	$(call say,TEXT,$@)
	$(Q)$(BUILD)/packaging/texts/texts < $< > $@

# ---- the library for heap profiles, which is loaded into other programs ------------------------------------
# It has its own flags: no sanitizer, which would replace the allocator itself, and semantic interposition,
# because calls between its functions must go to the library that is preloaded first.
PRELOAD_CFLAGS = -std=gnu17 -D_GNU_SOURCE -O2 $(WARNINGS) -Idaemon -fPIC -fvisibility=hidden -fno-builtin-malloc \
                 -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free -fsemantic-interposition -fno-plt \
                 -ftls-model=initial-exec $(CFLAGS)
PRELOAD_LINK   = -shared -Wl,-soname,libprofd-heap.so -Wl,-z,now -Wl,-z,nodelete -Wl,--no-undefined

$(BUILD)/daemon/preload/%.o: daemon/preload/%.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PRELOAD_CFLAGS) -MD -MP -c $< -o $@

$(BUILD)/libprofd-heap.so: $(PRELOAD_SRC:%.c=$(BUILD)/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) $(PRELOAD_CFLAGS) $(PRELOAD_LINK) -o $@ $^

# ---- the library for durations of GPU kernels, which CUDA's driver loads ------------------------------------
# It needs no files of NVIDIA; daemon/cuda_helper/cupti_api.h has the declarations.
CUDA_HELPER_CFLAGS = -std=gnu17 -D_GNU_SOURCE -O2 $(WARNINGS) -Idaemon -fPIC -fvisibility=hidden -fno-plt $(CFLAGS)
CUDA_HELPER_LINK   = -shared -Wl,-soname,libprofd-cuda.so -Wl,-z,now -Wl,-z,nodelete -Wl,--no-undefined -ldl -lpthread

$(BUILD)/daemon/cuda_helper/%.o: daemon/cuda_helper/%.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CUDA_HELPER_CFLAGS) -MD -MP -c $< -o $@

$(BUILD)/libprofd-cuda.so: $(CUDA_HELPER_SRC:%.c=$(BUILD)/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CUDA_HELPER_CFLAGS) -o $@ $^ $(CUDA_HELPER_LINK)

# ---- tests -----------------------------------------------------------------------------------------------
# Tests run once, so compiling them fast is worth more than fast tests.
$(UNIT_OBJ): private OPTIMIZE := $(if $(SAN),$(OPTIMIZE),-O0)
$(BUILD)/tests/unit/unit: $(UNIT_OBJ) $(LIBRARY_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) -o $@ $^ $(PKG_LIBS) $(shell pkg-config --libs check)

# The kernel half's walker as plain C, once for each machine. Its attributes and pragmas are for the BPF compiler.
WALKER_FLAGS = -DWALKER_IN_USER_SPACE -Wno-maybe-uninitialized -Wno-attributes -Wno-unknown-pragmas -Wno-unused-parameter
WALKER_OBJ  := $(addprefix $(BUILD)/tests/bpf/,walker_x86.o walker_arm64.o world.o)
WALKER_TESTS := test_walker recorded recorded_x86 recorded_x86_kernel recorded_x86_without recorded_arm64 deep hostile memory \
                python python_world python_told python_hostile stack_keys stack_shares growth_seats
ORACLE       := oracle compare live target libdw_walk

$(filter %/walker_x86.o %/walker_arm64.o,$(WALKER_OBJ)): $(BUILD)/tests/bpf/walker_%.o: tests/bpf/walker.c Makefile
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Itests/bpf/shim $(ALL_CFLAGS) $(WALKER_FLAGS) -D__TARGET_ARCH_$* -DWALKER=walker_$* -DWALKER_STORE=walker_store_$* -MD -MP -c $< -o $@
	$(Q)objcopy --keep-global-symbol=walker_$* --keep-global-symbol=walker_store_$* $@

$(BUILD)/tests/bpf/growth_seats.o: ALL_CFLAGS += -Itests/bpf/shim $(WALKER_FLAGS) -D__TARGET_ARCH_x86

$(BUILD)/tests/bpf/test_walker: $(WALKER_TESTS:%=$(BUILD)/tests/bpf/%.o) $(WALKER_OBJ) $(LIBRARY_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) -o $@ $^ $(PKG_LIBS) $(shell pkg-config --libs check)

$(BUILD)/tests/bpf/oracle: $(ORACLE:%=$(BUILD)/tests/bpf/%.o) $(WALKER_OBJ) $(LIBRARY_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) -o $@ $^ $(PKG_LIBS)

$(BUILD)/fuzz/fuzz_walk: $(WALKER_OBJ)

# Stand-ins for CUPTI to test the library for GPU kernels, with the interfaces before and since CUDA 13.2. The rule
# lists the targets, because a pattern alone would also match their dependency files.
$(CUPTI_WAYS:%=$(BUILD)/tests/cuda_helper/libcupti.so.%): $(BUILD)/tests/cuda_helper/libcupti.so.%: tests/cuda_helper/fake_cupti.c Makefile
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CUDA_HELPER_CFLAGS) -I. -DFAKE_CUPTI_$* -MD -MP -MF $@.d -shared -Wl,-soname,$(@F) -Wl,-z,nodelete -o $@ $< -lpthread

$(BUILD)/tests/cuda_helper/%.o: tests/cuda_helper/%.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CUDA_HELPER_CFLAGS) -fno-omit-frame-pointer -I. -MD -MP -c $< -o $@

$(BUILD)/tests/cuda_helper/test_helper: $(addprefix $(BUILD)/tests/cuda_helper/,test_helper.o test_guest.o test_parts.o program.o heard.o) \
		$(patsubst %.c,$(BUILD)/%.o,$(filter-out %/tell.c,$(CUDA_HELPER_SRC)))
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(shell pkg-config --libs check) -ldl -lpthread

$(BUILD)/tests/cupti/loads: tests/cupti/loads.c $(BUILD)/tests/cuda_helper/heard.o \
		$(patsubst %.c,$(BUILD)/%.o,$(filter-out %/tell.c,$(CUDA_HELPER_SRC))) Makefile
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CUDA_HELPER_CFLAGS) -I. -o $@ $(filter-out Makefile,$^) $(shell pkg-config --libs check) -ldl -lpthread

$(BUILD)/tests/cuda_helper/kernels: $(BUILD)/tests/cuda_helper/kernels.o
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ -ldl

# Without builtins: the compiler removes a malloc() with its free() if it knows these functions.
PRELOAD_TESTS := preload listener weights pairing edges
$(PRELOAD_TESTS:%=$(BUILD)/tests/preload/%.o) $(BUILD)/tests/bench/preload.o: $(BUILD)/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fsanitize%,$(ALL_CFLAGS)) -fno-builtin -MD -MP -c $< -o $@

$(BUILD)/tests/preload/preload: $(PRELOAD_TESTS:%=$(BUILD)/tests/preload/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(shell pkg-config --libs check) -lm -lpthread

# The tests load it from the folder of their program.
$(BUILD)/tests/unit/libnvidia-ml.so.1: tests/unit/fakes/nvidia_ml.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared $(WARNINGS) -Wl,-soname,$(@F) -o $@ $<

# Its probes have another name, and it has no build ID that would identify it as the same file. Otherwise a profiler
# on this host would attach to the probes that the tests use.
$(BUILD)/tests/preload/libprofd-heap.so: $(PRELOAD_SRC:%.c=$(BUILD)/%.o)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PRELOAD_CFLAGS) $(PRELOAD_LINK) -Wl,--build-id=none -o $@.otel $^
	$(Q)LC_ALL=C sed 's/otel_memory/test_memory/g' $@.otel > $@

# Libraries that are preloaded into programs of the tests, and into profd.
$(BUILD)/tests/%.so: tests/%.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared $(WARNINGS) -o $@ $<

# Stand-ins for CUDA's functions, linked as a library, since probes are placed in files.
$(BUILD)/tests/gpu/driver.so: tests/gpu/driver.c tests/gpu/runtime.c tests/gpu/driver.h Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)gcc -std=gnu17 -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fPIC -shared $(WARNINGS) -I. -o $@ \
		$(filter %.c,$^)

GPU_STAGE := $(BUILD)/tests/gpu/stage.o $(BUILD)/tests/gpu/driver.so $(LIBRARY_OBJ)

$(BUILD)/tests/gpu/gpu_cost: $(BUILD)/tests/bench/gpu_cost.o $(GPU_STAGE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) -Wl,-rpath,'$$ORIGIN' -o $@ $^ $(PKG_LIBS)

$(BUILD)/tests/gpu/kernel_half: $(addprefix $(BUILD)/tests/gpu/,kernel_half.o calls.o memory.o many.o ring.o watched.o) $(GPU_STAGE)
$(BUILD)/tests/gpu/kernel_contexts: $(addprefix $(BUILD)/tests/gpu/,kernel_contexts.o watched.o) $(GPU_STAGE)
$(BUILD)/tests/gpu/kernel_half $(BUILD)/tests/gpu/kernel_contexts:
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) -Wl,-rpath,'$$ORIGIN' -o $@ $^ $(PKG_LIBS) $(shell pkg-config --libs check)

$(BUILD)/tests/bench/preload: $(BUILD)/tests/bench/preload.o
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^

$(BUILD)/tests/bench/heap_mixed: tests/bench/heap_mixed.c tests/bench/heap_work.h Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)gcc -std=gnu17 -D_GNU_SOURCE -O2 -g $(WARNINGS) -I. -o $@ $<

$(BUILD)/tests/bench/heap_map: tests/bench/heap_map.cc tests/bench/heap_work.h Makefile
	$(call say,CXX,$<)
	$(Q)mkdir -p $(@D)
	$(Q)g++ -O2 -g -Wall -Wextra -I. -o $@ $<

$(BUILD)/tests/bench/names_cost: $(BUILD)/tests/bench/names_cost.o $(LIBRARY_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OPTIMIZE) -o $@ $^ $(PKG_LIBS)

# Workloads keep their frame pointers, so that a walk finds every frame of the source. Loops are aligned so that their
# time depends on their counts only: some CPUs do not cache the decoded form of a jump that crosses 32 bytes.
WORKLOAD_FLAGS := -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline -fno-optimize-sibling-calls -falign-loops=32

$(BUILD)/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h) Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)gcc -std=gnu17 -D_GNU_SOURCE $(WORKLOAD_FLAGS) -Wall -Wextra -o $@ $< -lpthread

$(BUILD)/hostile/%: tests/hostile/%.c $(wildcard tests/hostile/*.h) tests/workloads/work.h daemon/preload/usdt.h Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)gcc -std=gnu17 -D_GNU_SOURCE -O1 -g $(WARNINGS) -o $@ $< -lpthread

$(BUILD)/workloads/%: tests/workloads/%.cc $(wildcard tests/workloads/*.h) Makefile
	$(call say,CXX,$<)
	$(Q)mkdir -p $(@D)
	$(Q)g++ $(WORKLOAD_FLAGS) -Wall -Wextra -o $@ $<

$(BUILD)/workloads/heap_sites-static $(BUILD)/workloads/heap_sites-musl: tests/workloads/heap_sites.c \
		$(wildcard tests/workloads/*.h) Makefile
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(if $(findstring musl,$@),musl-gcc,gcc) -static -std=gnu17 -D_GNU_SOURCE $(WORKLOAD_FLAGS) -Wall -Wextra -o $@ $< -lpthread

# The stacks_ workloads have no frame pointers, and use rbp as an ordinary register.
STACKS_FLAGS := -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -fno-builtin
STACKS_NEEDS := $(wildcard tests/workloads/*.h) Makefile

$(BUILD)/workloads/stacks_%: tests/workloads/stacks_%.c $(STACKS_NEEDS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)gcc -std=gnu17 -D_GNU_SOURCE $(STACKS_FLAGS) -Wall -Wextra -o $@ $< -lpthread -Wl,-rpath,'$$ORIGIN'

$(BUILD)/workloads/stacks_%: tests/workloads/stacks_%.cc $(STACKS_NEEDS)
	$(call say,CXX,$<)
	$(Q)mkdir -p $(@D)
	$(Q)g++ $(STACKS_FLAGS) -Wall -Wextra -o $@ $<

# $(call stacks_linked,BUILT,SOURCE,COMPILER AND FLAGS)
define stacks_linked
$(BUILD)/workloads/$1: tests/workloads/$2.c $(STACKS_NEEDS)
	$$(call say,CC,workloads/$1)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$3 -std=gnu17 -D_GNU_SOURCE $(STACKS_FLAGS) -Wall -Wextra -o $$@ $$<
endef
$(eval $(call stacks_linked,stacks_chain-static,stacks_chain,gcc -static))
$(eval $(call stacks_linked,stacks_chain-static-pie,stacks_chain,gcc -fPIE -static-pie))
$(eval $(call stacks_linked,stacks_chain-musl,stacks_chain,musl-gcc -static))
$(eval $(call stacks_linked,stacks_plt-lazy,stacks_plt,gcc -fno-pic -no-pie -Wl$(comma)-z$(comma)lazy))
$(eval $(call stacks_linked,stacks_plt-ibt,stacks_plt,gcc -fcf-protection=full -Wl$(comma)-z$(comma)ibtplt))
$(eval $(call stacks_linked,stacks_plugin.so,stacks_plugin,gcc -fPIC -shared -Wl$(comma)-z$(comma)lazy))

$(BUILD)/workloads/names/%: tests/workloads/variants.sh $(wildcard tests/workloads/levels*) tests/workloads/work.h
	$(call say,VARIANT,$*)
	$(Q)CC=gcc CXX=g++ tests/workloads/variants.sh build $* $(@D)

$(BUILD)/workloads/victim_plugin.so: tests/workloads/victim_plugin.c $(wildcard tests/workloads/*.h) Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)gcc -std=gnu17 -D_GNU_SOURCE $(WORKLOAD_FLAGS) -Wall -Wextra -fPIC -shared -o $@ $<

# Stand-ins for the libraries of GPUs. As in an installation, the driver is a file named by its version, with symbolic
# links to it. The runtime has frame pointers throughout and its functions start with a push, as in the real one; the
# symbols of the static one are local.
CUDA         := $(BUILD)/workloads/cuda
CUDA_NEEDS   := $(wildcard tests/workloads/cuda/*.h tests/workloads/cuda/*.hh) tests/workloads/work.h Makefile
CUDA_PLAIN   := $(if $(filter x86,$(ARCH)),-fcf-protection=none)
CUDA_CFLAGS  := -std=gnu17 -D_GNU_SOURCE -g -fPIC -Wall -Wextra $(CUDA_PLAIN)
CUDART_FLAGS := -O1 -fno-omit-frame-pointer -fno-shrink-wrap -fno-optimize-sibling-calls

$(CUDA)/libcuda.so.535.54.03: $(wildcard tests/workloads/cuda/driver_*.c) $(CUDA_NEEDS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(CUDA_CFLAGS) -O2 -fvisibility=hidden -shared -Wl,-soname,libcuda.so.1 -o $@ $(filter %.c,$^)

$(CUDA)/libcuda.so.1 $(CUDA)/libcuda.so: $(CUDA)/libcuda.so.535.54.03
	$(Q)ln -sf $(<F) $@

$(CUDA)/libcudart.so.%: tests/workloads/cuda/runtime.c $(CUDA_NEEDS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(CUDA_CFLAGS) $(CUDART_FLAGS) -DCUDART=$* -shared -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -o $@ $<

$(CUDA)/libcudart_static.a: tests/workloads/cuda/runtime.c $(CUDA_NEEDS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(CUDA_CFLAGS) $(CUDART_FLAGS) -fvisibility=hidden -c -o $(CUDA)/runtime_static.o $<
	$(Q)ar rcs $@ $(CUDA)/runtime_static.o

$(CUDA)/libnvidia-ml.so.1: tests/workloads/cuda/nvml.c $(CUDA_NEEDS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(CUDA_CFLAGS) -O2 -fvisibility=hidden -shared -Wl,-soname,$(@F) -o $@ $<

$(CUDA)/libc10.so: tests/workloads/cuda/c10.cc $(CUDA_NEEDS)
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)g++ -O2 -g -fPIC -Wall -Wextra $(CUDA_PLAIN) -shared -Wl,-soname,$(@F) -o $@ $<

$(CUDA)/xla_cuda_plugin.so: tests/workloads/cuda/xla.cc $(CUDA_NEEDS) $(CUDA)/libcudart.so.12
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)g++ $(CUDART_FLAGS) -fno-inline -g -fPIC -fvisibility=hidden -Wall -Wextra $(CUDA_PLAIN) -shared \
		-Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(CUDA) -l:libcudart.so.12

$(CUDA)/gpu_truth $(CUDA)/gpu_contexts: CUDART := -l:libcudart.so.12
$(CUDA)/gpu_launches: CUDART := -l:libcudart.so.12
$(CUDA)/gpu_launches-13: CUDART := -DCUDART=13 -l:libcudart.so.13
$(CUDA)/gpu_launches-static: CUDART := -l:libcudart_static.a
CUDA_LINK = -L$(CUDA) -Wl,--no-as-needed $(CUDART) -lcuda -lpthread -Wl,-rpath,'$$ORIGIN'

$(CUDA)/gpu_truth $(CUDA)/gpu_contexts: $(CUDA)/%: tests/workloads/cuda/%.c tests/workloads/cuda/gpu_families.c
$(CUDA)/gpu_launches $(CUDA)/gpu_launches-13 $(CUDA)/gpu_launches-static: tests/workloads/cuda/gpu_launches.c
$(CUDA)/gpu_truth $(CUDA)/gpu_contexts $(CUDA)/gpu_launches $(CUDA)/gpu_launches-13 $(CUDA)/gpu_launches-static: \
		$(CUDA_NEEDS) $(GPU_LIBRARIES:%=$(CUDA)/%)
	$(call say,CC,$@)
	$(Q)gcc -std=gnu17 -D_GNU_SOURCE $(WORKLOAD_FLAGS) -Wall -Wextra -o $@ $(filter %.c,$^) $(CUDA_LINK)

$(CUDA)/gpu_tensors: tests/workloads/cuda/gpu_tensors.cc $(CUDA_NEEDS) $(GPU_LIBRARIES:%=$(CUDA)/%)
	$(call say,CXX,$@)
	$(Q)g++ $(WORKLOAD_FLAGS) -Wall -Wextra -o $@ $< -L$(CUDA) -lc10 -l:libcudart.so.12 -lpthread -Wl,-rpath,'$$ORIGIN'

$(CUDA)/gpu_chunks: tests/workloads/cuda/gpu_chunks.cc $(CUDA_NEEDS) $(GPU_LIBRARIES:%=$(CUDA)/%)
	$(call say,CXX,$@)
	$(Q)g++ $(WORKLOAD_FLAGS) -Wall -Wextra -o $@ $< -L$(CUDA) -l:xla_cuda_plugin.so -l:libcudart.so.12 -lpthread \
		-Wl,-rpath,'$$ORIGIN'

$(BUILD)/fuzz/%: tests/fuzz/%.c $(LIBRARY_OBJ)
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)clang $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(PKG_LIBS)

# In a separate build folder, because fuzzed code must be compiled with libFuzzer's coverage instrumentation.
FUZZ_BUILD ?= build-fuzz

.PHONY: fuzz-run-%
fuzz-run-%:
	$(Q)$(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) SAN=address,undefined CC=clang \
		CFLAGS="$(CFLAGS) -fsanitize=fuzzer-no-link" $(FUZZ_BUILD)/fuzz/$*
	$(Q)mkdir -p $(FUZZ_BUILD)/corpus/$* && $(FUZZ_BUILD)/fuzz/$* -max_total_time=$(or $(FUZZ_SECONDS),60) \
		-print_final_stats=1 $(FUZZ_BUILD)/corpus/$* $(wildcard tests/fuzz/corpus/$*)

-include $(shell find $(BUILD) \( -path $(BUILD)/package -o -path $(BUILD)/bare \) -prune -o -name '*.d' -print 2>/dev/null)
