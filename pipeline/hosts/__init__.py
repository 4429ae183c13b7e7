"""How a sweep is started on a host that is not this one: command lines, job files, and what it says back.

Belongs here: words that are written for the other side, and reading its answers. Not here: which hosts there are
(pipeline/registry/hosts.toml), and running anything (resources).
"""
