"""Everything outside: one module an outside thing, domain types in and out."""
