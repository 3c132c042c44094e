"""Amounts of money: whole cents, because floats lose some."""

from __future__ import annotations

import re

_WRITTEN = re.compile(r"(-?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?", re.ASCII)


def parse_amount(text: str) -> int:
    """Cents from "12", "12.5", "1,234.50" or "-3.20"."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an amount of money")
    sign, whole, part = match.groups()
    cents = int(whole.replace(",", "")) * 100 + int((part or "0").ljust(2, "0"))
    return -cents if sign else cents


def format_amount(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"
