# The GPU backends, plugins beside the probe, each built if its compiler is found; nothing else
# needs them:
#   $(BUILD)/lib/pertoken/cuda.so   nvcc of CUDA 12.8 or later: in $(CUDA_PATH), PATH or
#                                   /usr/local/cuda
#   $(BUILD)/lib/pertoken/hip.so    clang 19 or later with lld; no ROCm needed, but its clang will do
# GPU=no leaves them out; GPU=here builds only for the GPUs in this machine, in a fraction of the
# time. Not built with sanitizers: tests/stand_ins/emulator runs the same sources with them.

CUDA_ARCHITECTURES := 80 90a 100 120
# Later GPUs translate the PTX of the last.
STREAMING_ARCHITECTURES := 80 90a 100
HIP_ARCHITECTURES  := gfx90a gfx942 gfx1100 gfx1201
HIP_STREAMING     := gfx90a gfx942

GPU_BUILD := $(BUILD)/gpu
PLUGIN_FOLDER := $(BUILD)/lib/pertoken

ifeq ($(VARIANT)$(GPU:here=),)
NVCC := $(firstword $(wildcard $(addsuffix /bin/nvcc,$(CUDA_PATH))) \
                    $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_ROOTS := $(CUDA_PATH) $(if $(NVCC),$(abspath $(dir $(realpath $(NVCC)))/..)) /usr/local/cuda
CUDA_HEADER := $(firstword $(shell grep -ls cudaLibraryLoadData \
                                   $(addsuffix /include/cuda_runtime_api.h,$(CUDA_ROOTS))))
CUDA_ROOT := $(patsubst %/include/cuda_runtime_api.h,%,$(CUDA_HEADER))
# The newest one in the distribution, else ROCm's (in $(ROCM_PATH) or /opt/rocm; 19 since 6.4).
GPU_CLANGS = $(foreach v,23 22 21 20 19,$(shell command -v clang-$(v) 2>/dev/null)) \
             $(wildcard $(addsuffix /llvm/bin/clang,$(ROCM_PATH) /opt/rocm)) \
             $(shell command -v clang 2>/dev/null)
GPU_CLANG := $(firstword $(shell for c in $(GPU_CLANGS); do v=$$($$c -dumpversion); \
                 test "$${v%%.*}" -ge 19 && $$c --target=amdgcn-amd-amdhsa -nogpulib \
                   --print-supported-cpus 2>&1 | grep -qw gfx942 && echo $$c; done 2>/dev/null))
ifneq ($(GPU_CLANG),)
ifneq ($(shell $(GPU_CLANG) --target=amdgcn-amd-amdhsa -nogpulib --print-supported-cpus 2>&1 | grep -w gfx950),)
HIP_ARCHITECTURES += gfx950
HIP_STREAMING += gfx950
endif
endif
endif

comma    := ,
HAS_CUDA := $(and $(NVCC),$(CUDA_ROOT))
BUILD_CUDA := $(HAS_CUDA)
BUILD_HIP  := $(GPU_CLANG)

# Code for X.0 runs on every later X.Y, code for X.0a only on X.0 (CUDA C++ Programming Guide,
# Compute capabilities). A gfx_target_version of 90010 is gfx90a: two decimal digits for each
# hexadecimal one (Linux, drivers/gpu/drm/amd/amdkfd/kfd_topology.c). Unknown GPUs get all
# architectures.
ifeq ($(GPU),here)
KFD ?= /sys/class/kfd/kfd/topology/nodes
NVIDIA_HERE := $(sort $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
                              sed -n 's/^\([0-9]*\)\.[0-9]*$$/\1/p'))
