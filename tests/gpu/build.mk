# Checks this machine's GPU within a time budget; resumable. See tests/gpu/check, which builds
# gpu-programs with GPU=here.
BUDGET ?= 1800

.PHONY: gpu-check gpu-programs
gpu-check: ## measure this machine's GPU: BUDGET=seconds; call again to go on
	@tests/gpu/check --budget $(BUDGET) $(GPU_CHECK)

gpu-programs: $(PLUGINS) $(BUILD)/pertoken-probe $(LADDER) $(if $(PLUGINS),$(BUILD)/tests/lib/hip_decode.so) \
              $(if $(BUILD_CUDA),$(BUILD)/bench/gpu_fences)
	@:

# For a machine without a compiler: what a check of one architecture needs. The programs are linked
# again, so that they find their libraries beside themselves, and no other program does.
ARCH ?= sm_90a
PACKED := $(BUILD)/packed
PACKED_CUDA := $(filter-out gfx%,$(ARCH:sm_%=%))
PACKED_HIP := $(filter gfx%,$(ARCH))
PACKED_BACKEND := $(if $(PACKED_HIP),hip.so,cuda.so)
PACKED_FOR := $(if $(PACKED_HIP),HIP_ARCHITECTURES=$(PACKED_HIP) HIP_STREAMING=$(filter $(PACKED_HIP),$(HIP_STREAMING)), \
                CUDA_ARCHITECTURES=$(PACKED_CUDA) \
                STREAMING_ARCHITECTURES=$(or $(filter $(PACKED_CUDA),80 90a 100),$(if $(filter 8%,$(PACKED_CUDA)),80,100)))
PACKED_DECODER := $(BUILD)/tests/lib/hip_decode.so
# What one version of CUDA has built, another does not go on with.
PACKED_PLACE := $(PACKED)/$(ARCH)$(if $(PACKED_CUDA),/$(notdir $(realpath $(CUDA_ROOT))))
packed_plugin = $(PACKED_PLACE)/$(1)lib/pertoken/$(PACKED_BACKEND)
packed_make = $(MAKE) $(PACKED_FOR) GPU_BUILD=$(PACKED_PLACE)/$(1)gpu \
                PLUGIN_FOLDER=$(PACKED_PLACE)/$(1)lib/pertoken $(call packed_plugin,$(1))

# where OBJECT BESIDE
define packed_program
$(PACKED)/$(1): $(BUILD)/obj/$(2).o $$(LIBRARY) $$(MODEL)
	@mkdir -p $$(@D)
	@echo "  link $$@"
	$$(Q)$$(LINK) -Wl,--disable-new-dtags,-rpath,'$$$$ORIGIN/$(3)' -o $$@ $$^ $$(LIBS)
endef
$(eval $(call packed_program,pertoken-probe,probe/commands/main,shared))
$(eval $(call packed_program,bench/gpu_kernels,tests/bench/gpu_kernels,../shared))

.PHONY: gpu-pack
gpu-pack: $(PACKED)/pertoken-probe $(PACKED)/bench/gpu_kernels $(PACKED_DECODER) ## pack what checks a GPU of one kind: ARCH=sm_90a, gfx942
	$(if $(or $(and $(PACKED_HIP),$(GPU_CLANG)),$(and $(PACKED_CUDA),$(HAS_CUDA))),,$(error nothing here compiles for $(ARCH)))
	@+$(call packed_make,)
	$(if $(PACKED_CUDA),@+$(call packed_make,stamped/) GPU_STAMPS=yes)
	$(if $(PACKED_CUDA),@+$(MAKE) $(BUILD)/bench/gpu_fences)
	@tests/gpu/pack --name pertoken-gpu-$(ARCH) --probe $< --ladder $(PACKED)/bench/gpu_kernels \
	  --plugin $(call packed_plugin,) --decoder $(PACKED_DECODER) --out $(BUILD) \
	  $(if $(PACKED_CUDA),--stamped $(call packed_plugin,stamped/) --fences $(BUILD)/bench/gpu_fences)
