# Vivarium. One non-recursive GNU Makefile; sources by wildcard, dependencies by the compiler.
#
#   make                 viv, vivd, viv-kernel, viv-keeper, viv-store, viv-s3, viv-gate, viv-journal, viv-tools, viv-hold, viv-expr and libvivarium.a in build/rel (MODE=dev or MODE=asan: in build/dev, build/asan)
#   make demo            installs what is missing, builds, does a piece of work in a cell
#   make test            installs what is missing, builds, runs every suite
#   make test-unit | test-guest | test-diff | diff | test-stress | stress | test-hostile | test-fuzz | test-e2e | test-toolchains | test-agents | test-browser | test-asan | fuzz | chaos | soak-network | bench | lint | docs
#   make deps | deps-test | deps-bench | deps-toolchains | deps-browser | deps-lint
#   make install PREFIX=/usr/local [DESTDIR=], make uninstall, make clean

MODE ?= rel
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
VERSION := 0.1.0

ifeq ($(filter $(MODE),dev rel asan),)
$(error MODE is dev, rel or asan)
endif

B := build/$(MODE)
GEN := $(B)/gen
GENERATED := $(GEN)/kernel_filter.h $(GEN)/runner_filter.h $(GEN)/gate_filter.h

WARN := -Wall -Wextra -Wshadow -Wvla -Wundef -Wstrict-prototypes -Wmissing-prototypes \
	-Wcast-function-type -Wwrite-strings -Wimplicit-fallthrough -Wformat=2 -Werror
CPPFLAGS := -D_GNU_SOURCE -Isrc -I$(GEN) -DVIV_VERSION='"$(VERSION)"'
DEPFLAGS = -MMD -MP
# Every program is position-independent, so that the host loads it at a random address (docs/decisions/0029-hardening.md).
CFLAGS := -std=gnu17 -g $(WARN) -fno-strict-aliasing -fPIE -ffunction-sections -fdata-sections
LDFLAGS := -Wl,--gc-sections -Wl,-z,noexecstack -Wl,-z,relro,-z,now

# What was left in a register or on the stack is of no use to whoever comes after. Where mistakes are looked for, forgotten variables
# have a value that is noticed.
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection -fzero-call-used-regs=used-gpr \
	-ftrivial-auto-var-init=$(if $(filter rel,$(MODE)),zero,pattern)
ifneq ($(findstring clang,$(CC)),)
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection
endif
ifeq ($(MODE),rel)
CFLAGS += -O2 -D_FORTIFY_SOURCE=2 $(HARDEN)
endif
ifeq ($(MODE),dev)
CFLAGS += -Og  $(HARDEN)
endif
# What links libraries of the distribution cannot be static.
DYN_CPPFLAGS := $(CPPFLAGS)
DYN_CFLAGS := $(CFLAGS)
DYN_LDFLAGS = -pie $(filter-out $(STATIC_LDFLAGS),$(LDFLAGS))
# The released programs use musl: a cell's start is two of them, and glibc's start-up asks the processor for its features, which
# costs a hypervisor exit each time it runs in a virtual machine (docs/decisions). The other modes use glibc, so both are tested.
LIBC ?= $(if $(filter rel-gcc,$(MODE)-$(CC)),musl,glibc)
PROG_CC := $(CC)
ifeq ($(LIBC),musl)
PROG_CC := musl-gcc
MULTIARCH := $(shell $(CC) -print-multiarch)
CPPFLAGS += -idirafter /usr/include -idirafter /usr/include/$(MULTIARCH) -DVIV_SEAL_LATE
# musl-gcc does not know -static-pie, and starts every program by the code of a dynamic one.
MUSL_CRT := /usr/lib/$(subst -gnu,-musl,$(MULTIARCH))
STATIC_LDFLAGS := -nostartfiles -Wl,-static,-pie,--no-dynamic-linker,-z,text $(MUSL_CRT)/rcrt1.o $(MUSL_CRT)/crti.o $(MUSL_CRT)/crtn.o
else
STATIC_LDFLAGS := -static-pie
endif
# A sanitized program cannot be static.
ifeq ($(MODE),asan)
STATIC_LDFLAGS := -pie
endif
LDFLAGS += $(STATIC_LDFLAGS)
ifeq ($(MODE),asan)
CFLAGS += -O1  -ftrivial-auto-var-init=pattern -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
DYN_CFLAGS += -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif

# The stub is freestanding code at a fixed address in each runner; it is never sanitized or instrumented.
STUB_CFLAGS := -std=gnu17 $(WARN) -O2 -ffreestanding -fPIE -mgeneral-regs-only -fno-stack-protector \
	-fcf-protection=none -fno-asynchronous-unwind-tables -mno-red-zone -fno-builtin
STUB_LDFLAGS := -nostdlib -static -no-pie -s -Wl,-Ttext-segment=0x7ea000000000 -Wl,--section-start=.fastmem=0x7ea000100000 -Wl,-z,norelro \
	-Wl,-z,noexecstack -Wl,--build-id=none