AMD_HERE := $(sort $(shell awk '$$1 == "gfx_target_version" && $$2 { \
  printf "gfx%d%x%x\n", $$2 / 10000, $$2 / 100 % 100, $$2 % 100 }' $(KFD)/*/properties 2>/dev/null))
CUDA_ARCHITECTURES := $(or $(filter $(NVIDIA_HERE:%=%0) $(NVIDIA_HERE:%=%0a),$(CUDA_ARCHITECTURES)), \
                           $(CUDA_ARCHITECTURES))
STREAMING_ARCHITECTURES := $(or $(filter $(CUDA_ARCHITECTURES),$(STREAMING_ARCHITECTURES)), \
                                 $(lastword $(STREAMING_ARCHITECTURES)))
HIP_ARCHITECTURES := $(or $(filter $(AMD_HERE),$(HIP_ARCHITECTURES)),$(HIP_ARCHITECTURES))
HIP_STREAMING := $(filter $(HIP_ARCHITECTURES),$(HIP_STREAMING))
BUILD_CUDA := $(and $(HAS_CUDA),$(NVIDIA_HERE)$(wildcard /dev/nvidiactl))
BUILD_HIP  := $(and $(GPU_CLANG),$(AMD_HERE)$(wildcard /dev/kfd))
endif

PLUGINS  := $(strip $(if $(BUILD_CUDA),$(PLUGIN_FOLDER)/cuda.so) \
                    $(if $(BUILD_HIP),$(PLUGIN_FOLDER)/hip.so))

# The ladder of kernel variants, for whoever takes the binaries to a GPU: tests/gpu/check.
LADDER := $(if $(PLUGINS),$(BUILD)/bench/gpu_kernels)

ifeq ($(VARIANT)$(GPU),)
GPU_WITHOUT := $(strip $(if $(HAS_CUDA),,cuda (needs nvcc of CUDA 12.8)) \
                       $(if $(GPU_CLANG),,hip (needs clang 19 and lld, or ROCm 6.4's)) \
                       $(if $(filter gfx950,$(HIP_ARCHITECTURES)),,gfx950 (needs clang 20)))
GPU_WORDS = $(if $(GPU_WITHOUT),@echo "  built without $(GPU_WITHOUT)")
endif

# Shared by both sides of a backend.
GPU_SHARED := arithmetic weights share family rope routing element quantised
GPU_HASHED := $(sort $(wildcard kernels/gpu/*.h kernels/gpu/*/*.[chS] kernels/gpu/*/*/*.h kernels/gpu/*/*.cu kernels/*.h) \
                     $(GPU_SHARED:%=kernels/%.c))
GPU_HASH := $(shell cat $(GPU_HASHED) | sha256sum | cut -c1-16)
# For tests that load a plugin, which may be older than its sources: see tests/support/kernels/hip_plugin.c.
.PHONY: gpu-hash
gpu-hash:
	@echo $(GPU_HASH)
# The parts of the host's side that the tests' emulators have too.
GPU_COMMON := $(wildcard kernels/gpu/plan/*.c kernels/gpu/launches/*.c) $(GPU_SHARED:%=kernels/%.c) \
              $(patsubst %,kernels/gpu/host/%.c,backend state prompt prompt_experts failure ranks crew \
                                                calibration stage_times tile_check wgmma_check)
GPU_HOST := $(patsubst %.c,$(GPU_BUILD)/%.o,$(GPU_COMMON) \
              $(patsubst %,kernels/gpu/host/%.c,identity driver_runtime context queue library_file collectives vendor_products))
# With GPU_STAMPS=yes CUDA's kernels record time stamps (stamp.h): `make gpu-stamped`, a backend
# that is not for measuring and has another name in its records.
GPU_STAMPS :=
GPU_STAMPING := $(if $(GPU_STAMPS),-DGPU_STAMPS)
GPU_COMPILE = $(COMPILE) -fPIC -fvisibility=hidden $(GPU_STAMPING) -DGPU_BUILD='"$(GPU_HASH)$(if $(GPU_STAMPS),-stamped)"'
GPU_LINK = $(CC) $(CFLAGS) -shared $(HARDEN_LINK) $(LDFLAGS) -Wl,-z,defs -Wl,--exclude-libs,ALL

# ---- the kernels

# cuda_code NAME SOURCE ARCHITECTURES: the images of one source, and all of them combined, with the
# last one's PTX for later GPUs. None of 8.x: its kernels do not wait for the one before, as those do
# that a later GPU starts early. None of 90a, which runs nowhere else.
define cuda_code
$(GPU_BUILD)/$(1)_%.ptx: kernels/gpu/device/$(2) kernels/gpu/build.mk
	@mkdir -p $$(@D)
	@echo "  compile $$< (compute_$$*)"
	$(Q)$(NVCC) -std=c++17 -O3 -ptx -arch=compute_$$* $(GPU_STAMPING) -I. -MD -MP -MF $$(@:.ptx=.d) -MT $$@ -o $$@ $$<

$(GPU_BUILD)/$(1)_%.cubin: $(GPU_BUILD)/$(1)_%.ptx
	@echo "  assemble $$@"
	$(Q)$(CUDA_ROOT)/bin/ptxas -O3 -arch=sm_$$* -o $$@ $$<

$(GPU_BUILD)/$(1).code: $(3:%=$(GPU_BUILD)/$(1)_%.cubin)
	$(Q)$(CUDA_ROOT)/bin/fatbinary --64 --create=$$@ \
	  $(foreach a,$(3),--image3=kind=elf$(comma)sm=$(a)$(comma)file=$(GPU_BUILD)/$(1)_$(a).cubin) \
	  $(foreach a,$(filter-out 8% 90a,$(lastword $(3))),--image3=kind=ptx$(comma)sm=$(a)$(comma)file=$(GPU_BUILD)/$(1)_$(a).ptx)

.SECONDARY: $(3:%=$(GPU_BUILD)/$(1)_%.ptx) $(3:%=$(GPU_BUILD)/$(1)_%.cubin) $(GPU_BUILD)/$(1).code
endef
$(eval $(call cuda_code,cuda,kernels.cu,$(CUDA_ARCHITECTURES)))
$(eval $(call cuda_code,streaming,streaming.cu,$(STREAMING_ARCHITECTURES)))
.SECONDARY: $(HIP_ARCHITECTURES:%=$(GPU_BUILD)/%.code) \
            $(HIP_STREAMING:%=$(GPU_BUILD)/streaming_%.code)

# clang 22 ignores -MF for a device alone, but not its own option for it.
HIP_COMPILE = $(GPU_CLANG) -x hip --offload-arch=gfx$* -nogpulib -nogpuinc -std=c++17 -O3 \
	  -mcode-object-version=5 --cuda-device-only --no-gpu-bundle-output -I. \
	  $(addprefix -Xclang ,-dependency-file $(@:.code=.d) -MT $@ -MP) -o $@ $<

$(GPU_BUILD)/gfx%.code: kernels/gpu/device/kernels.cu kernels/gpu/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< (gfx$*)"
	$(Q)$(HIP_COMPILE)

# Constants moved out of the loop over the stages would take more scalar registers than there are.
$(GPU_BUILD)/streaming_gfx%.code: kernels/gpu/device/streaming.cu kernels/gpu/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< (gfx$*)"
	$(Q)$(HIP_COMPILE) -mllvm -disable-machine-licm

$(GPU_BUILD)/%.code.o: $(GPU_BUILD)/%.code kernels/gpu/host/code.S
	$(Q)$(CC) -c -DSYMBOL=gpu_code_$* -DFILE='"$<"' -o $@ kernels/gpu/host/code.S

# ---- the host's side

$(GPU_BUILD)/kernels/%.o: kernels/%.c kernels/gpu/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< (plugin)"
	$(Q)$(GPU_COMPILE) -o $@ $<

CUDA_HOST := $(patsubst %,$(GPU_BUILD)/kernels/gpu/host/%.o,driver_cuda $(if $(GPU_STAMPS),stamps))
$(GPU_BUILD)/kernels/gpu/host/driver_cuda.o: INCLUDES += -isystem $(CUDA_ROOT)/include
$(GPU_BUILD)/kernels/gpu/host/driver_runtime.o: $(GPU_HASHED)

$(PLUGIN_FOLDER)/cuda.so: $(GPU_HOST) $(CUDA_HOST) $(GPU_BUILD)/cuda.code.o \
                          $(GPU_BUILD)/streaming.code.o
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(GPU_LINK) -o $@ $^ -L$(CUDA_ROOT)/lib64 -L$(CUDA_ROOT)/lib \
	  -lcudart_static -lpthread -ldl -lrt -lm

# Beside the other, for finding out when each block of a kernel was where: tests/gpu/stamps.py.
.PHONY: gpu-stamped
gpu-stamped: ## build CUDA's backend with stamps of the time, as build/stamped/lib/pertoken/cuda.so
	$(if $(BUILD_CUDA),,$(error no nvcc, or with GPU=here no GPU of NVIDIA's))
	@$(MAKE) GPU_STAMPS=yes GPU_BUILD=$(BUILD)/stamped/gpu PLUGIN_FOLDER=$(BUILD)/stamped/lib/pertoken \
	  $(BUILD)/stamped/lib/pertoken/cuda.so

$(PLUGIN_FOLDER)/hip.so: $(GPU_HOST) $(GPU_BUILD)/kernels/gpu/host/driver_hip.o \
                         $(HIP_ARCHITECTURES:%=$(GPU_BUILD)/%.code.o) \
                         $(HIP_STREAMING:%=$(GPU_BUILD)/streaming_%.code.o)
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(GPU_LINK) -o $@ $^ -lpthread -ldl -lm

-include $(wildcard $(GPU_BUILD)/*.d $(GPU_BUILD)/kernels/gpu/host/driver_*.d $(GPU_HOST:.o=.d))
