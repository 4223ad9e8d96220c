# The tests' own HIP runtime, on the host emulator (fake_hip.c), in the versions that the plugin
# must cope with, the first with the tests' own RCCL (fake_rccl.c); and one on CUDA (hip_on_cuda.c),
# built separately: make build/tests/lib/hip_on_cuda.so.
FAKE_HIP := $(patsubst %,$(BUILD)/tests/lib/%.so,fake_hip fake_hip_old fake_hip_missing)

$(BUILD)/tests/lib/fake_hip_old.so: FAKE_HIP_FLAGS := -DOLD
$(BUILD)/tests/lib/fake_hip_missing.so: FAKE_HIP_FLAGS := -DMISSING

$(BUILD)/tests/lib/fake_hip.so: FAKE_RCCL := tests/stand_ins/hip/fake_rccl.c
$(BUILD)/tests/lib/fake_hip.so: tests/stand_ins/hip/fake_rccl.c

$(FAKE_HIP): tests/stand_ins/hip/fake_hip.c tests/stand_ins/hip/fake_hip.h tests/stand_ins/emulator/launch.h \
  $(wildcard kernels/gpu/arguments/*.h) tests/stand_ins/hip/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< ($(@F))"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) $(SANITIZE) -I. -shared -fPIC $(FAKE_HIP_FLAGS) -o $@ $< $(FAKE_RCCL)

$(addprefix $(BUILD)/tests/test_,hip hip_libraries hip_ranks): | $(FAKE_HIP) $(BUILD)/tests/lib/emulator64fnuz.so

# For check_instructions.py; can also be built separately: the launches' machine code, and the
# decoder.
HIP_DECODE := tests/stand_ins/hip/decode.c tests/support/kernels/pieces.c $(wildcard kernels/*.c kernels/reference/*.c)
$(BUILD)/tests/lib/instructions.so: tests/stand_ins/hip/instructions.c kernels/weights.c
$(BUILD)/tests/lib/hip_decode.so: $(HIP_DECODE)
$(BUILD)/tests/lib/instructions.so $(BUILD)/tests/lib/hip_decode.so: tests/stand_ins/hip/build.mk \
  tests/stand_ins/emulator/launch.h tests/support/kernels/pieces.h $(wildcard kernels/*.h kernels/reference/*.h)
	@mkdir -p $(@D)
	@echo "  compile $@"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) -I. -shared -fPIC -o $@ $(filter %.c,$^) -lm

ifneq ($(HAS_CUDA),)
$(BUILD)/tests/lib/hip_on_cuda.so: tests/stand_ins/hip/hip_on_cuda.c $(GPU_BUILD)/cuda.code.o tests/stand_ins/hip/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< ($(@F))"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) -isystem $(CUDA_ROOT)/include -shared -fPIC -o $@ \
	  $(filter %.c %.o,$^) -Wl,--exclude-libs,ALL -L$(CUDA_ROOT)/lib64 -L$(CUDA_ROOT)/lib \
	  -lcudart_static -lpthread -ldl -lrt
endif
