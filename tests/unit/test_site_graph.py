"""The drawing of a desk: everything in the picture, the path on it, what was not expected marked."""

from __future__ import annotations

import itertools
import re

import pytest

from callm_voice.report.site.graph import HEIGHT, NODE_HEIGHT, WIDTH, Drawing, Node, draw

pytestmark = pytest.mark.unit
ROLES = ["router", "identity", "billing", "scheduling", "records", "returns_and_repairs", "front_office", "clinical"]
EDGES = [(a, b) for a, b in itertools.permutations(ROLES, 2) if a != "router" or b == "identity"]


def taken(drawing: Drawing) -> dict[tuple[str, str], tuple[tuple[int, ...], bool]]:
    return {(arc.source, arc.target): (arc.steps, arc.wrong) for arc in drawing.arcs if arc.steps}


def inside(node: Node, x: float, y: float) -> bool:
    return abs(x - node.x) < node.width / 2 and abs(y - node.y) < NODE_HEIGHT / 2


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_every_role_stands_in_the_picture_and_none_on_another(count: int) -> None:
    drawing = draw(ROLES[:count], [], "router")
    for node in drawing.nodes:
        assert node.width / 2 <= node.x <= WIDTH - node.width / 2
        assert NODE_HEIGHT / 2 <= node.y <= HEIGHT - NODE_HEIGHT / 2
    for a, b in itertools.combinations(drawing.nodes, 2):
        assert abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= NODE_HEIGHT


def test_no_number_of_a_step_is_hidden_by_a_role() -> None:
    for a, b in EDGES:
        path = [b] if a == "router" else ["identity", b] if a == "identity" else ["identity", a, b]
        drawing = draw(ROLES, EDGES, "router", path)
        numbered = [arc for arc in drawing.arcs if arc.steps]
        assert not [n.name for arc in numbered for n in drawing.nodes if inside(n, arc.label_x, arc.label_y)]


def test_the_two_directions_between_two_roles_are_two_curves() -> None:
    drawing = draw(ROLES, EDGES, "router")
    middles = {(arc.source, arc.target): (arc.label_x, arc.label_y) for arc in drawing.arcs}
    for (a, b), middle in middles.items():
        if (b, a) in middles:
            other = middles[b, a]
            assert abs(middle[0] - other[0]) + abs(middle[1] - other[1]) > 8


def test_a_path_as_expected_has_its_numbers_and_nothing_wrong() -> None:
    path = ["identity", "billing", "identity", "billing"]
    drawing = draw(ROLES, EDGES, "router", path, path)
    assert taken(drawing) == {
        ("router", "identity"): ((1,), False),
        ("identity", "billing"): ((2, 4), False),
        ("billing", "identity"): ((3,), False),
    }
    assert {node.name for node in drawing.nodes if node.visited} == {"router", "identity", "billing"}


def test_steps_after_the_first_wrong_one_are_wrong() -> None:
    drawing = draw(ROLES, EDGES, "router", ["identity", "scheduling", "billing"], ["identity", "billing"])
    assert {edge for edge, (_, wrong) in taken(drawing).items() if wrong} == {
        ("identity", "scheduling"),
        ("scheduling", "billing"),
    }


def test_a_transfer_that_the_desk_does_not_have_is_drawn_all_the_same() -> None:
    drawing = draw(["router", "identity"], [("router", "identity")], "router", ["billing"], ["identity"])
    arc = next(arc for arc in drawing.arcs if arc.steps)
    assert (arc.source, arc.target, arc.allowed, arc.wrong) == ("router", "billing", False, True)
    assert re.fullmatch(r"M[\d. -]+Q[\d. -]+", arc.path)
