"""What a column and a table are. The tables themselves are the sibling modules."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """One column: its Arrow type, its unit ("" for none) and what one value means."""

    name: str
    type: pa.DataType
    unit: str
    description: str
    nullable: bool = True


@dataclass(frozen=True)
class Table:
    """A named table. ``grain`` says what one row is; ``order`` is the sort order of every stored file.

    ``added_later`` are nullable columns that older stored files do not have: there they read as null.
    """

    name: str
    grain: str
    columns: tuple[Column, ...]
    order: tuple[str, ...]
    added_later: tuple[str, ...] = ()

    @functools.cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema; unit and description travel as field metadata."""
        fields = [
            pa.field(c.name, c.type, c.nullable, {"unit": c.unit, "description": c.description}) for c in self.columns
        ]
        return pa.schema(fields)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in stored order."""
        return tuple(c.name for c in self.columns)

    @functools.cached_property
    def _no_rows(self) -> pa.Table:
        return self.schema.empty_table()

    @functools.cached_property
    def _never_null(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if not column.nullable)

    def empty(self) -> pa.Table:
        """A table of this schema with no rows."""
        return self._no_rows

    def from_rows(self, rows: list[dict[str, object]]) -> pa.Table:
        """Rows as dicts to a sorted table. A missing key is null; an unknown key is a KeyError.

        Raises pyarrow.ArrowInvalid where a value does not fit its column.
        """
        known = set(self.names)
        for row in rows:
            unknown = set(row) - known
            if unknown:
                raise KeyError(f"{self.name} has no column {sorted(unknown)}")
        return self.sorted(pa.Table.from_pylist(rows, schema=self.schema))

    def cast(self, table: pa.Table) -> pa.Table:
        """Bring a DuckDB result to this schema, by column name. Raises KeyError for a missing column."""
        if table.schema.equals(self.schema):
            return pa.Table.from_arrays(table.columns, schema=self.schema)
        table = self.filled(table)
        columns = [table.column(c.name).cast(c.type) for c in self.columns]
        return pa.Table.from_arrays(columns, schema=self.schema)

    def filled(self, table: pa.Table) -> pa.Table:
        """The table with those of ``added_later`` that it lacks, as nulls."""
        missing = [self.schema.field(name) for name in self.added_later if name not in table.schema.names]
        for field in missing:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
        return (
            table.select([*self.names, *(n for n in table.schema.names if n not in self.names)]) if missing else table
        )

    def sorted(self, table: pa.Table) -> pa.Table:
        """The same rows in the table's stored order, nulls last; ties keep their order."""
        return table.sort_by([(name, "ascending") for name in self.order]).combine_chunks()

    def violations(self, table: pa.Table) -> list[str]:
        """Differences between a stored table and this schema: one sentence each, empty if none."""
        found = []
        types = dict(zip(table.schema.names, table.schema.types, strict=True))
        for column in self._never_null if table.schema.equals(self.schema) else self.columns:
            if column.name not in types and column.name in self.added_later:
                continue
            if column.name not in types:
                found.append(f"{self.name}.{column.name} is missing")
            elif types[column.name] != column.type:
                found.append(f"{self.name}.{column.name}: expected {column.type}, found {types[column.name]}")
            elif not column.nullable and table.column(column.name).null_count:
                found.append(f"{self.name}.{column.name} has {table.column(column.name).null_count} nulls")
        found += [f"{self.name} has an unknown column {name}" for name in types if name not in self.names]
        return found


def text(name: str, description: str, *, nullable: bool = True) -> Column:
    """A text column."""
    return Column(name, pa.string(), "", description, nullable)


def number(name: str, unit: str, description: str, *, nullable: bool = True) -> Column:
    """A float64 column."""
    return Column(name, pa.float64(), unit, description, nullable)


def count(name: str, description: str, *, unit: str = "count", nullable: bool = True) -> Column:
    """An int64 column."""
    return Column(name, pa.int64(), unit, description, nullable)


def flag(name: str, description: str, *, nullable: bool = True) -> Column:
    """A boolean column."""
    return Column(name, pa.bool_(), "", description, nullable)


def day(name: str, description: str, *, nullable: bool = True) -> Column:
    """A date column."""
    return Column(name, pa.date32(), "", description, nullable)


def instant(name: str, description: str, *, nullable: bool = True) -> Column:
    """A UTC timestamp column (microseconds)."""
    return Column(name, pa.timestamp("us", tz="UTC"), "", description, nullable)


def texts(name: str, description: str) -> Column:
    """A list-of-text column, never null."""
    return Column(name, pa.list_(pa.string()), "", description, False)