rwildcard = $(foreach d,$(wildcard $(1)/*),$(call rwildcard,$(d),$(2))$(filter $(2),$(d)))
objs = $(patsubst %,$(B)/obj/%.o,$(1))

BASE_SRC := $(sort $(wildcard src/base/*.c))
# What crosses a process boundary is part of every program that has to do with the host.
HOST_SRC := $(sort $(wildcard src/host/*.c src/wire/*.c))
# The reader of images is part of the kernel; the rest of the store is of the trusted side.
STORE_READER_SRC := src/store/config.c src/store/index.c
STORE_SRC := $(sort $(wildcard src/store/*.c))
IMPORT_SRC := $(sort $(wildcard src/import/*.c))
S3_SRC := $(sort $(wildcard src/s3/*.c))
JOURNAL_SRC := $(sort $(wildcard src/journal/*.c))
POLICY_SRC := $(sort $(wildcard src/policy/*.c))
# The kernel decides by the compiled form alone.
POLICY_KERNEL_SRC := src/policy/compiled.c src/policy/glob.c
GATE_SRC := $(sort $(wildcard src/gate/*.c))
CLIENT_SRC := $(sort $(wildcard src/client/*.c))
DAEMON_SRC := $(sort $(wildcard src/daemon/*/*.c src/api/*.c src/api/*/*.c))
CLI_SRC := $(sort $(wildcard src/cli/*.c src/cli/*/*.c))
FILES_SRC := $(sort $(wildcard src/files/*.c))
# Of it, what viv cp uses as well.
TAR_SRC := src/files/stored.c src/files/tarhead.c src/files/tarpack.c src/files/tarunpack.c src/files/walk.c
# Another program for the inside of cells: the commands that tools are there.
TOOLS_SRC := $(sort $(wildcard src/tools/*.c))
TOOLS_MORE := $(patsubst %,src/base/%.c,base64 buf err json jsontext log utf8)
KEEPER_SRC := $(sort $(wildcard src/keeper/*.c src/keeper/disk/*.c src/spec/*.c)) $(POLICY_SRC)
KERNEL_SRC := $(sort $(call rwildcard,src/kernel,%.c %.S))
STUB_SRC := $(sort $(wildcard src/stub/*.c src/stub/*.S))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(UNIT_SRC))
HEADERS := $(sort $(call rwildcard,src,%.h))

BASE_OBJ := $(call objs,$(BASE_SRC))
HOST_OBJ := $(call objs,$(HOST_SRC))
STORE_OBJ := $(call objs,$(STORE_SRC))
# viv-store links libraries of the distribution, so it is an ordinary dynamic program in every mode.
IMPORT_OBJ := $(patsubst %,$(B)/dyn/%.o,$(IMPORT_SRC) $(STORE_SRC) $(BASE_SRC))
IMPORT_LIBS := -larchive -lcrypto -lz
S3_OBJ := $(patsubst %,$(B)/dyn/%.o,$(S3_SRC))
S3_LIBS := -lcurl -lcrypto -lpthread
GATE_OBJ := $(patsubst %,$(B)/dyn/%.o,$(GATE_SRC) $(POLICY_SRC) src/host/fdmsg.c src/host/jail.c src/host/journalring.c src/wire/journal.c $(filter-out src/base/arena.c,$(BASE_SRC)))
GATE_LIBS := -lcares -lnghttp2 -lssl -lcrypto -lz -lbrotlidec -lzstd
# What of the journal is not viv-journal alone is part of vivd, too.
JOURNAL_OBJ := $(patsubst %,$(B)/dyn/%.o,$(JOURNAL_SRC) src/journal/timeline_blob.S src/wire/journal.c src/host/journalring.c src/host/journalgone.c src/policy/glob.c src/spec/values.c $(BASE_SRC))
JOURNAL_LIBS := -lcrypto -lzstd
# vivd, likewise (docs/decisions/0020-vivd-libraries.md).
VIVD_OBJ := $(patsubst %,$(B)/dyn/%.o,$(DAEMON_SRC) $(CLIENT_SRC) src/gate/secretread.c src/api/openapi_blob.S src/api/files_blob.S) $(B)/dyn/agents_blob.S.o
# Of these, only what it uses.
VIVD_MORE := $(patsubst %,$(B)/dyn/%.o,$(filter-out src/keeper/main.c,$(KEEPER_SRC)) src/gate/head.c src/gate/h1read.c $(STORE_SRC) $(filter-out src/journal/main.c,$(JOURNAL_SRC)) $(HOST_SRC) $(BASE_SRC))
VIVD_LIBS := -lm -luv -lmicrohttpd -lwslay -lgnutls -lsqlite3 -ljansson -lyaml -lcrypto -lzstd
# For other programs: libvivarium, with what it needs of the rest.
CLIENT_OBJ := $(patsubst %,$(B)/dyn/%.o,$(CLIENT_SRC) src/store/store.c src/base/buf.c src/base/err.c src/base/json.c src/base/jsontext.c src/base/log.c src/base/utf8.c)
CLI_OBJ := $(call objs,$(CLI_SRC))
KEEPER_OBJ := $(call objs,$(filter-out src/keeper/main.c,$(KEEPER_SRC)))
KERNEL_OBJ := $(call objs,$(KERNEL_SRC) $(STORE_READER_SRC) $(POLICY_KERNEL_SRC))
STUB_OBJ := $(patsubst %,$(B)/stub/%.o,$(STUB_SRC))
# What a unit test is linked with: all of the kernel but its main.
TEST_OBJ := $(filter-out $(call objs,src/kernel/cell/main.c),$(KERNEL_OBJ)) $(HOST_OBJ) $(BASE_OBJ)
# Parts of viv, for tests that name them.
# What a journal answers, without the libraries that reading one needs.
QUERY_SRC := $(patsubst %,src/journal/%,blame.c hosts.c names.c origin.c processes.c show.c story.c table.c tally.c timeline.c timelinehtml.c timeline_blob.S touched.c)
TEST_CLI_OBJ := $(call objs,$(QUERY_SRC)) $(filter-out $(call objs,src/cli/main.c),$(CLI_OBJ)) $(KEEPER_OBJ) $(STORE_OBJ) $(call objs,src/s3/xml.c src/gate/dns.c src/gate/hello.c src/api/http/chunk.c src/api/http/text.c src/daemon/cells/cellstate.c src/daemon/keepers/poolsize.c $(TAR_SRC))


# Each command is a line that says what it makes; V=1 shows it whole, 'make -s' nothing.
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
Q := $(if $(V),,@)
say = $(if $(V)$(SILENT),,@echo '  $(1)  $@')
SHOW = $(if $(SILENT),,$(if $(V),set -x;,echo '  LD  $@';))

.PHONY: all bad-requests bad-frames soak-network test-browser chaos crash demo test test-unit test-guest test-diff diff test-stress stress test-hostile fuzz fuzzers tight test-fuzz test-asan test-e2e test-toolchains bench deps deps-test deps-bench deps-toolchains deps-browser deps-lint lint lint-format test-agents \
	lint-layers lint-headers lint-docs lint-tidy docs install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/viv $(B)/viv-kernel $(B)/viv-keeper $(B)/viv-store $(B)/viv-s3 $(B)/viv-gate $(B)/viv-journal $(B)/viv-tools $(B)/viv-hold $(B)/viv-expr $(B)/vivd $(B)/libvivarium.a

# An archive, so that viv carries only the parts of the host layer that it uses.
$(B)/libviv.a: $(call objs,$(CLIENT_SRC) $(TAR_SRC) src/gate/head.c src/gate/h1read.c) $(KEEPER_OBJ) $(STORE_OBJ) $(HOST_OBJ) $(BASE_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

$(B)/viv: $(CLI_OBJ) $(B)/libviv.a
	$(call say,LD)
	$(Q)$(PROG_CC) $(LDFLAGS) -o $@ $^

$(B)/viv-keeper: $(call objs,src/keeper/main.c) $(B)/libviv.a
	$(call say,LD)
	$(Q)$(PROG_CC) $(LDFLAGS) -o $@ $^

# Objects and no archive: handlers are weak references, which would pull nothing out of an archive.
$(B)/viv-kernel: $(KERNEL_OBJ) $(HOST_OBJ) $(BASE_OBJ)
	$(call say,LD)
	$(Q)$(PROG_CC) $(LDFLAGS) -o $@ $^

$(B)/viv-store: $(IMPORT_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(DYN_LDFLAGS) -o $@ $^ $(IMPORT_LIBS)

$(B)/viv-s3: $(S3_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(DYN_LDFLAGS) -o $@ $^ $(S3_LIBS)

$(B)/viv-gate: $(GATE_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(DYN_LDFLAGS) -o $@ $^ $(GATE_LIBS)

$(B)/viv-journal: $(JOURNAL_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(DYN_LDFLAGS) -o $@ $^ $(JOURNAL_LIBS)

$(B)/libvivd.a: $(VIVD_MORE)
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

$(B)/vivd: $(VIVD_OBJ) $(B)/libvivd.a
	$(call say,LD)
	$(Q)$(CC) $(DYN_LDFLAGS) -o $@ $^ $(VIVD_LIBS)

$(B)/libvivarium.a: $(CLIENT_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

$(B)/dyn/src/api/openapi_blob.S.o: src/api/openapi_blob.S src/api/openapi.json Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -Wa,-Isrc/api -c -o $@ $<

# The known agents, which vivd carries (src/daemon/agents/blob.h).
AGENT_DEFS := $(sort $(wildcard agents/*.yaml))
$(GEN)/agents.S: $(AGENT_DEFS) Makefile
	@mkdir -p $(@D)
	@{ echo '.section .rodata'; \
	$(foreach a,$(AGENT_DEFS),echo 'name_$(basename $(notdir $(a))): .asciz "$(basename $(notdir $(a)))"'; \
		echo 'text_$(basename $(notdir $(a))): .incbin "$(a)"'; echo 'end_$(basename $(notdir $(a))): .byte 0';) \
	echo '.section .data.rel.ro, "aw"'; echo '.balign 8'; echo '.global agent_blobs'; echo 'agent_blobs:'; \
	$(foreach a,$(basename $(notdir $(AGENT_DEFS))),echo '.quad name_$(a), text_$(a), end_$(a)';) \
	echo '.quad 0, 0, 0'; echo '.section .note.GNU-stack, "", @progbits'; } >$@
$(B)/dyn/agents_blob.S.o: $(GEN)/agents.S
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -c -o $@ $<

# A program for the inside of cells, which vivd carries: static, and never sanitized.
FILES_CC := $(if $(filter musl,$(LIBC)),musl-gcc,$(CC))
FILES_CFLAGS := -std=gnu17 -O2 $(WARN) -fno-strict-aliasing -fno-pie -ffunction-sections -fdata-sections
$(B)/files/%.o: % Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(FILES_CC) -D_GNU_SOURCE -Isrc $(FILES_CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(B)/viv-files: $(patsubst %,$(B)/files/%.o,$(FILES_SRC) src/base/limit.c)
	$(call say,LD)
	$(Q)$(FILES_CC) -static -no-pie -s -Wl,--gc-sections -Wl,-z,noexecstack -Wl,--build-id=none -o $@ $^

$(B)/viv-tools: $(patsubst %,$(B)/files/%.o,$(TOOLS_SRC) $(TOOLS_MORE))
	$(call say,LD)
	$(Q)$(FILES_CC) -static -no-pie -s -Wl,--gc-sections -Wl,-z,noexecstack -Wl,--build-id=none -o $@ $^

# What runs programs of the operator's for cells: small, as each call of a tool starts it.
$(B)/viv-hold: $(B)/files/src/hold/main.c.o
	$(call say,LD)
	$(Q)$(FILES_CC) -static -no-pie -s -Wl,--gc-sections -Wl,-z,noexecstack -Wl,--build-id=none -o $@ $^

# Expressions of workflows, each in a process of its own with limits that a sanitizer could not live with.
$(B)/viv-expr: src/expr/main.c src/daemon/workflows/limits.h Makefile
	$(call say,LD)
	$(Q)$(CC) -D_GNU_SOURCE -Isrc -std=gnu17 -O2 -g $(WARN) -fPIE -fstack-protector-strong -fcf-protection -pie -Wl,-z,noexecstack -Wl,-z,relro,-z,now -o $@ $< -ljq

$(B)/dyn/src/api/files_blob.S.o: src/api/files_blob.S $(B)/viv-files Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -Wa,-I$(B) -c -o $@ $<

$(B)/dyn/src/journal/timeline_blob.S.o: src/journal/timeline_blob.S src/journal/timeline.html src/journal/timeline.js Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -c -o $@ $<

$(B)/dyn/%.c.o: %.c Makefile | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(DYN_CPPFLAGS) $(DYN_CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(B)/viv-stub: $(STUB_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(STUB_LDFLAGS) -o $@ $^

$(B)/obj/%.c.o: %.c Makefile | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(PROG_CC) $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/tests/fuzz/%.c.o: CPPFLAGS += -Itests/fuzz

$(B)/obj/%.S.o: %.S Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(DEPFLAGS) -Wa,-I$(B) -c -o $@ $<

$(call objs,src/kernel/platform/stub_blob.S): $(B)/viv-stub
$(call objs,src/journal/timeline_blob.S): src/journal/timeline.html src/journal/timeline.js

$(B)/stub/%.o: % Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -D_GNU_SOURCE -Isrc $(STUB_CFLAGS) $(DEPFLAGS) -c -o $@ $<

# The calls of the kernel and of the gate. Rewritten only when the content changes, so that not every edit of src/host compiles everything.
$(GEN)/kernel_seccomp.h: SECCOMP_FROM := $(HOST_SRC) $(BASE_SRC) $(sort $(wildcard src/kernel/platform/*.c src/kernel/cell/*.c))
$(GEN)/kernel_seccomp.h: $(HOST_SRC) $(BASE_SRC) $(sort $(wildcard src/kernel/platform/*.c src/kernel/cell/*.c))
$(GEN)/gate_seccomp.h: SECCOMP_FROM := $(GATE_SRC) src/host/fdmsg.c src/host/journalring.c src/base/log.c
$(GEN)/gate_seccomp.h: $(GATE_SRC) src/host/fdmsg.c src/host/journalring.c src/base/log.c
$(GEN)/kernel_seccomp.h $(GEN)/gate_seccomp.h: tools/gen-seccomp
	@mkdir -p $(@D)
	@tools/gen-seccomp $(SECCOMP_FROM) >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# The filters are made at build time, so that no cell spends time on it, by programs that are never sanitized.
# libseccomp's macros leave a field out.
GEN_CFLAGS := -std=gnu17 -O1 $(WARN) -Wno-missing-field-initializers -D_GNU_SOURCE -Isrc -I$(GEN)
$(GEN)/gen-runner-filter: tools/gen-runner-filter.c $(wildcard src/stub/*.h) src/kernel/sys/syscalls.tbl.h
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(GEN_CFLAGS) -o $@ $<

$(GEN)/gen-kernel-filter: tools/gen-kernel-filter.c tools/genfilter.h $(GEN)/kernel_seccomp.h src/wire/bootspec.h src/host/openhow.h src/host/sockopt.h src/host/worker.h
$(GEN)/gen-gate-filter: tools/gen-gate-filter.c tools/genfilter.h $(GEN)/gate_seccomp.h src/wire/gate.h
$(GEN)/gen-kernel-filter $(GEN)/gen-gate-filter:
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(GEN_CFLAGS) $(if $(filter asan,$(MODE)),-DSANITIZED) -o $@ $< -lseccomp

$(GENERATED): $(GEN)/%_filter.h: $(GEN)/gen-%-filter
	$< >$@

# A test that wants only some objects (to replace others by its own fakes) says so in a line of its source:
#   /* objects: src/base/arena.c src/kernel/vfs/ */      (a folder: all of it)
$(B)/tests/unit/%: tests/unit/%.c $(TEST_OBJ) $(TEST_CLI_OBJ)
	@mkdir -p $(@D)
	@want=$$(sed -n 's|^/\* objects: \(.*[^ ]\) *\*/$$|\1|p' $<); \
	objs='$(TEST_OBJ)'; \
	if [ -n "$$want" ]; then objs=$$(for o in $$want; do case $$o in */) o=$$(echo $$o*.c) ;; esac; \
		printf '$(B)/obj/%s.o ' $$o; done); fi; \
	$(SHOW) $(PROG_CC) $(CPPFLAGS) -Itests/unit $(CFLAGS) $(DEPFLAGS) $(LDFLAGS) -o $@ $< $$objs

# The signatures of viv-s3 need OpenSSL, so this one is a dynamic program.
$(B)/tests/unit/test_s3sign: tests/unit/test_s3sign.c $(B)/dyn/src/s3/sign.c.o $(B)/dyn/src/s3/endpoint.c.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(DYN_CPPFLAGS) -Itests/unit $(DYN_CFLAGS) $(DEPFLAGS) $(DYN_LDFLAGS) -o $@ $(filter %.c %.o,$^) -lcrypto

# What of vivd needs its libraries is tested likewise.
VIVD_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_vivd*.c))
$(VIVD_TESTS): $(B)/tests/unit/%: tests/unit/%.c $(filter-out $(B)/dyn/src/api/main.c.o,$(VIVD_OBJ)) $(B)/libvivd.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(DYN_CPPFLAGS) -Itests/unit $(DYN_CFLAGS) $(DEPFLAGS) $(DYN_LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) $(VIVD_LIBS)

