# A stand-in for an inference server: $(BUILD)/tests/engine (engine.c says what it does).
ENGINE := $(BUILD)/tests/engine
ENGINE_SOURCES := $(wildcard tests/stand_ins/engine/*.c)

$(ENGINE): $(ENGINE_SOURCES) $(wildcard tests/stand_ins/engine/*.h) tests/stand_ins/engine/build.mk
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) -I. -o $@ $(ENGINE_SOURCES) -lz -lm

tests deep-tests sanitized-tests: $(ENGINE)
