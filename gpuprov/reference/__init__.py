"""The reference, generated from the types and tables: JSON schema, the spec's fields, facets and codes.

Owns: the text of the pages under pages/.
Takes: the types of spec/ and the tables of model/.
Gives: pages, and whether the committed ones are fresh.
Must not: say anything that is not written on a type or in a table.
"""
