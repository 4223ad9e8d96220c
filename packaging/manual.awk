# The --help of a program or command as a manual page. name: the page's name; version: "pertoken
# 0.1.0"; docs: docs/commands.md, whose tables of exit statuses, variables and files are on the pages.
function quoted(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return text ~ /^[.']/ ? "\\&" text : text
}
function end_option() {
  if (spec != "") {
    print ".TP\n.B " quoted(spec)
    print quoted(words)
  }
  spec = ""
}
function title(text) {
  if (text != last_title)
    print ".SH " text
  last_title = text
}
BEGIN {
  upper = toupper(name)
  print ".\\\" Made from " name " --help by packaging/from_help."
  print ".TH " quoted(upper) " 1 \"\" \"" version "\" \"User Commands\""
}
NR == 1 {
  synopsis = $0
  sub(/^Usage: */, "", synopsis)
  next
}
summary == "" && /^  / {
  sub(/^ +/, " ")
  synopsis = synopsis $0
  next
}
summary == "" {
  summary = $0
  next
}
!started && !/^$/ && !/^  / {
  summary = summary " " $0
  next
}
!started {
  started = 1
  short = summary
  sub(/\.$/, "", short)
  title("NAME")
  print quoted(name) " \\- " quoted(short)
  title("SYNOPSIS")
  print ".B " quoted(synopsis)
  title("DESCRIPTION")
  print quoted(summary)
}
/^ +-/ {
  end_option()
  title("OPTIONS")
  line = $0
  sub(/^ +/, "", line)
  place = match(line, /   *[^ ]/)
  at = match($0, /  +[^ -]/)
  spec = place ? substr(line, 1, place - 1) : line
  words = place ? substr(line, place) : ""
  sub(/^ +/, "", words)
  next
}
spec != "" && /^                    / {
  sub(/^ +/, "")
  words = words (words == "" ? "" : " ") $0
  next
}
/^$/ {
  end_option()
  if (last_title != "EXAMPLE")
    paragraph = 1
  next
}
/^Example:/ {
  title("EXAMPLE")
  sub(/^Example: */, "")
  if ($0 != "")
    print ".nf\n" quoted($0) "\n.fi"
  next
}
/^  [a-z][a-z-]*  / {
  title("COMMANDS")
  line = $0
  sub(/^ +/, "", line)
  word = line
  sub(/ .*/, "", word)
  sub(/^[a-z-]+ +/, "", line)
  print ".TP\n.B " quoted(word)
  print quoted(line)
  next
}
/^  / && last_title == "EXAMPLE" {
  sub(/^ +/, "")
  print ".nf\n" quoted($0) "\n.fi"
  next
}
{
  if (paragraph)
    print ".PP"
  paragraph = 0
  print quoted($0)
}
# The rows of its tables: | `NAME` | words |
function tables(  line, cell, in_table) {
  while ((getline line < docs) > 0) {
    if (line !~ /^\|/)
      in_table = 0
    gsub(/`/, "", line)
    split(line, cell, / *\| */)
    if (in_table && cell[2] !~ /^-+$/)
      print ".TP\n.B " quoted(cell[2]) "\n" quoted(cell[3])
    if (line ~ /^\|/ && cell[2] in titles) {
      title(titles[cell[2]])
      in_table = 1
    }
  }
}
END {
  titles["status"] = "EXIT STATUS"
  if (name !~ /^pertoken(-probe)?-/ || name == "pertoken-probe") {
    titles["variable"] = "ENVIRONMENT"
    titles["file"] = "FILES"
  }
  end_option()
  tables()
  title("SEE ALSO")
  print name == "pertoken" ? ".BR pertoken\\-probe (1)" : ".BR pertoken (1)"
}
