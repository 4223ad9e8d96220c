# nvcc's PTX of the GPU's kernels as plugins that run it on the host, for tests (ptx.h):
#   $(BUILD)/tests/lib/ptx{80,90a,100,120}.so  a decode backend each, of build/gpu/*_ARCHITECTURE.ptx
# Those files are made with the backends, where there is an nvcc, and looked for when the tests run.

PTX_ARCHITECTURES := 80 90a 100 120
PTX_OBJ := $(BUILD)/obj/tests/ptx
PTX_LIB := $(BUILD)/tests/lib
PTXS := $(PTX_ARCHITECTURES:%=$(PTX_LIB)/ptx%.so)
PTX_PARTS := $(patsubst %,$(PTX_OBJ)/%.o,arithmetic machine matrix memory text driver_emulator)

# Registers hold floats and integers alternately.
PTX_CXX = g++ -std=c++17 -D_GNU_SOURCE -DPERTOKEN_EMULATOR -DEMULATOR_WARP=32 -DTILE_MMA \
          -DEMULATOR_PTX $(CFLAGS) $(WARNINGS) $(SANITIZE) -ffp-contract=off -fno-strict-aliasing \
          -O3 -march=native -fno-exceptions -fno-rtti -fPIC -fvisibility=hidden -I. -MMD -MP -c

$(PTX_OBJ)/%.o: tests/stand_ins/ptx/%.cc tests/stand_ins/ptx/build.mk
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(Q)$(PTX_CXX) -o $@ $<

$(PTX_OBJ)/driver_emulator.o: tests/stand_ins/emulator/driver_emulator.cc tests/stand_ins/ptx/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< (ptx)"
	$(Q)$(PTX_CXX) -o $@ $<

$(PTX_ARCHITECTURES:%=$(PTX_OBJ)/architecture_%.o): $(PTX_OBJ)/architecture_%.o: \
  tests/stand_ins/ptx/architecture.cc tests/stand_ins/ptx/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< ($*)"
	$(Q)$(PTX_CXX) -DPTX_ARCHITECTURE='"$*"' \
	  -DPTX_STREAMING='"$(or $(filter $*,$(STREAMING_ARCHITECTURES)),$(lastword $(STREAMING_ARCHITECTURES)))"' -o $@ $<

$(PTXS): $(PTX_LIB)/ptx%.so: $(PTX_OBJ)/architecture_%.o $(PTX_PARTS) $(EMULATOR_HOST) \
                             tests/stand_ins/emulator/exports.map
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(EMULATOR_LINK) -o $@ $(filter %.o,$^)

$(BUILD)/tests/test_ptx: | $(PTXS)
deep-tests: $(PTXS) $(if $(VARIANT),,$(BUILD)/tests/lib/hip_decode.so)
-include $(wildcard $(PTX_OBJ)/*.d)
