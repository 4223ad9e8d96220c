# Libraries that the tests load instead of the real ones: vendors', and malloc. Include this after
# TESTS, BUILD and STANDARD are set.
FAKE_LIBRARIES := $(addprefix $(BUILD)/tests/fake/,libnvidia-ml.so libnvidia-ml-old.so \
  libnvidia-ml-useless.so libamd_smi.so libamd_smi-old.so \
  libamd_smi-counts.so librocm_smi64.so short_memory.so libdnnl.so)
FAKE_WARNINGS := -Wall -Wextra -Wpedantic -Werror

$(BUILD)/tests/fake/libnvidia-ml.so $(BUILD)/tests/fake/libnvidia-ml-old.so \
  $(BUILD)/tests/fake/libnvidia-ml-useless.so: tests/stand_ins/fake/nvml.c tests/stand_ins/fake/fake_nvml.h \
  tests/stand_ins/fake/limits.h
$(BUILD)/tests/fake/libamd_smi.so $(BUILD)/tests/fake/libamd_smi-old.so \
  $(BUILD)/tests/fake/libamd_smi-counts.so: tests/stand_ins/fake/amdsmi.c \
  tests/stand_ins/fake/amd.h tests/stand_ins/fake/fake_amd.h tests/stand_ins/fake/limits.h
$(BUILD)/tests/fake/librocm_smi64.so: tests/stand_ins/fake/rocmsmi.c tests/stand_ins/fake/amd.h tests/stand_ins/fake/fake_amd.h
$(BUILD)/tests/fake/short_memory.so: tests/stand_ins/fake/short_memory.c
$(BUILD)/tests/fake/libdnnl.so: tests/stand_ins/fake/dnnl.c
$(BUILD)/tests/fake/libnvidia-ml-old.so $(BUILD)/tests/fake/libamd_smi-old.so: FAKE := -DWITHOUT_ENERGY
$(BUILD)/tests/fake/libamd_smi-counts.so: FAKE := -DCOUNTS_CALLER
$(BUILD)/tests/fake/libnvidia-ml-useless.so: FAKE := -DWITHOUT_LOOKUP

$(FAKE_LIBRARIES):
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(FAKE_WARNINGS) $(FAKE) -I. -shared -fPIC -o $@ $(filter %.c,$^)

$(TESTS): | $(FAKE_LIBRARIES)
