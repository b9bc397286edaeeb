"""The desk's architecture as a drawing: roles on an ellipse, transfers as arcs, a path marked on it.

The start role stands on the left; the others follow in the order of how far they are from it. An arc bends to its
left, so that the two directions between two roles stay apart. A marked step is thick, and has its number on it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 400
NODE_HEIGHT = 38
CHAR_WIDTH = 8.2
"""Of the label's type, in the units of the drawing: for the width of a node's box."""
BEND = 0.16
"""How far an arc leaves the straight line, as a share of its length."""
LONG = 230.0
"""An arc of this length may have a role between its ends."""
NUMBER_AT = 0.5


@dataclass(frozen=True)
class Node:
    """A role."""

    name: str
    x: float
    y: float
    width: float
    visited: bool
    start: bool


@dataclass(frozen=True)
class Arc:
    """A transfer: a quadratic curve, and where its number stands."""

    source: str
    target: str
    path: str
    head: str
    """Points of the arrow's head."""
    label_x: float
    label_y: float
    steps: tuple[int, ...]
    """Which steps of the path take it; none: it is only allowed."""
    wrong: bool
    """A step of the path that was not expected here."""
    allowed: bool
    """The desk has this transfer."""


@dataclass(frozen=True)
class Drawing:
    """One graph, in its own units."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]


def draw(
    roles: Sequence[str], edges: Sequence[tuple[str, str]], start: str, path: Sequence[str] = (),
    expected: Sequence[str] | None = None,
) -> Drawing:  # fmt: skip
    """Lay out the desk.

    Args:
        roles: all of them.
        edges: (from, to) of every transfer.
        start: the role that answers the phone.
        path: roles in the order of the transfers, without the start.
        expected: the expected path; steps that leave it are marked wrong.
    """
    names = _ordered([*dict.fromkeys([*roles, start, *path])], edges, start)
    places = _places(names)
    steps: dict[tuple[str, str], list[int]] = {}
    wrong: set[tuple[str, str]] = set()
    here = start
    for number, there in enumerate(path, start=1):
        steps.setdefault((here, there), []).append(number)
        if expected is not None and list(path[:number]) != list(expected[:number]):
            wrong.add((here, there))
        here = there
    allowed = set(edges)
    visited = {start, *path} if path or expected is not None else set()
    nodes = {name: Node(name, *places[name], _width(name), name in visited, name == start) for name in names}
    order = [edge for edge in [*dict.fromkeys(edges), *(s for s in steps if s not in allowed)] if edge[0] != edge[1]]
    arcs = [
        _arc(nodes[a], nodes[b], tuple(steps.get((a, b), ())), wrong=(a, b) in wrong, allowed=(a, b) in allowed)
        for a, b in order
    ]
    # What is marked is drawn last, on top.
    return Drawing(WIDTH, HEIGHT, tuple(nodes.values()), tuple(sorted(arcs, key=lambda arc: bool(arc.steps))))


def _ordered(names: list[str], edges: Sequence[tuple[str, str]], start: str) -> list[str]:
    """Breadth first from the start, so that neighbours on the ellipse tend to be neighbours on the desk."""
    seen, queue = [start], deque([start])
    while queue:
        here = queue.popleft()
        for a, b in edges:
            if a == here and b not in seen and b in names:
                seen.append(b)
                queue.append(b)
    return [*seen, *(name for name in names if name not in seen)]


def _width(name: str) -> float:
    return max(64.0, len(name) * CHAR_WIDTH + 24)


def _places(names: list[str]) -> dict[str, tuple[float, float]]:
    """Even angles from the left, clockwise; few roles get a flatter ellipse."""
    widest = max(map(_width, names))
    radius_x, radius_y = (WIDTH - widest) / 2 - 8, HEIGHT / 2 - NODE_HEIGHT
    turns = [math.pi + 2 * math.pi * n / len(names) for n in range(len(names))]
    return {
        name: (round(WIDTH / 2 + radius_x * math.cos(turn), 1), round(HEIGHT / 2 + radius_y * math.sin(turn), 1))
        for name, turn in zip(names, turns, strict=True)
    }


def _arc(a: Node, b: Node, steps: tuple[int, ...], *, wrong: bool, allowed: bool) -> Arc:
    """From the border of one box to the border of the other."""
    dx, dy = b.x - a.x, b.y - a.y
    length = math.hypot(dx, dy) or 1.0
    bend = _bend(a, b, dx, dy, length)
    control = ((a.x + b.x) / 2 + dy * bend, (a.y + b.y) / 2 - dx * bend)
    x0, y0 = _border(a, control)
    x1, y1 = _border(b, control)
    label_x = (1 - NUMBER_AT) ** 2 * x0 + 2 * NUMBER_AT * (1 - NUMBER_AT) * control[0] + NUMBER_AT**2 * x1
    label_y = (1 - NUMBER_AT) ** 2 * y0 + 2 * NUMBER_AT * (1 - NUMBER_AT) * control[1] + NUMBER_AT**2 * y1
    size = 11.0 if steps else 8.0
    head, base = _head(control, (x1, y1), min(size, length / 3))
    curve = f"M{x0:.1f} {y0:.1f} Q{control[0]:.1f} {control[1]:.1f} {base[0]:.1f} {base[1]:.1f}"
    return Arc(a.name, b.name, curve, head, round(label_x, 1), round(label_y, 1), steps, wrong, allowed)


def _bend(a: Node, b: Node, dx: float, dy: float, length: float) -> float:
    """To the left; but a long arc that would bend outwards, under the box of a role between, bends inwards, and more
    than the one of the other direction."""
    outwards = dy * ((a.x + b.x) / 2 - WIDTH / 2) - dx * ((a.y + b.y) / 2 - HEIGHT / 2) > 1
    return -1.8 * BEND if outwards and length > LONG else BEND


def _border(node: Node, towards: tuple[float, float]) -> tuple[float, float]:
    """Where the way from the middle of the box to a point leaves the box."""
    dx, dy = towards[0] - node.x, towards[1] - node.y
    half_width, half_height = node.width / 2 + 3, NODE_HEIGHT / 2 + 3
    scale = min(half_width / abs(dx) if dx else math.inf, half_height / abs(dy) if dy else math.inf, 1.0)
    return node.x + dx * scale, node.y + dy * scale


def _head(before: tuple[float, float], tip: tuple[float, float], size: float) -> tuple[str, tuple[float, float]]:
    """The arrow's head as points of a polygon, and the middle of its base."""
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    points = [tip]
    for side in (-1, 1):
        turn = angle + math.pi + side * 0.42
        points.append((tip[0] + size * math.cos(turn), tip[1] + size * math.sin(turn)))
    base = ((points[1][0] + points[2][0]) / 2, (points[1][1] + points[2][1]) / 2)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points), base
