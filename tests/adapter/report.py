# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Write the report of a run, as text and as HTML, and pack it with its logs into one file to send.

Both are made of one list of sections, so that they say the same. A section is a title and blocks: ("text", TEXT),
("facts", DICT), ("lines", TEXT) or ("table", HEADS, ROWS).
"""
import html
import os
import tarfile

STYLE = """body { font: 15px/1.45 sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse } td, th { padding: .15em .8em .15em 0; text-align: left; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums } h2 { border-top: 1px solid #ccc; padding-top: .6em }
pre { background: #f4f4f4; padding: .6em; overflow-x: auto; font-size: 13px }"""

CONTENTS = """One file: %s
Send it to where you have rdmakit from, for instance attached to an issue. It contains
  report.html, report.txt   what you read here
  results.json              the same for programs
  logs/                     what each program printed, on standard output and standard error
In them are: adapter, board and GUIDs (they name this adapter), PCI address, names and addresses of its network interfaces, its GIDs
(they contain MAC and IP addresses), kernel, distribution, kind of processor, paths of this checkout, the kernel's log lines about RDMA.
Not in them: the host's name, users, other programs, other network interfaces, keys, data. Look through it: all of it is text."""


def number(value):
    """Return a number of a table, or nothing."""
    if value is None:
        return ""
    return "%.0f" % value if value >= 1000 else "%.1f" % value if value >= 10 else "%.2f" % value


def ratio(ours, other):
    """Return ours by theirs."""
    return "%.2f" % (ours / other) if ours is not None and other else ""


def count(results, status):
    """Return how many results have that status."""
    return sum(1 for result in results if result["status"] == status)


def closing_line(results):
    """Return the counts of a run."""
    return "%d passed, %d failed, %d differ, %d skipped" % tuple(
        count(results, status) for status in ("passed", "failed", "differs", "skipped"))


def results_section(title, results, status):
    """Return the section of results that have that status, with their lines."""
    blocks = []
    for result in results:
        if result["status"] == status:
            blocks.append(("text", "%s: %s" % (result["name"], result["reason"])))
            if result["lines"]:
                blocks.append(("lines", "\n".join(result["lines"])))
    return title, blocks or [("text", "none")]


def measures_sections(measures):
    """Return a section for each table of numbers."""
    sections = []
    for measure in measures:
        rows = [(name, number(ours), number(theirs), ratio(ours, theirs)) for name, ours, theirs in measure["rows"]]
        block = ("table", ("", "ours", "distribution's", "ours / theirs"), rows) if rows else ("text", "skipped: " + measure["reason"])
        sections.append((measure["title"], [block]))
    return sections


def named(results, status):
    """Return (name, reason) of results that have that status."""
    return [(result["name"], result["reason"]) for result in results if result["status"] == status]


def sections_of(data):
    """Return the sections of a report."""
    results = data["results"]
    sections = [("Result", [("text", closing_line(results)), ("facts", data["run"])])]
    sections += [("Adapter " + facts["name"], [("facts", facts)]) for facts in data["adapters"]]
    sections += [("Machine", [("facts", data["machine"])]),
                 ("Libraries", [("facts", data["libraries"])]),
                 results_section("Failed", results, "failed"),
                 results_section("Differences from the distribution's libraries", results, "differs")]
    sections += measures_sections(data["measures"])
    sections += [("Skipped", [("table", ("trial", "reason"), named(results, "skipped"))]),
                 ("Not for an adapter of yours", [("table", ("test", "reason"), [tuple(row) for row in data["never"]])]),
                 ("Passed", [("table", ("trial", ""), named(results, "passed"))]),
                 ("ibv_doctor", [("lines", data["doctor"])]),
                 ("Kernel's log during the run", [("lines", data["kernel_log"])]),
                 ("What to send", [("lines", CONTENTS % data["archive"])])]
    return sections


# ---- text

def text_facts(facts):
    """Return names and values in two columns."""
    width = max(len(name) for name in facts) + 2
    return "\n".join(name.ljust(width) + ("\n" + " " * width).join(str(value).split("\n")) for name, value in facts.items())


def text_table(heads, rows):
    """Return a table in columns; numbers are on the right of theirs."""
    rows = [tuple(heads)] + [tuple(row) for row in rows]
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(heads))]
    is_numeric = len(heads) > 2
    return "\n".join("  ".join(str(cell).rjust(width) if is_numeric and column else str(cell).ljust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def text_block(block):
    """Return a block as text."""
    if block[0] == "facts":
        return text_facts(block[1])
    if block[0] == "table":
        return text_table(block[1], block[2]) if block[2] else "none"
    return block[1]


def as_text(title, sections):
    """Return the report as text."""
    parts = [title, "=" * len(title)]
    for heading, blocks in sections:
        parts += ["", heading, "-" * len(heading)] + [text_block(block) for block in blocks]
    return "\n".join(parts) + "\n"


# ---- HTML

def html_rows(rows, is_numeric):
    """Return the rows of a table."""
    kind = ' class="number"' if is_numeric else ""
    return "".join("<tr>%s</tr>\n" % "".join("<td%s>%s</td>" % (kind if column else "", html.escape(str(cell)).replace("\n", "<br>"))
                                             for column, cell in enumerate(row)) for row in rows)


def html_block(block):
    """Return a block as HTML."""
    if block[0] == "facts":
        return "<table>\n%s</table>" % html_rows(block[1].items(), False)
    if block[0] == "table":
        heads = "".join("<th>%s</th>" % html.escape(head) for head in block[1])
        return "<table>\n<tr>%s</tr>\n%s</table>" % (heads, html_rows(block[2], len(block[1]) > 2)) if block[2] else "<p>none</p>"
    if block[0] == "lines":
        return "<pre>%s</pre>" % html.escape(block[1])
    return "<p>%s</p>" % html.escape(block[1])


def as_html(title, sections):
    """Return the report as one page."""
    body = "".join("<h2>%s</h2>\n%s\n" % (html.escape(heading), "\n".join(html_block(block) for block in blocks))
                   for heading, blocks in sections)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>%s</title>\n<style>%s</style></head>\n<body><h1>%s</h1>\n%s'
            "</body></html>\n" % (html.escape(title), STYLE, html.escape(title), body))


# ---- files

def anonymous(member):
    """Return a member of an archive without the user's name and number."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def write(data, directory, archive):
    """Write report.txt and report.html into the directory, and pack the directory."""
    title = "rdmakit on " + " and ".join("%s (%s)" % (facts["name"], facts["board id"]) for facts in data["adapters"])
    sections = sections_of(data)
    for name, text in (("report.txt", as_text(title, sections)), ("report.html", as_html(title, sections))):
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(directory, arcname=os.path.basename(directory), filter=anonymous)
