"""`callm-voice voices`: the caller's voices, and what they sound like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.core import weights
from callm_voice.core.errors import NotFoundError, UsageError
from callm_voice.speech.voices import VOICES, CallerVoice


def voices(
    names: list[str] = typer.Argument(None, help="Voices; none named: all"),
    text: str | None = typer.Option(None, "--say", help="Have each of them say this"),
    folder: Path | None = typer.Option(None, "--out", help="Folder for the samples: NAME.wav"),
    as_json: bool = JSON_OPTION,
) -> None:
    """List the voices that a pipeline's `caller.tts: {voices: ...}` can name, or write a sample of each.

    A pipeline with `voices: auto` draws one of them for each call, by its seed and task.
    Example: `callm-voice voices joe bf_emma --say "My number is 212-555-0133." --out samples`
    """
    if (text is None) != (folder is None):
        raise UsageError("--say and --out belong together", hint='callm-voice voices --say "Hello." --out samples')
    chosen = [_voice(name) for name in names] if names else list(VOICES)
    here = {status.name for status in weights.listing() if status.state == "present"}
    rows = [_row(voice, here) for voice in chosen]
    if text is not None and folder is not None:
        for voice, row in zip(chosen, rows, strict=True):
            row["file"] = str(_sample(voice, text, folder))
    if as_json:
        print_json({"voices": rows})
        return
    table = Table("voice", "engine", "sex", "accent", "speed", "weights", box=None, pad_edge=False)
    for row in rows:
        missing = " ".join(row["missing"])
        state = f"missing: {missing}" if missing else "present"
        table.add_row(row["id"], row["engine"], row["sex"], row["accent"], f"{row['speed']:g}", state)
    out.print(table)
    for row in rows:
        if "file" in row:
            out.print(row["file"], markup=False, soft_wrap=True)


def _voice(name: str) -> CallerVoice:
    found = next((voice for voice in VOICES if voice.id == name), None)
    if found is None:
        raise NotFoundError("voice", name, [voice.id for voice in VOICES])
    return found


def _row(voice: CallerVoice, here: set[str]) -> dict[str, Any]:
    return {
        "id": voice.id,
        "engine": voice.settings.engine,
        "sex": voice.sex,
        "accent": voice.accent,
        "speed": voice.speed,
        "weights": list(voice.weights),
        "missing": [name for name in voice.weights if name not in here],
    }


def _sample(voice: CallerVoice, text: str, folder: Path) -> Path:
    """`text` in its voice, as a WAV file at the voice's own rate.

    Raises:
        SetupError: its package or weight is missing.
        EngineError: it made no sound of it.
    """
    from callm_voice.audio.files import write_sound  # what only a sample needs
    from callm_voice.core.errors import EngineError
    from callm_voice.core.runfolder import disk_errors
    from callm_voice.speech.factory import make_tts
    from callm_voice.speech.spoken import to_spoken

    say(f"{voice.id} speaks")
    tts = make_tts(voice.settings)
    pcm = tts.synthesise(to_spoken(text))
    if not pcm.size:
        raise EngineError(f"the voice {voice.id} made no sound of {text[:60]!r}", stage="tts")
    path = folder / f"{voice.id}.wav"
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_sound(path, pcm, tts.rate_hz)
    return path
