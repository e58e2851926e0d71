"""A user's condition on one row, judged and built anew.

| file | subject |
|---|---|
| `words` | the words, signs, numbers and texts of which a condition can consist |
| `judge` | SQLGlot finds out what belongs together; what is not on a list of ours is refused, and types must fit |
| `tree` | the judged condition, which each dialect writes as SQL |

No engine sees the user's text, nor SQL that SQLGlot wrote: that could be read in several ways.
"""

from stairnoise.query.condition.judge import judged as judged
from stairnoise.query.condition.tree import Call as Call
from stairnoise.query.condition.tree import Condition as Condition
from stairnoise.query.condition.tree import Literal as Literal
from stairnoise.query.condition.tree import Name as Name
from stairnoise.query.condition.tree import Node as Node
from stairnoise.query.condition.tree import quoted as quoted
from stairnoise.query.condition.tree import refused as refused
from stairnoise.query.condition.words import FUNCTIONS as FUNCTIONS
from stairnoise.query.condition.words import PARTS as PARTS
from stairnoise.query.condition.words import TEXTUAL as TEXTUAL
