# The GPU's kernels and host side as plugins that run on the host, for tests:
#   $(BUILD)/tests/lib/emulator{32,mma,64,64fnuz}.so  a decode backend each: the scalar tile at warp
#     32, and the matrix instructions by their documented layout: mma.sync, gfx950's, gfx942's with
#     its own E4M3
#   $(BUILD)/tests/lib/checks{32,64,64fnuz}.so    the emulator by itself with kernels of its own

EMULATOR_32     := -DEMULATOR_WARP=32
EMULATOR_mma    := -DEMULATOR_WARP=32 -DTILE_MMA -DTILE_E4M3=1
EMULATOR_64     := -DEMULATOR_WARP=64 -DTILE_MFMA -DTILE_E4M3=1 -DMFMA_BF16_WIDE=1
EMULATOR_64fnuz := -DEMULATOR_WARP=64 -DTILE_MFMA -DTILE_E4M3=1 -DMFMA_BF16_WIDE=0 -DEMULATOR_FNUZ

# gcc spells `#pragma unroll` differently and ignores this one.
EMULATOR_CXX = g++ -std=c++17 -DPERTOKEN_EMULATOR $(CFLAGS) $(WARNINGS) -Wno-unknown-pragmas \
               $(SANITIZE) -fno-exceptions -fno-rtti -fPIC -fvisibility=hidden -I. -MMD -MP -c
EMULATOR_CC  = $(COMPILE) -fPIC
EMULATOR_LINK = g++ -shared $(SANITIZE) $(LDFLAGS) -Wl,-z,defs \
                -Wl,--version-script=tests/stand_ins/emulator/exports.map

# For the race detector of races.h; two sanitizers cannot be combined. At -O1 and without
# descriptions of variables the kernels compile in about half the time and run no slower.
EMULATOR_DEVICE := -O1 -g1 $(if $(SANITIZE),,-fsanitize=thread --param tsan-instrument-func-entry-exit=0)

EMULATOR_PARTS := emulator copies fiber races platform_emulator matrix_instruction wgmma_instruction

EMULATOR_OBJ := $(BUILD)/obj/tests/emulator
EMULATOR_LIB := $(BUILD)/tests/lib
EMULATOR_HOST := $(GPU_COMMON:%.c=$(EMULATOR_OBJ)/%.o) \
                 $(patsubst %,$(EMULATOR_OBJ)/kernels/gpu/host/%.o,library_file vendor_products)
# One of each width; `make test-deep` has all of them, but not with sanitizers.
EMULATORS := $(patsubst %,$(EMULATOR_LIB)/emulator%.so,mma 64fnuz)
DEEP_EMULATORS := $(if $(SANITIZE),,$(patsubst %,$(EMULATOR_LIB)/emulator%.so,32 64))
CHECKS    := $(patsubst %,$(EMULATOR_LIB)/checks%.so,32 64 64fnuz)

$(EMULATOR_OBJ)/kernels/%.o: kernels/%.c tests/stand_ins/emulator/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< (emulator)"
	$(Q)$(EMULATOR_CC) -o $@ $<

# emulator_variant VARIANT
define emulator_variant
$(EMULATOR_OBJ)/$(1)/%.o: tests/stand_ins/emulator/%.cc tests/stand_ins/emulator/build.mk
	@mkdir -p $$(@D)
	@echo "  compile $$< ($(1))"
	$(Q)$$(EMULATOR_CXX) $$(EMULATOR_$(1)) -o $$@ $$<

$(EMULATOR_OBJ)/$(1)/check_kernels.o $(EMULATOR_OBJ)/$(1)/kernels.o $(EMULATOR_OBJ)/$(1)/streaming.o: \
  EMULATOR_CXX += $(EMULATOR_DEVICE)
$(EMULATOR_OBJ)/$(1)/kernels.o $(EMULATOR_OBJ)/$(1)/streaming.o: $(EMULATOR_OBJ)/$(1)/%.o: \
  kernels/gpu/device/%.cu tests/stand_ins/emulator/build.mk
	@mkdir -p $$(@D)
	@echo "  compile $$< ($(1))"
	$(Q)$$(EMULATOR_CXX) $$(EMULATOR_$(1)) -x c++ -o $$@ $$<

$(EMULATOR_LIB)/emulator$(1).so: $(patsubst %,$(EMULATOR_OBJ)/$(1)/%.o,$(EMULATOR_PARTS) \
                                   driver_emulator kernels streaming) $(EMULATOR_HOST)
$(EMULATOR_LIB)/checks$(1).so: $(patsubst %,$(EMULATOR_OBJ)/$(1)/%.o,$(EMULATOR_PARTS) \
                                 check_kernels) $(EMULATOR_OBJ)/kernels/weights.o
-include $(wildcard $(EMULATOR_OBJ)/$(1)/*.d)
endef
$(foreach v,32 mma 64 64fnuz,$(eval $(call emulator_variant,$(v))))
-include $(wildcard $(EMULATOR_HOST:.o=.d))

$(EMULATORS) $(DEEP_EMULATORS) $(CHECKS): tests/stand_ins/emulator/exports.map
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(EMULATOR_LINK) -o $@ $(filter %.o,$^)

$(BUILD)/tests/test_emulator: | $(CHECKS)
$(patsubst %,$(BUILD)/tests/test_%,expert_ranks gpu_backend gpu_beside gpu_cache gpu_clusters gpu_expert_products gpu_experts \
    gpu_families gpu_formats gpu_kernels gpu_latent gpu_matrix_products gpu_prefill gpu_prefill_library gpu_products \
    gpu_streaming gpu_tokens gpu_wgmma prompt_ranks tensor_parallel): | $(EMULATORS)
deep-tests: $(DEEP_EMULATORS)
