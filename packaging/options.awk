# A command's --help as lines for the completions: command, option, argument ("" for none),
# description; preceded by a line without option: the command's summary.
function end_option() {
  if (option != "")
    print command "\t" option "\t" argument "\t" words
  option = ""
}
BEGIN { OFS = "\t" }
# The usage may continue on indented lines.
NR > 1 && !said && /^[^ ]/ {
  sub(/\.$/, "")
  print command, "", "", $0
  said = 1
}
/^ +-/ {
  end_option()
  if (!match($0, /--[a-z][a-z-]*/))
    next
  option = substr($0, RSTART, RLENGTH)
  rest = substr($0, RSTART + RLENGTH)
  argument = ""
  if (match(rest, /^\[?=('[^']*'|[^ ]+)/)) {
    argument = substr(rest, 1, RLENGTH)
    gsub(/[=\[\]']/, "", argument)
    rest = substr(rest, RLENGTH + 1)
  }
  sub(/^ +/, "", rest)
  words = rest
  next
}
option != "" && /^                    / {
  sub(/^ +/, "")
  words = words (words == "" ? "" : " ") $0
  next
}
{ end_option() }
END { end_option() }
