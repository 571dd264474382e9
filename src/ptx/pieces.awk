# SPDX-License-Identifier: MIT
# recorder.ptx as a table of C: its pieces, without what is for people.
BEGIN { print "static const struct piece pieces[] = {" }
/^\/\/ piece / {
	printf "%s\t{\"%s\",\n\t \"\"", n++ ? "},\n" : "", $3
	next
}
/^[ \t]*\/\// || /^$/ { next }
n {
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	printf "\n\t \"%s\\n\"", $0
}
END { print "},\n};" }
