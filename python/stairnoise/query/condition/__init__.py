"""A user's condition on one row, judged and built anew.

| file | subject |
|---|---|
| `words` | the words, signs, numbers and texts of which a condition can consist |
| `judge` | SQLGlot finds out what belongs together; what is not on a list of ours is refused, and types must fit |
| `tree` | the judged condition, which each dialect writes as SQL |

No engine sees the user's text, nor SQL that SQLGlot wrote: that could be read in several ways.
"""
