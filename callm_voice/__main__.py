"""`python -m callm_voice` is `callm-voice`."""

from callm_voice.cli.main import run

run()
