"""The desk as a Pipecat LLM service: our streaming client and the desk's own turn loop behind Pipecat's interface."""

from __future__ import annotations

import asyncio

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings

from callm_voice.core.errors import CallmError
from callm_voice.desk.agent import DeskAgent, Say, SayEnd
from callm_voice.pipeline.control import CallControl
from callm_voice.pipeline.floor import Floor
from callm_voice.pipeline.frames import AgentTextEndFrame, AgentTextFrame, CallerTextFrame, GreetFrame
from callm_voice.pipeline.leg import PlayedLog


class DeskService(LLMService):
    """Runs `DeskAgent` on what the recogniser heard.

    While the caller speaks, what was heard is kept and answered together with what comes next. An interruption cancels
    the answer at its next await; the desk's history then keeps only the words that were played.
    """

    def __init__(
        self,
        agent: DeskAgent,
        *,
        model_name: str,
        max_turns: int,
        floor: Floor,
        played: PlayedLog,
        control: CallControl,
    ) -> None:
        super().__init__(settings=_settings(model_name))
        self._desk, self._floor, self._played, self._control = agent, floor, played, control
        self._max_turns = max_turns
        self._pending: list[str] = []
        self._unanswered = False
        self._turn_task: asyncio.Task[None] | None = None

    def can_generate_metrics(self) -> bool:
        return True

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, GreetFrame):
            await self._begin_turn(None, turn_id=0)
        elif isinstance(frame, CallerTextFrame):
            await self._take_words(frame)
        elif isinstance(frame, InterruptionFrame):
            await self._take_back()
            await self.push_frame(frame, direction)
        else:
            if isinstance(frame, (EndFrame, CancelFrame)):
                await self._cancel_turn()
            await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        await self._cancel_turn()
        await super().cleanup()

    async def _take_words(self, frame: CallerTextFrame) -> None:
        if frame.heard:
            self._pending.append(frame.heard)
        if self._floor.caller_speaking:
            return
        heard = " ".join(self._pending)
        self._pending.clear()
        if heard or self._unanswered:
            await self._begin_turn(heard or None, turn_id=frame.turn_id)

    async def _begin_turn(self, heard: str | None, *, turn_id: int) -> None:
        if self._turn_task is not None and not self._floor.barge_in:
            await asyncio.wait({self._turn_task})
        await self._cancel_turn()
        if turn_id > self._max_turns:
            self._control.end("max_turns", f"the caller took more than {self._max_turns} turns")
            return
        self._unanswered = True
        self._floor.agent_working = True
        self._turn_task = self.create_task(self._run_turn(heard, turn_id, self._floor.epoch), f"turn-{turn_id}")

    async def _run_turn(self, heard: str | None, turn_id: int, epoch: int) -> None:
        outputs = self._desk.greet(turn_id) if turn_id == 0 else self._desk.respond(heard, turn_id)
        try:
            async for output in outputs:
                if isinstance(output, Say):
                    self._unanswered = False
                    await self.push_frame(
                        AgentTextFrame(
                            turn_id=turn_id, inference_id=output.inference_id, epoch=epoch, text=output.text_delta
                        )
                    )
                elif isinstance(output, SayEnd):
                    await self.push_frame(
                        AgentTextEndFrame(turn_id=turn_id, inference_id=output.inference_id, epoch=epoch)
                    )
        except CallmError as error:
            self._control.fail(error)
        finally:
            await outputs.aclose()
            if epoch == self._floor.epoch:
                self._floor.agent_working = False

    async def _take_back(self) -> None:
        await self._cancel_turn()
        self._desk.interrupted(self._played.texts())

    async def _cancel_turn(self) -> None:
        if self._turn_task is not None:
            turn, self._turn_task = self._turn_task, None
            self._floor.agent_working = False
            await self.cancel_task(turn)


def _settings(model_name: str) -> LLMSettings:
    return LLMSettings(
        model=model_name,
        system_instruction=None,
        temperature=None,
        max_tokens=None,
        top_p=None,
        top_k=None,
        frequency_penalty=None,
        presence_penalty=None,
        seed=None,
        filter_incomplete_user_turns=False,
        user_turn_completion_config=None,
    )
