"""The rules that a generated workbook follows: [(number, function)].

Each yields its violations: 'Sheet!A1: reason'. Its docstring is its name in the check's report and in docs/workbook.md.
"""
import rules_of_figures
import rules_of_formulas
import rules_of_inputs
import rules_of_sheets

RULES = sorted((int(name[5:]), rule) for room in (rules_of_figures, rules_of_formulas, rules_of_inputs, rules_of_sheets)
               for name, rule in vars(room).items() if name.startswith('rule_'))
