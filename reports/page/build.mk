# The parts of the what-if page, embedded in the program. npm fetches its charts if possible, once
# for all variants; without them `pertoken page` refuses. If charts.js is empty, the next make tries
# again.
PAGE_BUILD  := build/page
PAGE_CHARTS := $(PAGE_BUILD)/charts.js
PAGE_PARTS  := $(wildcard reports/page/*.html reports/page/*.css reports/page/*.js)

OBJECTS += $(BUILD)/obj/reports/page/assets.o

$(BUILD)/obj/reports/page/assets.o: reports/page/assets.S $(PAGE_PARTS) $(PAGE_CHARTS) Makefile
	@mkdir -p $(@D)
	@echo "  assemble $<"
	$(Q)$(CC) -c -o $@ $<

.PHONY: page-again
$(PAGE_CHARTS): reports/page/package.json reports/page/package-lock.json reports/page/vendor \
                $(if $(shell test -s $(PAGE_CHARTS) || echo none),page-again)
	$(Q)reports/page/vendor $(PAGE_BUILD)
	$(Q)test ! -s $@ || touch $@
