# Completion for fish, from the output of options.awk.
function quoted(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/'/, "\\'", text)
  return text
}
function values(option, argument) {
  if (option == "--model")
    return argument == "ID" ? "__pertoken_ids models" : ""
  if (option == "--for")
    return argument == "INPUT" ? "__pertoken_inputs | tr -d =" : ""
  return known[option]
}
function when(command, word) {
  return split(command, word, " ") == 1 ? "__fish_seen_subcommand_from " command : \
    "__fish_seen_subcommand_from probe; and __fish_seen_subcommand_from " word[2]
}
BEGIN {
  known["--accelerator"] = "__pertoken_ids accelerators"
  known["--case"] = "__pertoken_names case"
  known["--option"] = known["--match"] = "__pertoken_names option"
  known["--set"] = "__pertoken_inputs"
  known["--format"] = "printf %s\\\\n table csv json"
  known["--method"] = "printf %s\\\\n sobol random"
  known["--where"] = "__pertoken_columns"
  known["--template"] = "printf %s\\\\n two-vendors rent-or-own own-or-api stages rfp"
  print "# Completion of pertoken for fish, made from its --help by packaging/from_help."
  print "function __pertoken_ids"
  print "  type -q pertoken; or return"
  print "  pertoken catalog $argv[1] -q --format csv 2>/dev/null | sed -n '2,$s/^\"\\([^\"]*\\)\".*/\\1/p'"
  print "end"
  print "# The columns of the table on the line, as COLUMN=."
  print "function __pertoken_columns"
  print "  type -q pertoken; or return"
  print "  set -l words (commandline -opc)"
  print "  set -l table $words[3]"
  print "  test \"$table\" = add; and set table $words[4]"
  print "  pertoken catalog $table -q --format csv 2>/dev/null | sed 's/\"grade\"$//; s/\"\\([^\"]*\\)\",*/\\1=\\n/g; q'"
  print "end"
  print "function __pertoken_rows"
  print "  set -l words (commandline -opc)"
  print "  if test (count $words) -eq 2"
  print "    __pertoken_ids; and echo add"
  print "  else if test \"$words[3]\" = add; and test (count $words) -eq 3"
  print "    __pertoken_ids"
  print "  else if test \"$words[3]\" = add"
  print "    __pertoken_columns"
  print "  end"
  print "end"
  print "function __pertoken_scenarios"
  print "  for word in (commandline -opc | string replace -r '^~/' \"$HOME/\")"
  print "    string match -q '*.ini' -- $word; and test -r $word; and echo $word"
  print "  end"
  print "end"
  print "# Names of sections of a kind in the scenarios on the line."
  print "function __pertoken_names"
  print "  for file in (__pertoken_scenarios)"
  print "    sed -n \"s/^\\[$argv[1] \\(.*\\)\\].*/\\1/p\" $file"
  print "  end"
  print "end"
  print "# What explain can be asked for, as OPTION.ITEM."
  print "function __pertoken_items"
  print "  type -q pertoken; or return"
  print "  for file in (__pertoken_scenarios)"
  print "    pertoken compare $file -q --format csv 2>/dev/null | sed -n '" ENVIRON["ITEMS"] "'"
  print "  end"
  print "end"
  print "# The inputs that they set, as KEY= and OPTION.KEY=."
  print "function __pertoken_inputs"
  print "  for file in (__pertoken_scenarios)"
  print "    awk '" ENVIRON["INPUTS"] "' $file"
  print "  end"
  print "end"
  print "complete -c pertoken -n '__fish_seen_subcommand_from new' -f -a '(__pertoken_ids accelerators)'"
  print "complete -c pertoken -n '__fish_seen_subcommand_from catalog' -f -a '(__pertoken_rows)'"
  print "complete -c pertoken -n '__fish_seen_subcommand_from explain; and count (__pertoken_scenarios) >/dev/null' -f -a '(__pertoken_items)'"
  print "complete -c pertoken -n __fish_use_subcommand -f -a probe -d 'Measure how fast this machine decodes'"
}
$2 == "" && $1 !~ / / {
  print "complete -c pertoken -n __fish_use_subcommand -f -a " $1 " -d '" quoted($4) "'"
  next
}
$2 == "" {
  split($1, word, " ")
  print "complete -c pertoken -n '__fish_seen_subcommand_from probe' -f -a " word[2] " -d '" quoted($4) "'"
  print "complete -c pertoken-probe -n __fish_use_subcommand -f -a " word[2] " -d '" quoted($4) "'"
  next
}
{
  tail = " -l " substr($2, 3) ($3 == "" ? "" : (found = values($2, $3)) == "" ? " -r" : " -x -a '(" found ")'") " -d '" quoted($4) "'"
  print "complete -c pertoken -n '" when($1) "'" tail
  if (split($1, word, " ") == 2)
    print "complete -c pertoken-probe -n '__fish_seen_subcommand_from " word[2] "'" tail
}
