"""The speed targets at which every curve is read. How a curve is read is in ladder.sql."""

TARGETS_TOK_S_USER: tuple[int, ...] = (30, 50, 75, 100, 150, 200)
"""Minimum speeds in tok/s/user, from the slowest to the fastest: one ladder row each."""

PRIMARY_TARGET_TOK_S_USER = 50
"""The target of the headline and of the overview, in tok/s/user."""
