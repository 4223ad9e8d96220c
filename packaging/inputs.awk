/^\[/ {
  known = /^\[(workload|common|option )/
  option = /^\[option / ? substr($2, 1, index($2, "]") - 1) "." : ""
  next
}
known && match($0, /^[a-z][a-z_0-9]* *=/) {
  key = $1
  sub(/=.*/, "", key)
  print key "="
  if (option != "")
    print option key "="
}
