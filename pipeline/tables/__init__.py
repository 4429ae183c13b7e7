"""The single source of column truth: name, type, unit, description. One module a table."""
