"""Seeds and short hashes: the same on every machine."""

from __future__ import annotations

import pytest

from callm_voice.core.ids import derive_seed, short_hash

pytestmark = pytest.mark.unit


def test_a_seed_is_a_known_number_for_known_parts() -> None:
    assert derive_seed("healthcare/C5-H1", 3) == 3101547754421532916


def test_a_seed_depends_on_order_and_on_where_the_parts_end() -> None:
    assert len({derive_seed("ab", "c"), derive_seed("a", "bc"), derive_seed("c", "ab"), derive_seed("abc")}) == 4


def test_a_seed_has_63_bits() -> None:
    assert all(0 <= derive_seed(n) < 2**63 for n in range(200))
    assert max(derive_seed(n) for n in range(200)) > 2**60


def test_a_short_hash_is_the_start_of_the_sha_256() -> None:
    """FIPS 180-4 gives e3b0c44298fc... for no data."""
    assert short_hash(b"") == "e3b0c44298fc"
    assert short_hash(b"", 4) == "e3b0"
