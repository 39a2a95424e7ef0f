-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- tables.lua - a filter for pandoc: gives the columns of a manual page's tables the widths that they need on a terminal of 80 columns.
--
-- man has 71 characters for a table there, of which one is spare for rounding, the 3 between two columns among them; pandoc divides 70 and forgets those between. A column
-- gets the width of its longest word, since words are not broken, and a share of the rest by the length of its longest cell.
local TEXT, BETWEEN, PANDOC = 70, 3, 70

local function each_cell(tbl, visit)
  local function rows(list)
    for _, row in ipairs(list) do
      for k, cell in ipairs(row.cells or row[2]) do
        visit(k, pandoc.utils.stringify(cell.contents or cell[5]))
      end
    end
  end
  rows(tbl.head.rows or tbl.head[2])
  for _, body in ipairs(tbl.bodies) do
    rows(body.body)
  end
end

function Table(tbl)
  local word, cell, words, wanted = {}, {}, 0, 0
  for k = 1, #tbl.colspecs do
    word[k], cell[k] = 1, 1
  end
  each_cell(tbl, function(k, text)
    cell[k] = math.max(cell[k], utf8.len(text))
    for one in text:gmatch("%S+") do
      word[k] = math.max(word[k], utf8.len(one))
    end
  end)
  for k = 1, #tbl.colspecs do
    words, wanted = words + word[k], wanted + cell[k] - word[k]
  end
  local rest = TEXT - BETWEEN * (#tbl.colspecs - 1) - words
  for k, column in ipairs(tbl.colspecs) do
    local width = cell[k]
    if rest < wanted then
      width = word[k] + math.floor(rest * (cell[k] - word[k]) / wanted)
    end
    -- Rounded up: what is a little too narrow breaks a word.
    column[2] = (width + 0.05) / PANDOC
    tbl.colspecs[k] = column
  end
  return tbl
end
