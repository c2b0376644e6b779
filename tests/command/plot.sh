# For .bats files: campaigns to draw, and what is in what was drawn.
# shellcheck shell=bash disable=SC2034 # others use what is set here

PICTURES=(epochs iterations learning speedup phases)

plot_setup() {
	command_setup
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
}

# A campaign in the folder $1 with the label $2, two runs of three targets.
make_campaign() {
	"$BENCH" run cpu-1 cpu-2 null-1 "${TINY[@]}" --epochs 2 --repeat 2 \
		--out "$1" --label "$2" >/dev/null
}

# runs_with FOLDER NAME=EXPRESSION ...: sets cells of its runs. An expression finds
# a run in `row`. Cells about disturbance are set to none first.
runs_with() {
	python3 - "$@" <<-'END'
	import csv, sys
	path = sys.argv[1] + "/runs.csv"
	with open(path, newline="") as file:
	    rows = list(csv.DictReader(file))
	for row in rows:
	    row.update(steal_pct=0, throttled_s=0, foreign_pct=0, loop_s=1,
	               loop_cpu_s=row["cores"], logical_cpus=2, cpus=2)
	    for word in sys.argv[2:]:
	        name, expression = word.split("=", 1)
	        row[name] = eval(expression)
	with open(path, "w", newline="") as file:
	    out = csv.DictWriter(file, rows[0], lineterminator="\n")
	    out.writeheader()
	    out.writerows(rows)
	END
}

# check_made FOLDER: all is well-formed, and nothing is asked of a network.
check_made() {
	python3 - "$1" <<-'END'
	import glob, re, sys, xml.dom.minidom as xml
	folder = sys.argv[1]
	page = open(folder + "/report.html", encoding="utf-8").read()
	report = xml.parseString(page.encode())
	assert not re.search(r"https?:|//[a-z]|<script|\bon[a-z]+=|@import|url\(",
	                     page), "asks for more"
	ids = re.findall(r'\bid=[\'"]([^\'"]*)', page)
	assert len(ids) == len(set(ids)), "an id is there twice"
	for link in re.findall(r"href=['\"]([^'\"]*)", page):
	    assert link[0] == "#" and link[1:] in ids, link
	root = report.documentElement
	assert root.getAttribute("lang") == "en"
	for name in glob.glob(folder + "/*.svg"):
	    xml.parse(name)
	for svg in report.getElementsByTagName("svg"):
	    name = svg.getAttribute("aria-labelledby")
	    assert svg.getAttribute("role") == "img" and name in ids
	for table in report.getElementsByTagName("table"):
	    assert table.getElementsByTagName("caption")
	    for head in table.getElementsByTagName("th"):
	        assert head.getAttribute("scope") in ("row", "col")
	END
}

# text FILE: what a reader sees of it.
text() {
	python3 - "$1" <<-'END'
	import sys, xml.dom.minidom as xml
	def walk(node):
	    if node.nodeType == node.TEXT_NODE:
	        return node.data
	    return "".join(walk(child) for child in node.childNodes)
	sys.stdout.reconfigure(encoding="utf-8")
	print(walk(xml.parse(sys.argv[1]).documentElement))
	END
}