# And what of viv-gate needs libraries.
GATE_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_gate*.c))
$(GATE_TESTS): $(B)/tests/unit/%: tests/unit/%.c $(filter-out $(B)/dyn/src/gate/main.c.o,$(GATE_OBJ))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(DYN_CPPFLAGS) -Itests/unit $(DYN_CFLAGS) $(DEPFLAGS) $(DYN_LDFLAGS) -o $@ $(filter %.c %.o,$^) $(GATE_LIBS)

# And what of viv-journal does.
JOURNAL_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_journal_*.c))
$(JOURNAL_TESTS): $(B)/tests/unit/%: tests/unit/%.c $(filter-out $(B)/dyn/src/journal/main.c.o,$(JOURNAL_OBJ))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(DYN_CPPFLAGS) -Itests/unit $(DYN_CFLAGS) $(DEPFLAGS) $(DYN_LDFLAGS) -o $@ $(filter %.c %.o,$^) $(JOURNAL_LIBS)

$(B)/tests/unit/test_journal_ask: $(B)/viv-journal

# Raw files of any number of records, for measurements.
$(B)/tests/journal_make: tests/bench/journal_make.c $(patsubst %,$(B)/dyn/%.o,src/wire/journal.c src/base/buf.c src/base/crc32c.c src/base/log.c)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(DYN_CPPFLAGS) -Itests/unit $(DYN_CFLAGS) $(DYN_LDFLAGS) -o $@ $^

