"""From a database to a table that may be published.

| file | subject |
|---|---|
| `question` | what is asked |
| `answers` | true answers |
| `sources` | databases and files, and the one SQL statement that each is asked |
"""
