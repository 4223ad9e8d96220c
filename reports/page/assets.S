// The parts of the what-if page as texts: assets.h has the contract.
  .macro part name, files:vararg
  .globl \name
\name:
  .irp file, \files
  .incbin "\file"
  .endr
  .byte 0
  .endm

  .section .rodata
  part page_shell, reports/page/page.html
  part page_style, reports/page/page.css
  part page_engine, reports/page/arithmetic.js, reports/page/draws.js, reports/page/sketch.js, \
    reports/page/simulation.js
  part page_script, reports/page/model.js, reports/page/ranking.js, reports/page/number.js, \
    reports/page/state.js, reports/page/export.js, reports/page/charts.js, \
    reports/page/controls.js, reports/page/uncertainty.js, reports/page/cards.js, \
    reports/page/page.js
  part page_charts, build/page/charts.js
  part page_licences, build/page/licences.txt
  .section .note.GNU-stack, "", @progbits
