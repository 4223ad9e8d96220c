# Completion for zsh, from the output of options.awk.
function quoted(text) {
  gsub(/'/, "'\\''", text)
  gsub(/[\[\]:]/, "\\\\&", text)
  return text
}
function values(option, argument) {
  if (option == "--model" && argument == "ID")
    return "_pertoken_models"
  if (option == "--for" && argument == "INPUT")
    return "_pertoken_targets"
  return option in known ? known[option] : argument ~ /FILE|DIR/ ? "_files" : ""
}
BEGIN {
  named["new"] = "accelerator:_pertoken_accelerators"
  named["catalog"] = "table:_pertoken_rows"
  named["explain"] = "item:_pertoken_items"
  known["--accelerator"] = "_pertoken_accelerators"
  known["--case"] = "_pertoken_cases"
  known["--option"] = known["--match"] = "_pertoken_options"
  known["--set"] = "_pertoken_inputs"
  known["--format"] = "(table csv json)"
  known["--method"] = "(sobol random)"
  known["--where"] = "_pertoken_columns"
  known["--template"] = "(two-vendors rent-or-own own-or-api stages rfp)"
}
$2 == "" {
  order[++count] = $1
  summary[$1] = $4
  next
}
{
  what = $3 == "" ? "" : ":" tolower($3) ":" values($2, $3)
  options[$1] = options[$1] " \\\n      '" $2 ($3 == "" ? "" : "=") "[" quoted($4) "]" what "'"
}
END {
  print "#compdef pertoken pertoken-probe"
  print "# Made from --help by packaging/from_help.\n"
  print "_pertoken_ids() {"
  print "  compadd -- ${(f)\"$(pertoken catalog $1 -q --format csv 2>/dev/null | sed -n '2,$s/^\"\\([^\"]*\\)\".*/\\1/p')\"}"
  print "}"
  print "_pertoken_models() { _pertoken_ids models }"
  print "_pertoken_accelerators() { _pertoken_ids accelerators }"
  print "_pertoken_tables() { _pertoken_ids; compadd -- add }"
  print "# The columns of the table on the line, as COLUMN=."
  print "_pertoken_columns() {"
  print "  local table=$words[3]"
  print "  [[ $table == add ]] && table=$words[4]"
  print "  compadd -S '' -- ${=\"$(pertoken catalog $table -q --format csv 2>/dev/null | sed 's/\"grade\"$//; s/\"\\([^\"]*\\)\",*/\\1= /g; q')\"}"
  print "}"
  print "_pertoken_rows() {"
  print "  if [[ $words[3] == add ]] && (( CURRENT > 4 )); then _pertoken_columns"
  print "  elif [[ $words[3] == add ]]; then _pertoken_ids"
  print "  elif (( CURRENT == 3 )); then _pertoken_tables"
  print "  fi"
  print "}\n"
  print "# The scenarios on the line."
  print "_pertoken_scenarios() {"
  print "  local word"
  print "  for word in $words; do"
  print "    [[ $word == '~/'* ]] && word=$HOME/${word#'~/'}"
  print "    [[ $word == *.ini && -r $word ]] && print -r -- $word"
  print "  done"
  print "}"
  print "# Names of sections of a kind in them."
  print "_pertoken_names() {"
  print "  local file"
  print "  for file in ${(f)\"$(_pertoken_scenarios)\"}; do"
  print "    compadd -- ${(f)\"$(sed -n \"s/^\\[$1 \\(.*\\)\\].*/\\1/p\" $file)\"}"
  print "  done"
  print "}"
  print "# What explain can be asked for, as OPTION.ITEM, once a scenario is there."
  print "_pertoken_items() {"
  print "  local file"
  print "  if [[ -z $(_pertoken_scenarios) ]]; then _files; return; fi"
  print "  for file in ${(f)\"$(_pertoken_scenarios)\"}; do"
  print "    compadd -- ${(f)\"$(pertoken compare $file -q --format csv 2>/dev/null | sed -n '" ENVIRON["ITEMS"] "')\"}"
  print "  done"
  print "}"
  print "_pertoken_cases() { _pertoken_names case }"
  print "_pertoken_options() { _pertoken_names option }\n"
  print "# The inputs that they set, as KEY= and OPTION.KEY=."
  print "_pertoken_inputs() {"
  print "  local file"
  print "  for file in ${(f)\"$(_pertoken_scenarios)\"}; do"
  print "    compadd -S '' -- ${(f)\"$(awk '" ENVIRON["INPUTS"] "' $file)\"}"
  print "  done"
  print "}"
  print "_pertoken_targets() {"
  print "  local file"
  print "  for file in ${(f)\"$(_pertoken_scenarios)\"}; do"
  print "    compadd -- ${(f)\"$(awk '" ENVIRON["INPUTS"] "' $file | tr -d =)\"}"
  print "  done"
  print "}\n"
  print "local -a commands probes"
  print "commands=("
  for (i = 1; i <= count; i++)
    if (order[i] !~ / /)
      print "  '" order[i] ":" quoted(summary[order[i]]) "'"
  print "  'probe:Measure how fast this machine decodes')"
  print "probes=("
  for (i = 1; i <= count; i++)
    if (order[i] ~ / /)
      print "  '" substr(order[i], 7) ":" quoted(summary[order[i]]) "'"
  print ")"
  print "local command=$words[2]"
  print "if [[ $service == pertoken-probe ]]; then"
  print "  if (( CURRENT == 2 )); then _describe command probes; return; fi"
  print "  command=\"probe $command\""
  print "elif (( CURRENT == 2 )); then"
  print "  _describe command commands; return"
  print "elif [[ $command == probe ]]; then"
  print "  if (( CURRENT == 3 )); then _describe command probes; return; fi"
  print "  command=\"probe $words[3]\""
  print "fi"
  print "case $command in"
  for (i = 1; i <= count; i++)
    print "  '" order[i] "')\n    _arguments" options[order[i]] " \\\n      '*:" (order[i] in named ? named[order[i]] : "file:_files") "' ;;"
  print "esac"
}
