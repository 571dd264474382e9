# strip.awk: C text without comments, strings and characters; lines keep their numbers.
# Prints "FILE:LINE:text".
FNR == 1 { in_comment = 0 }
{
	line = $0
	out = ""
	while (line != "") {
		if (in_comment) {
			i = index(line, "*/")
			if (!i)
				break
			line = substr(line, i + 2)
			in_comment = 0
		} else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/)) {
			token = substr(line, RSTART, 2)
			out = out substr(line, 1, RSTART - 1)
			if (token == "//")
				line = ""
			else if (token == "/*") {
				in_comment = 1
				line = substr(line, RSTART + 2)
			} else {
				out = out "\"\""
				line = substr(line, RSTART + RLENGTH)
			}
		} else {
			out = out line
			line = ""
		}
	}
	print FILENAME ":" FNR ":" out
}
