"""One Pipecat service in a pipeline of its own, on an event loop and in a thread of its own.

A service that blocks its loop, or never comes back, so holds up neither the line nor the end of the process. What is
asked of it is asked from another thread, one request at a time, within a limit of real seconds.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack, suppress
from typing import Any, Literal

import aiohttp
from pipecat.frames.frames import ErrorFrame, Frame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.workers.runner import WorkerRunner

from callm_voice.core.clock import stopwatch
from callm_voice.core.errors import CallmError, EngineError
from callm_voice.llm.secrets import Secret, redact
from callm_voice.pipeline.foreign_class import SESSION, parameters
from callm_voice.pipeline.foreign_loop import ServiceLoop, first_of
from callm_voice.pipeline.foreign_request import DoneFrame, Outlet, Request
from callm_voice.speech.boundary import engine_errors

CLOSE_LIMIT_S = 10.0
"""For Pipecat's own ending, at least."""


class ServiceHost:
    """`open`, any number of `ask`, `close`; all from other threads than the service's.

    Args:
        service: the class.
        arguments: of its constructor; an HTTP session is added if it wants one.
        method: `run_stt` or `run_tts`, watched for errors and for its end.
        rate_hz: of the audio that goes in and comes out.
        limit_s: for one request, and for what still runs when it is closed.
        secrets: never to appear in an error.
    """

    def __init__(
        self,
        service: type,
        arguments: dict[str, Any],
        *,
        stage: Literal["stt", "tts"],
        method: str,
        rate_hz: int,
        limit_s: float,
        secrets: Sequence[Secret] = (),
    ) -> None:
        self.what = f"{service.__module__}.{service.__qualname__}"
        self._class, self._arguments, self._method = service, arguments, method
        self._stage, self._rate_hz, self._limit_s, self._secrets = stage, rate_hz, limit_s, secrets
        self._ready: Future[None] = Future()
        self._asking = threading.Lock()
        self._job: Future[Request] | None = None
        self._current: Request | None = None
        self._broken: CallmError | None = None
        self.service: Any = None
        self._worker: Any = None
        self._loop: ServiceLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name=f"callm-service-{stage}", daemon=True)

    def open(self, limit_s: float) -> None:
        """Make the service and wait until it takes frames.

        Raises:
            EngineError: it cannot be made or started, or not within `limit_s`.
        """
        self._thread.start()
        try:
            self._ready.result(limit_s)
        except TimeoutError:
            self.close()
            raise self._error(f"did not start within {limit_s:g} s") from None
        except CallmError:
            self.close()
            raise

    def ask(self, make: Callable[[], Request], frames: Sequence[Frame], limit_s: float | None = None) -> Any:
        """Send the frames in and wait until the request is over; the request, with what it took.

        Raises:
            EngineError: the service failed, or took longer than `limit_s` (or its own limit) and is not asked again.
        """
        limit_s = self._limit_s if limit_s is None else limit_s
        with self._asking:
            if self._broken is not None:
                raise self._broken
            if self._loop is None or not self._thread.is_alive():
                raise self._error("was closed")
            self._job = job = asyncio.run_coroutine_threadsafe(self._ask(make, frames), self._loop)
            try:
                return job.result(limit_s)
            except TimeoutError:
                job.cancel()
                self._broken = self._error(f"gave no answer within {limit_s:g} s")
                raise self._broken from None
            except CancelledError:
                raise self._error("was closed") from None
            finally:
                self._job = None

    def close(self) -> None:
        """End the service; a request that still runs fails.

        What the service has in hand is waited for as long as a request may take. What hangs longer is left behind, in
        threads that do not keep the process from ending.
        """
        if (job := self._job) is not None:
            job.cancel()
        if self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):  # its loop is closed already
                self._loop.call_soon_threadsafe(self._stop.set)
        elapsed_s, limit_s = stopwatch(), max(CLOSE_LIMIT_S, self._limit_s)
        if self._thread.ident is not None:
            self._thread.join(limit_s)
        for job_thread in self._loop.jobs if self._loop is not None else ():
            job_thread.join(max(0.0, limit_s - elapsed_s()))

    # -- in the service's thread -------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with engine_errors(f"{self.what} failed", self._stage), asyncio.Runner(loop_factory=ServiceLoop) as runner:
                runner.run(self._serve())
        except CallmError as error:
            self._fail(error.message)
        if not self._ready.done():
            self._ready.set_exception(self._error("was closed while it started"))

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ServiceLoop)
        self._loop, self._stop = loop, asyncio.Event()
        async with AsyncExitStack() as stack:
            if SESSION in parameters(self._class) and SESSION not in self._arguments:
                self._arguments[SESSION] = await stack.enter_async_context(aiohttp.ClientSession())
            self.service = self._watched(self._class(**self._arguments))
            self._worker = PipelineWorker(
                Pipeline([self.service, Outlet(self._came)]),
                name=f"service-{self._stage}",
                enable_rtvi=False,
                enable_turn_tracking=False,
                idle_timeout_secs=None,
                cancel_timeout_secs=CLOSE_LIMIT_S / 2,
                params=PipelineParams(audio_in_sample_rate=self._rate_hz, audio_out_sample_rate=self._rate_hz),
            )
            started = asyncio.Event()

            async def on_started(*_: object) -> None:
                started.set()

            async def on_error(_worker: object, frame: ErrorFrame) -> None:
                self._fail(f"{self.what} failed: {frame.error}")

            self._worker.add_event_handler("on_pipeline_started", on_started)
            self._worker.add_event_handler("on_pipeline_error", on_error)
            pipecat = WorkerRunner(handle_sigint=False, handle_sigterm=False)
            await pipecat.add_workers(self._worker)
            running = asyncio.create_task(pipecat.run(), name="pipecat-runner")
            try:
                await first_of(started.wait(), self._stop.wait(), running)
                if started.is_set() and not self._ready.done():
                    self._ready.set_result(None)
                await first_of(self._stop.wait(), running)
                if running.done() and not self._stop.is_set():
                    self._broken = self._error("ended by itself")
                    self._fail(self._broken.message)
            finally:
                await self._worker.cancel(reason="the call is over")
                with suppress(asyncio.CancelledError):
                    await running

    async def _ask(self, make: Callable[[], Request], frames: Sequence[Frame]) -> Request:
        if not self.service.is_usable:
            raise self._broken or self._error("can no longer do its work")
        self._current = request = make()
        try:
            await self._worker.queue_frames(frames)
            await request.wait()
        finally:
            self._current = None
        return request

    def _watched(self, service: Any) -> Any:
        """The service, with its starting and its `run_...` in sight: Pipecat logs what these raise, or puts it into a
        frame that arrives after the end of the request."""
        start, run = service.start, getattr(service, self._method)

        async def watched_start(frame: Frame) -> None:
            with engine_errors(f"{self.what} failed to start", self._stage):
                try:
                    await start(frame)
                except Exception as error:  # told to who waits for it, and raised on
                    self._fail(f"{self.what} failed to start: {_first_line(error)}")
                    raise

        async def watched_run(*args: Any, **kwargs: Any) -> Any:
            try:
                async for frame in run(*args, **kwargs):
                    if isinstance(frame, ErrorFrame):
                        self._fail(f"{self.what} failed: {frame.error}")
                    yield frame
            except Exception as error:  # told to who waits for it, and raised on
                self._fail(f"{self.what} failed: {_first_line(error)}")
                raise
            if self._method == "run_stt":  # behind a sentence, a frame that is sent after it does the same
                await service.push_frame(DoneFrame())

        service.start = watched_start
        setattr(service, self._method, watched_run)
        return service

    def _came(self, frame: Frame) -> None:
        if self._current is not None:
            self._current.take(frame)

    def _fail(self, message: str) -> None:
        error = EngineError(redact(message, self._secrets)[:400], stage=self._stage)
        if not self._ready.done():
            self._ready.set_exception(error)
            return
        if self._current is not None:
            self._current.fail(error)
        if not self.service.is_usable:
            self._broken = error

    def _error(self, said: str) -> EngineError:
        return EngineError(f"{self.what} {said}", stage=self._stage)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