# ---- fuzzers: only in MODE=asan ----

# A kernel for the fuzzer that is at its limits all the time (src/base/arena.c, src/kernel/task/clock.c), with a viv that finds it beside itself.
ARENA_TIGHT ?= 150
TIGHT_SRC := src/base/arena.c src/kernel/task/clock.c
TIGHT_OBJ := $(patsubst %,$(B)/tight/%.o,$(TIGHT_SRC))
$(TIGHT_OBJ): $(B)/tight/%.o: % | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(PROG_CC) $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -DARENA_TIGHT=$(ARENA_TIGHT) -c -o $@ $<
$(B)/tight/viv-kernel: $(filter-out $(call objs,$(TIGHT_SRC)),$(KERNEL_OBJ) $(HOST_OBJ) $(BASE_OBJ)) $(TIGHT_OBJ)
	$(call say,LD)
	$(Q)$(PROG_CC) $(LDFLAGS) -o $@ $^
$(B)/tight/viv: $(B)/viv $(B)/viv-keeper $(B)/viv-store $(B)/tight/viv-kernel
	$(Q)cp --remove-destination $(B)/viv-keeper $(B)/viv-store $(B)/viv $(@D)/
tight: $(B)/tight/viv
-include $(TIGHT_OBJ:.o=.d)

FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(FUZZ_SRC))
# The parsers that a fuzzer is for: what they reach guides it.
FUZZ_COVERED := src/host/journalring.c src/kernel/cell/frozen.c src/wire/bootspec.c src/wire/execspec.c src/wire/journal.c $(patsubst %,src/journal/%.c,block files reader table verify key keys hash) src/kernel/sys/mount.c src/keeper/gatenotes.c src/keeper/result.c src/keeper/options.c src/keeper/rules.c src/spec/args.c src/spec/attenuate.c src/spec/journal.c src/spec/json.c src/spec/settings.c src/spec/mounts.c src/spec/hosts.c src/spec/envfile.c src/spec/ports.c src/spec/ulimits.c src/spec/values.c src/kernel/platform/elf.c src/kernel/sys/exec.c \
	$(sort $(wildcard src/policy/*.c)) src/gate/dns.c src/gate/hello.c $(patsubst %,src/gate/%.c,channel connect record udp resolve dnstcp names secret secretput secretread scrub scrubstream h1 h1read head path request hold exchange h2 h2head h2body) src/kernel/sys/sock.c src/kernel/sys/sockcmsg.c src/kernel/sys/sockmsg.c src/kernel/net/netlink.c src/kernel/net/inet.c \
	src/kernel/net/inet_port.c $(patsubst %,src/kernel/net/%.c,unix unix_dgram unix_name unix_packet unix_stream) src/kernel/net/udp.c src/kernel/net/tcp.c $(patsubst %,src/kernel/net/%.c,gate outside outside_opt udp_out) \
	src/wire/keeper.c src/base/err.c $(STORE_READER_SRC) $(patsubst %,src/import/%.c,container fromtar gunzip object order parts publish pyc tree) src/base/json.c src/cli/mcp/message.c src/s3/xml.c src/files/tarhead.c src/files/tarunpack.c \
	$(patsubst %,src/daemon/%.c,yaml/yaml yaml/yvars yaml/yschema projects/keys automation/keys projects/file workflows/def workflows/steps workflows/value workflows/expr workflows/inputs workflows/tree workflows/engine cells/cellspec state/fields state/output previews/target agents/def agents/rules tools/request tools/schema tools/validate sessions/lines sessions/rpc schedules/cronexpr schedules/tzif schedules/when) \
	$(patsubst %,src/cli/%.c,sessionevent sessionview transcriptitems transcriptmd transcripthtml transcriptview) src/base/safetext.c $(patsubst %,src/journal/%.c,blame names processes story timeline touched)
FUZZ_OBJ := $(patsubst %,$(B)/covered/%.o,$(FUZZ_COVERED))
FUZZ_MORE := $(STORE_OBJ) $(call objs,$(QUERY_SRC)) $(call objs,$(patsubst %,src/import/%.c,hash import progress) src/daemon/cells/cellstate.c src/cli/color.c src/cli/jsonprint.c src/keeper/disk/textdiff.c)
FUZZ_WORLD := $(patsubst $(B)/obj/%,$(B)/covered/%,$(filter $(call objs,$(FUZZ_COVERED)),$(TEST_OBJ))) \
	$(filter-out $(call objs,$(FUZZ_COVERED) src/kernel/cell/sanitize.c),$(TEST_OBJ)) $(B)/obj/tests/fuzz/world.c.o

$(B)/covered/%.c.o: %.c Makefile | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(PROG_CC) $(CPPFLAGS) $(CFLAGS) -fsanitize-coverage=trace-pc,trace-cmp $(DEPFLAGS) -c -o $@ $<

# 'objects:' as for unit tests; without it, all of the kernel and world.c. What is covered is taken in that form. 'libraries:' are
# what they need of the distribution's.
$(B)/tests/fuzz/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.c.o $(B)/obj/tests/fuzz/driver.c.o $(FUZZ_OBJ) $(FUZZ_WORLD) $(FUZZ_MORE)
	@mkdir -p $(@D)
	@want=$$(sed -n 's|^/\* objects: \(.*[^ ]\) *\*/$$|\1|p' tests/fuzz/fuzz_$*.c); \
	objs='$(FUZZ_WORLD)'; \
	if [ -n "$$want" ]; then objs=$$(for o in $$want; do \
		case ' $(FUZZ_COVERED) ' in *" $$o "*) echo $(B)/covered/$$o.o ;; *) echo $(B)/obj/$$o.o ;; esac; done); fi; \
	libs=$$(sed -n 's|^/\* libraries: \(.*[^ ]\) *\*/$$|\1|p' tests/fuzz/fuzz_$*.c); \
	$(SHOW) $(PROG_CC) $(LDFLAGS) -o $@ $(B)/obj/tests/fuzz/fuzz_$*.c.o $(B)/obj/tests/fuzz/driver.c.o $$objs $$libs

fuzzers: $(FUZZ_BIN)

# ---- tests ----

# Every suite, with what failed shown at the end; a suite alone (make test-guest) shows each of its tests.
SUITES := unit guest diff hostile e2e stress fuzz
test:
	@tools/deps base test
	@$(MAKE) --no-print-directory -s -j2 all $(UNIT_BIN) lint-layers lint-headers lint-docs
	@tests/report.py $(B)/log $(SUITES) -- $(MAKE) --no-print-directory test-

test-unit: $(UNIT_BIN)
	@prove -j2 $(UNIT_BIN)

test-guest: all
	@tests/guest/run.sh $(B) $(B)/viv $(T)
	@GUEST_FLAGS="--fast eager" tests/guest/run.sh $(B) $(B)/viv "$(or $(T),post_*)"
	@$(foreach t,$(or $(T),detach_* signal_* stop_* wait_*),GUEST_FLAGS="--fast detach" tests/guest/run.sh $(B) $(B)/viv "$t" &&) true

# The same calls on the host and in a cell, line by line. 'make diff' takes other variations: SEEDS, COUNT, T for families.
test-diff: all
	@tests/diff/run.sh $(B) $(B)/viv $(T)
SEEDS ?= 1 2 3 4 5 6 7 8 9 10 11 12
COUNT ?= 100
diff: all
	@tests/diff/run.sh $(B) $(B)/viv --seeds "$(SEEDS)" --count $(COUNT) $(T)

test-stress: all
	@tests/stress/run.py $(B) $(B)/viv --short

# The long form; MODE=asan for the sanitized kernel.
stress: all
	@tests/stress/run.py $(B) $(B)/viv

test-hostile: all
	@tests/hostile/run.sh $(B) $(B)/viv $(T)

# The parsers of guest-made bytes, always the same inputs.
test-fuzz:
	@$(MAKE) --no-print-directory -j2 MODE=asan fuzzers
	@tests/fuzz/run.sh build/asan

# The parsers, the attacks in their long form, then random calls in cells of all kinds (FUZZ_KINDS: of these), on the sanitized kernel, from a
# new seed. The seconds are those of the random calls.
FUZZ_SECONDS ?= 180
FUZZ_KINDS ?=
fuzz:
	@$(MAKE) --no-print-directory -j2 MODE=asan all fuzzers tight
	@tests/fuzz/run.sh build/asan --seconds $$(($(FUZZ_SECONDS) / 4)) --seed $$(date +%s)
	@HOSTILE_SCALE=10 FUZZ_SEED=$$(date +%s) tests/hostile/run.sh build/asan build/asan/viv $(T)
	@tests/fuzz/campaign.py build/asan --seconds $(FUZZ_SECONDS) --seed $$(date +%s) --minimise --keep-going $(if $(FUZZ_KINDS),--kinds $(FUZZ_KINDS))

# Every suite that runs guests, on the sanitized kernel: minutes.
test-asan:
	@$(MAKE) --no-print-directory -j2 MODE=asan all
	@$(MAKE) --no-print-directory -k MODE=asan test-unit test-guest test-diff test-hostile stress

# Disks: every crash point of more workloads, and more damaged logs. Some minutes.
crash: $(B)/tests/unit/test_crash $(B)/tests/unit/test_logfuzz
	@$(B)/tests/unit/test_crash $(or $(SEEDS),40)
	@$(B)/tests/unit/test_logfuzz 20000

test-e2e: all $(B)/tests/journal_make
	@tests/e2e/run.sh $(B) $(B)/viv $(T)

# More of the malformed requests that test-e2e sends to vivd.
bad-requests: all
	@BAD_REQUESTS=$(or $(COUNT_BAD),10000) BAD_SEED=$(or $(SEED),$(shell date +%s)) tests/e2e/run.sh $(B) $(B)/viv 'malformed requests'

# The long form of the theme 'survive': minutes of kill -9, from a new seed, which it prints.
CHAOS_SECONDS ?= 180
chaos: all
	@d=$$(mktemp -d /tmp/viv-chaos.XXXXXX); python3 tests/e2e/chaos.py $(B)/viv $$d --seconds $(CHAOS_SECONDS) --seed $(or $(SEED),$(shell date +%s)); s=$$?; rm -rf $$d; exit $$s

# More of the malformed WebSockets that test-e2e opens.
bad-frames: all
	@BAD_FRAMES=$(or $(COUNT_BAD),10000) BAD_SEED=$(or $(SEED),$(shell date +%s)) tests/e2e/run.sh $(B) $(B)/viv 'malformed handshakes'

# Previews in Debian's Chromium: no part of 'make test', as it is a large package.
test-browser: all $(B)/tests/unit/test_journalshow
	@tools/deps base test browser
	@tests/browser/run.sh $(B) $(B)/viv $(T)

# An hour of the network (SECONDS=N) and gigabytes each way (SIZE=N), with figures: tests/soak/network.sh.
soak-network: all
	@tools/deps base test
	@SOAK_SECONDS=$(or $(SECONDS),3600) SOAK_SIZE=$(or $(SIZE),10G) tests/soak/network.sh $(B)/viv

# No part of 'make test': its packages are many (make deps-toolchains), and some come from the npm registry.
test-toolchains: all
	@tools/deps base test toolchains
	@tests/toolchains/run.sh $(B) $(B)/viv $(T)

# Coding agents from the npm registry, with a model that follows a script; T for one of them.
test-agents: all
	@tools/deps base test
	@tests/agents/run.sh $(B) $(B)/viv $(T)

# BENCH='--only ROW' runs one row, BENCH=--list names them, BENCH=--quick is short and rough.
bench:
	@tools/deps base test bench
	@$(MAKE) --no-print-directory -j2 all
	@tests/bench/run.sh $(B) $(B)/viv $(BENCH)

demo:
	@tools/deps base demo
	@$(MAKE) --no-print-directory -j2 all
	@tools/demo.sh $(B)/viv

# ---- packages ----

deps:
	@tools/deps base
deps-test:
	@tools/deps base test
deps-bench:
	@tools/deps bench
deps-toolchains:
	@tools/deps base test toolchains
deps-browser:
	@tools/deps base test browser
deps-lint:
	@tools/deps base lint

# ---- checks ----

lint: lint-layers lint-headers lint-docs lint-format lint-tidy

lint-layers:
	@tools/check-layers

lint-headers: | $(GENERATED)
	@tools/check-headers $(CC) $(CPPFLAGS) -std=gnu17 $(WARN) -- $(filter-out %.tbl.h,$(HEADERS))

lint-docs: $(B)/viv
	@tools/gen-syscalls-doc --check
	@tools/gen-journal-doc --check
	@tools/check-verbs $(B)/viv docs/viv.1
	@tools/gen-spec $(B)/viv
	@tools/check-policies $(B)/viv docs/policy.md

lint-format:
	@clang-format --dry-run --Werror $(filter-out %.tbl.h,$(HEADERS)) $(BASE_SRC) $(HOST_SRC) $(STORE_SRC) $(IMPORT_SRC) $(S3_SRC) $(GATE_SRC) $(JOURNAL_SRC) $(KEEPER_SRC) $(CLIENT_SRC) $(DAEMON_SRC) $(CLI_SRC) $(FILES_SRC) $(TOOLS_SRC) src/hold/main.c src/expr/main.c \
		$(filter %.c,$(KERNEL_SRC) $(STUB_SRC))

lint-tidy: | $(GENERATED)
	@clang-tidy --quiet --warnings-as-errors='*' --checks='-*,clang-analyzer-core.*,bugprone-suspicious-memset-usage,bugprone-macro-repeated-side-effects' \
		$(BASE_SRC) $(HOST_SRC) $(STORE_SRC) $(IMPORT_SRC) $(S3_SRC) $(GATE_SRC) $(JOURNAL_SRC) $(KEEPER_SRC) $(CLIENT_SRC) $(DAEMON_SRC) $(CLI_SRC) $(filter %.c,$(KERNEL_SRC)) -- $(CPPFLAGS) -std=gnu17

docs:
	tools/gen-syscalls-doc src/kernel/sys/syscalls.tbl.h >docs/syscalls.md
	tools/gen-journal-doc src/wire/journal.tbl.h >docs/journal-records.md

# ---- install ----

install: all
	install -D -m 755 $(B)/viv $(DESTDIR)$(PREFIX)/bin/viv
	install -D -m 755 $(B)/viv-kernel $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-kernel
	install -D -m 755 $(B)/viv-keeper $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-keeper
	install -D -m 755 $(B)/viv-store $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-store
	install -D -m 755 $(B)/viv-s3 $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-s3
	install -D -m 755 $(B)/viv-gate $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-gate
	install -D -m 755 $(B)/viv-journal $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-journal
	install -D -m 755 $(B)/viv-tools $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-tools
	install -D -m 755 $(B)/viv-hold $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-hold
	install -D -m 755 $(B)/viv-expr $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-expr
	install -D -m 755 $(B)/vivd $(DESTDIR)$(PREFIX)/libexec/vivarium/vivd
	install -D -m 644 $(B)/libvivarium.a $(DESTDIR)$(PREFIX)/lib/libvivarium.a
	install -D -m 644 src/client/vivarium.h $(DESTDIR)$(PREFIX)/include/vivarium.h
	for u in user system; do \
		install -D -m 644 contrib/systemd/$$u/vivd.socket $(DESTDIR)$(PREFIX)/lib/systemd/$$u/vivd.socket && \
		sed 's|@PREFIX@|$(PREFIX)|' contrib/systemd/$$u/vivd.service >$(B)/vivd.$$u.service && \
		install -D -m 644 $(B)/vivd.$$u.service $(DESTDIR)$(PREFIX)/lib/systemd/$$u/vivd.service || exit 1; \
	done
	for a in $(AGENT_DEFS); do install -D -m 644 $$a $(DESTDIR)$(PREFIX)/share/vivarium/$$a || exit 1; done
	install -D -m 644 docs/viv.1 $(DESTDIR)$(PREFIX)/share/man/man1/viv.1
	$(B)/viv completion bash >$(B)/viv.bash
	install -D -m 644 $(B)/viv.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/viv
	$(B)/viv completion zsh >$(B)/_viv
	install -D -m 644 $(B)/_viv $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_viv

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/viv $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-kernel $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-keeper \
		$(DESTDIR)$(PREFIX)/libexec/vivarium/viv-store $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-s3 $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-gate $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-journal $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-tools $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-hold $(DESTDIR)$(PREFIX)/libexec/vivarium/viv-expr $(DESTDIR)$(PREFIX)/share/man/man1/viv.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/viv $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_viv \
		$(DESTDIR)$(PREFIX)/libexec/vivarium/vivd $(DESTDIR)$(PREFIX)/lib/libvivarium.a $(DESTDIR)$(PREFIX)/include/vivarium.h \
		$(foreach u,user system,$(DESTDIR)$(PREFIX)/lib/systemd/$(u)/vivd.socket $(DESTDIR)$(PREFIX)/lib/systemd/$(u)/vivd.service) \
		$(addprefix $(DESTDIR)$(PREFIX)/share/vivarium/,$(AGENT_DEFS))
	-rmdir $(DESTDIR)$(PREFIX)/libexec/vivarium $(DESTDIR)$(PREFIX)/share/vivarium/agents $(DESTDIR)$(PREFIX)/share/vivarium

clean:
	rm -rf build

-include $(FUZZ_OBJ:.o=.d) $(FUZZ_MORE:.o=.d) $(patsubst %,$(B)/obj/%.d,$(FUZZ_SRC)) $(B)/obj/tests/fuzz/driver.c.d $(B)/obj/tests/fuzz/world.c.d
-include $(CLI_OBJ:.o=.d) $(patsubst %,$(B)/files/%.d,$(FILES_SRC) $(TOOLS_SRC) $(TOOLS_MORE) src/base/limit.c) $(patsubst %,$(B)/obj/%.d,$(TAR_SRC)) $(KEEPER_OBJ:.o=.d) $(B)/obj/src/keeper/main.c.d $(STORE_OBJ:.o=.d) $(IMPORT_OBJ:.o=.d) $(S3_OBJ:.o=.d) $(GATE_OBJ:.o=.d) $(JOURNAL_OBJ:.o=.d) $(VIVD_OBJ:.o=.d) $(VIVD_MORE:.o=.d) $(HOST_OBJ:.o=.d) $(BASE_OBJ:.o=.d) $(KERNEL_OBJ:.o=.d) $(STUB_OBJ:.o=.d) \
	$(UNIT_BIN:=.d)
