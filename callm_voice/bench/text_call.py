"""One call without audio (`--line text`): the same desk, caller and verifier."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from callm_voice.bench.assemble import CallResult
from callm_voice.bench.costcap import watch_cost
from callm_voice.bench.desk import final_state, model_info, open_desk
from callm_voice.bench.minds import open_caller
from callm_voice.bench.resolve import ResolvedCall
from callm_voice.bench.silence import silence_limit_ms
from callm_voice.bench.workshop import Workshop
from callm_voice.caller.text import AgentTurn, TextTurn, talk
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import (
    CallEnded,
    CallStarted,
    DtmfHeard,
    DtmfSent,
    EndReason,
    EventLog,
    Failed,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    TranscriptReady,
    UtteranceEnded,
    UtteranceStarted,
)
from callm_voice.core.keypad import keys_in, without_keys
from callm_voice.core.record import EngineInfo, TranscriptTurn
from callm_voice.desk.agent import DeskAgent
from callm_voice.desk.outputs import Say
from callm_voice.pipeline.control import reason_of


async def text_call(
    resolved: ResolvedCall, clock: RealClock, log: EventLog, on_progress: Callable[[str], None],
    shop: Workshop | None = None,
) -> CallResult:  # fmt: skip
    """Run the call; see `voice_call`."""
    async with AsyncExitStack() as stack:
        extra_files: dict[str, str] = {}
        servers = shop.servers if shop else None
        desk, database = await open_desk(resolved, clock, log, on_progress, stack, extra_files, servers)
        mind = await open_caller(resolved, clock, on_progress, stack, servers)
        started_unix_s = clock.unix_s()
        log.start_line(clock.now_s())
        log.emit(
            CallStarted,
            task=resolved.task_name,
            model=resolved.model.name,
            line=resolved.spec.line,
            pipeline=resolved.pipeline.id,
            pace=resolved.spec.pace,
            seed=resolved.spec.seed,
        )
        scribe = _Scribe(desk, log, keypad=resolved.pipeline.dtmf.enabled)
        too_dear: list[str] = []
        watch_cost(resolved, desk, log, too_dear.append)
        resolved.faults.watch(log, clock)
        reason: EndReason
        error: CallmError | None = None
        try:
            dialogue = await talk(
                mind,
                _while_affordable(scribe.agent_turn, too_dear),
                max_turns=resolved.pipeline.limits.max_turns,
                silence_limit_ms=silence_limit_ms(resolved),
                on_turn=scribe.note,
            )
            reason, detail = dialogue.end, dialogue.detail
        except _TooDearError:
            reason, detail = "max_cost", too_dear[0]
        except CallmError as caught:
            error, reason, detail = caught, reason_of(caught), caught.one_line()
            log.emit(
                Failed, stage=caught.stage, fault=caught.fault, message=caught.message,
                retry_after_s=caught.retry_after_s,
            )  # fmt: skip
        state, error = final_state(database, error)
        log.emit(CallEnded, reason=reason, detail=detail)
        return CallResult(
            started_unix_s=started_unix_s,
            reason=reason,
            detail=detail,
            fault=error.fault if error else None,
            trace=desk.trace(),
            state=state,
            usage=desk.usage(),
            events=log.events,
            transcript=tuple(scribe.turns),
            engines={"model": model_info(resolved.model), "codec": EngineInfo(engine="text")},
            caller_usage=mind.usage(),
            warnings=resolved.faults.warnings,
            extra_files=extra_files,
        )


class _TooDearError(Exception):
    """The call has reached its cost cap."""


def _while_affordable(agent_turn: AgentTurn, too_dear: list[str]) -> AgentTurn:
    """`agent_turn`, which ends the call once there is a reason in `too_dear`."""

    async def turn(words: str | None) -> str:
        said = await agent_turn(words)
        if too_dear:
            raise _TooDearError
        return said

    return turn


class _Scribe:
    """Drives the desk turn by turn and writes down what was said.

    Args:
        keypad: pressed keys are understood; else the desk hears the words around them alone.
    """

    def __init__(self, desk: DeskAgent, log: EventLog, *, keypad: bool) -> None:
        self._desk, self._log, self._keypad = desk, log, keypad
        self._turn_id = 0
        self._sentence_id = 0
        self.turns: list[TranscriptTurn] = []

    async def agent_turn(self, words: str | None) -> str:
        """The whole of the agent's floor."""
        if words is None:
            outputs = self._desk.greet(0)
        else:
            heard = self._heard(words)
            self._log.emit(TranscriptReady, turn_id=self._turn_id, heard=heard, raw=heard)
            outputs = self._desk.respond(heard or None, self._turn_id)
        said: dict[int, str] = {}
        roles: dict[int, str] = {}
        async for output in outputs:
            if isinstance(output, Say):
                said[output.inference_id] = said.get(output.inference_id, "") + output.text_delta
                roles[output.inference_id] = output.role
        for inference_id, text in said.items():
            self._agent_said(inference_id, roles[inference_id], text.strip())
        return " ".join(text.strip() for text in said.values())

    def note(self, turn: TextTurn) -> None:
        """From the dialogue: the caller took its turn (the agent's are known already)."""
        if turn.party == "agent":
            return
        self._turn_id += 1
        now_ms = self._log.now_ms()
        self._log.emit(UtteranceStarted, utterance_id=self._turn_id, said=turn.text, spoken=turn.text, beat=turn.beat)
        if keys := keys_in(turn.text):
            self._log.emit(DtmfSent, utterance_id=self._turn_id, digits=keys)
            for key in keys if self._keypad else "":
                self._log.emit(DtmfHeard, turn_id=self._turn_id, digit=key)
        self._log.emit(UtteranceEnded, utterance_id=self._turn_id)
        self.turns.append(
            TranscriptTurn(
                party="caller",
                turn_id=self._turn_id,
                start_ms=now_ms,
                end_ms=now_ms,
                said=turn.text,
                heard=self._heard(turn.text),
            )
        )

    def _heard(self, words: str) -> str:
        return words if self._keypad else without_keys(words)

    def _agent_said(self, inference_id: int, role: str, text: str) -> None:
        self._sentence_id += 1
        now_ms = self._log.now_ms()
        ids = {"sentence_id": self._sentence_id, "turn_id": self._turn_id}
        self._log.emit(SentenceReady, inference_id=inference_id, text=text, spoken=text, **ids)
        self._log.emit(PlayoutStarted, **ids)
        self._log.emit(PlayoutEnded, played=text, **ids)
        self.turns.append(
            TranscriptTurn(
                party="agent", turn_id=self._turn_id, role=role, start_ms=now_ms, end_ms=now_ms, said=text, played=text
            )
        )
