# Plugins for tests/probe/test_device.c, in a folder of their own, as the probe expects them.
TEST_PLUGINS := $(patsubst %,$(BUILD)/tests/plugins/%.so,absent empty old present twice)

$(BUILD)/tests/plugins/absent.so:  PLUGIN := -DNAME='"absent"' -DABI=DECODE_ABI -DDEVICES=0
$(BUILD)/tests/plugins/empty.so:   PLUGIN := -Dpertoken_backend=nothing -DNAME='"empty"' -DABI=DECODE_ABI -DDEVICES=1
$(BUILD)/tests/plugins/old.so:     PLUGIN := -DNAME='"old"' -DABI=0 -DDEVICES=1
$(BUILD)/tests/plugins/present.so: PLUGIN := -DNAME='"present"' -DABI=DECODE_ABI -DDEVICES=3
$(BUILD)/tests/plugins/twice.so:   PLUGIN := -DNAME='"cpu"' -DABI=DECODE_ABI -DDEVICES=1

$(TEST_PLUGINS): tests/stand_ins/plugins/plugin.c kernels/decode.h tests/stand_ins/plugins/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< ($(@F))"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) $(SANITIZE) -I. -shared -fPIC $(PLUGIN) -o $@ $<
	$(Q)echo 'no library' > $(@D)/text.so

$(BUILD)/tests/test_device: | $(TEST_PLUGINS)

# A GPU with a meter, in a folder of its own: tests/checks/check_watts.py starts the probe with it.
METERED := $(BUILD)/tests/metered/metered.so

$(METERED): tests/stand_ins/plugins/metered.c tests/support/kernels/oracle.c $(wildcard kernels/*.[ch] kernels/reference/*.[ch]) tests/stand_ins/fake/fake_nvml.h \
  tests/stand_ins/plugins/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< ($(@F))"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) $(SANITIZE) -I. -shared -fPIC -Wl,-z,defs -o $@ $(filter %.c,$^) -lm -ldl -lpthread

$(BUILD)/tests/test_device: | $(METERED)

# For tests/checks/kernels/check_ladder.py, in a folder of its own.
$(BUILD)/tests/ladder/wrong_variant.so: tests/stand_ins/plugins/wrong_variant.c kernels/decode.h tests/stand_ins/plugins/build.mk
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) $(SANITIZE) -I. -shared -fPIC -o $@ $<

ifeq ($(VARIANT),)
tests: $(BUILD)/bench/gpu_kernels $(BUILD)/tests/ladder/wrong_variant.so
endif
