"""Whatever a model server does wrong ends in the right error, within its limit, with the URL and without the key."""

import asyncio
import socket

import httpx
import pytest
from support.llm_servers import DONE, ROLE, STOP, delta, fragment, raw_server, sse

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import ModelConnectError, ModelProtocolError, ModelStatusError, ModelTimeoutError
from callm_voice.llm.client import OpenAiChatModel
from callm_voice.llm.spec import OpenAiSpec, Timeouts
from callm_voice.llm.types import ChatRequest, Finished, StreamOpened, TextDelta, ToolCallReady

pytestmark = pytest.mark.faults
KEY = "sk-very-secret-4711"
TOOL = {"type": "function", "function": {"name": "get_balance", "parameters": {}}}
REQUEST = ChatRequest([{"role": "user", "content": "Hi"}], [TOOL])
QUICK = Timeouts(connect_s=5, first_token_s=1, stall_s=20)
STALLS = Timeouts(connect_s=5, first_token_s=20, stall_s=0.2)
"""Only the limit that is meant may end the exchange, however busy the machine."""
PATIENT = Timeouts(connect_s=5, first_token_s=20, stall_s=20)
BOUND_S = 10.0
"""No test of this module may take longer for one exchange; the limits themselves are far below."""


@pytest.fixture
def clock():
    clock = RealClock()
    yield clock
    assert not any(clock.in_flight.values()), "work is still counted as in flight"
    clock.close()


@pytest.fixture
async def ask(clock, monkeypatch):
    """Ask a server; all events. The model is closed at the end."""
    monkeypatch.setenv("MY_KEY", KEY)
    models = []

    def model_at(base_url: str, timeouts: Timeouts = PATIENT) -> OpenAiChatModel:
        spec = OpenAiSpec(base_url=base_url, model="m", api_key_env="MY_KEY", timeouts=timeouts)
        models.append(OpenAiChatModel(spec, clock))
        return models[-1]

    async def ask(base_url: str, timeouts: Timeouts = PATIENT, *, model: OpenAiChatModel | None = None):
        model = model or model_at(base_url, timeouts)
        async with asyncio.timeout(BOUND_S):
            return [event async for event in model.stream(REQUEST)]

    ask.model_at = model_at
    yield ask
    for model in models:
        await model.aclose()


def text_of(events) -> str:
    return "".join(e.text for e in events if isinstance(e, TextDelta))


async def answer(exchange):
    await exchange.stream(ROLE, delta(content="Hello"), delta(content=" there"), STOP, DONE)


async def test_a_good_answer_comes_through(ask):
    async with raw_server(answer) as server:
        events = await ask(server.base_url)
    assert text_of(events) == "Hello there"
    assert isinstance(events[-1], Finished)
    assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.chats[0].body["stream_options"] == {"include_usage": True}


async def test_times_rise_from_sending_to_the_finish(ask):
    async with raw_server(answer) as server:
        events = await ask(server.base_url)
    assert isinstance(events[0], StreamOpened)
    assert events[0].sent_s is not None
    times = [events[0].sent_s, *(e.t_s for e in events)]
    assert times == sorted(times)


async def test_refused_connections_are_a_connect_error(ask):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ModelConnectError, match=rf"http://127.0.0.1:{port}/v1/models: no connection: .*") as caught:
            await ask(f"http://127.0.0.1:{port}/v1")
    assert caught.value.hint == "is the model server running?"


async def test_an_unknown_host_is_a_connect_error(ask, monkeypatch):
    async def no_such_host(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", no_such_host)
    with pytest.raises(ModelConnectError, match="Name or service not known"):
        await ask("http://no-such-host.invalid/v1")


async def test_plain_text_on_a_tls_port_is_a_connect_error(ask):
    async def no_tls(reader, writer):
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(no_tls, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ModelConnectError, match=f"https://127.0.0.1:{port}/v1/models: no connection"):
            await ask(f"https://127.0.0.1:{port}/v1")


async def test_a_port_that_accepts_and_says_nothing_to_tls_is_a_timeout(ask):
    async with raw_server(answer) as server:
        limits = Timeouts(connect_s=0.2, first_token_s=5, stall_s=5)
        with pytest.raises(ModelTimeoutError, match=r"no connection within 0\.2 s"):
            await ask(server.base_url.replace("http:", "https:"), limits)


@pytest.mark.parametrize(
    ("status", "headers", "hint", "retry_after_s"),
    [
        ("401 Unauthorized", {}, "check the API key variable", None),
        ("404 Not Found", {}, "check the model name and base URL", None),
        ("429 Too Many Requests", {"Retry_After": "7"}, "rate limited", 7.0),
        ("429 Too Many Requests", {"Retry_After": "soon"}, "rate limited", None),
        ("500 Internal Server Error", {}, "", None),
        ("302 Found", {"Location": "http://elsewhere/"}, "", None),
    ],
)
async def test_a_status_is_a_status_error_and_nothing_is_retried(ask, status, headers, hint, retry_after_s):
    async with raw_server(lambda x: x.plain(status, f"no: your key is {KEY}", **headers)) as server:
        with pytest.raises(ModelStatusError, match="/v1/chat/completions answered HTTP") as caught:
            await ask(server.base_url)
    assert (caught.value.status, caught.value.hint) == (int(status[:3]), hint)
    assert caught.value.retry_after_s == retry_after_s
    assert KEY not in caught.value.one_line()
    assert "no: your key is ***" in caught.value.message
    assert len(server.chats) == 1


async def test_no_head_of_an_answer_is_a_timeout(ask):
    async with raw_server(lambda x: x.until_client_leaves()) as server:
        limits = Timeouts(connect_s=1, first_token_s=0.5, stall_s=20)
        with pytest.raises(ModelTimeoutError, match=r"no answer to the request within 0\.5 s"):
            await ask(server.base_url, limits)


async def test_a_role_and_then_nothing_is_a_timeout(ask):
    async def chat(exchange):
        await exchange.head()
        await exchange.chunk(sse(ROLE))
        await exchange.until_client_leaves()

    async with raw_server(chat) as server:
        with pytest.raises(ModelTimeoutError, match=r"no answer token within 1 s"):
            await ask(server.base_url, QUICK)


async def test_keep_alive_comments_do_not_extend_the_first_token(ask):
    async def chat(exchange):
        await exchange.head()
        while True:
            await exchange.chunk(": keep-alive\n\n")
            await asyncio.sleep(0.05)

    async with raw_server(chat) as server:
        with pytest.raises(ModelTimeoutError, match="no answer token"):
            await ask(server.base_url, QUICK)


async def test_thinking_does_not_extend_the_first_token_and_is_counted(ask):
    async def chat(exchange):
        await exchange.head()
        while True:
            await exchange.chunk(sse(delta(reasoning_content="hmm ")))
            await asyncio.sleep(0.05)

    async with raw_server(chat) as server:
        with pytest.raises(ModelTimeoutError, match=r"no answer token within 1 s \(\d+ characters of thinking came\)"):
            await ask(server.base_url, QUICK)


@pytest.mark.parametrize("filler", ["", ": keep-alive\n\n", sse(delta(content="")), sse(delta())])
async def test_a_stall_after_the_first_token_is_a_timeout(ask, filler):
    """Silence, comments and empty deltas are all no progress."""

    async def chat(exchange):
        await exchange.head()
        await exchange.chunk(sse(delta(content="Hel")))
        while filler:
            await exchange.chunk(filler)
            await asyncio.sleep(0.05)
        await exchange.until_client_leaves()

    async with raw_server(chat) as server:
        with pytest.raises(ModelTimeoutError, match=r"the answer stalled for 0\.2 s"):
            await ask(server.base_url, STALLS)


async def test_a_slow_but_steady_answer_is_no_stall(ask):
    """The whole answer takes longer than a stall may."""
    words = [f"{n} " for n in range(15)]

    async def chat(exchange):
        await exchange.head()
        for word in words:
            await exchange.chunk(sse(delta(content=word)))
            await asyncio.sleep(0.1)
        await exchange.chunk(sse(STOP) + sse(DONE))
        await exchange.end()

    async with raw_server(chat) as server:
        events = await ask(server.base_url, Timeouts(first_token_s=20, stall_s=1))
    assert text_of(events) == "".join(words)


async def test_an_answer_cut_in_the_middle_is_a_protocol_error(ask):
    async def chat(exchange):
        await exchange.head()
        await exchange.chunk(sse(delta(content="Hel")))
        return False

    async with raw_server(chat) as server:
        with pytest.raises(ModelProtocolError, match="/v1/chat/completions: the connection broke"):
            await ask(server.base_url)


async def test_a_body_that_ends_without_finish_is_a_protocol_error(ask):
    async with raw_server(lambda x: x.stream(ROLE, delta(content="Hel"))) as server:
        with pytest.raises(ModelProtocolError, match="/v1/chat/completions: the answer's stream was cut"):
            await ask(server.base_url)


async def test_a_role_only_answer_finishes_without_a_token_and_says_so(ask):
    """It is whole: an empty answer is the model's fault, not the server's."""
    async with raw_server(lambda x: x.stream(ROLE, STOP, DONE)) as server:
        events = await ask(server.base_url)
    assert text_of(events) == ""
    assert "no answer token" in events[-1].notes


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<html><body>502 Bad Gateway</body></html>", "<html><body>502 Bad Gateway"),
        ('{"choices": [{"message": {"content": "Hi"}}]}', '"choices"'),
        ("complete garbage", "complete garbage"),
        ("data: {broken\n\n", "{broken"),
        ('data: {"error": {"message": "overloaded"}}\n\n', "overloaded"),
        ("", "empty"),
    ],
)
async def test_what_is_no_stream_is_a_protocol_error_that_shows_it(ask, body, said):
    async with raw_server(lambda x: x.plain("200 OK", body, Content_Type="text/html")) as server:
        with pytest.raises(ModelProtocolError, match="/v1/chat/completions: ") as caught:
            await ask(server.base_url)
    assert said in caught.value.message


async def test_an_error_in_the_middle_is_a_protocol_error_after_the_text(ask):
    async def chat(exchange):
        await exchange.stream(delta(content="Hel"), {"error": {"message": f"key {KEY} expired"}})

    async with raw_server(chat) as server:
        events = ask.model_at(server.base_url).stream(REQUEST)
        seen = [await anext(events) for _ in range(3)]
        assert text_of(seen) == "Hel"
        with pytest.raises(ModelProtocolError, match=r"broke off: 'key \*\*\* expired'"):
            await anext(events)


async def test_a_connection_that_the_server_closed_while_idle_is_opened_again_before_the_request(ask):
    """The server closes after each answer without saying so. Neither a failure nor a part of the measured time."""

    async def close_after(exchange):
        await answer(exchange)
        return False

    async with raw_server(close_after) as server:
        model = ask.model_at(server.base_url)
        await model.warm()
        for _ in range(3):
            server.closed.clear()
            assert text_of(await ask("", model=model)) == "Hello there"
            await server.closed.wait()
        assert [e.method for e in server.seen] == ["GET", "POST"] * 3
        for get, post in zip(server.seen[::2], server.seen[1::2], strict=True):
            assert get.connection == post.connection, "the request went over the connection that was opened before"


async def test_opening_a_connection_again_lies_before_the_time_of_sending(ask, clock):
    opened_s = []

    async def models(exchange):
        opened_s.append(clock.now_s())
        await exchange.plain("200 OK", "{}")

    async with raw_server(answer, models=models) as server:
        events = await ask(server.base_url)
    assert len(opened_s) == 1
    assert events[0].sent_s >= opened_s[0]


async def test_a_server_that_closes_as_we_send_is_asked_once_more_and_timed_anew(ask):
    """RFC 9110 section 9.2.2: closed without any answer on a kept connection, it is guessed that nothing was taken."""

    async def drop_first(exchange):
        if len(server.chats) == 1:
            return False
        return await answer(exchange)

    async with raw_server(drop_first) as server:
        model = ask.model_at(server.base_url)
        await model.warm()
        assert text_of(await ask("", model=model)) == "Hello there"
        assert len(server.chats) == 2


async def test_a_server_that_closes_every_time_is_not_asked_for_ever(ask):
    async def drop(_):
        return False

    async with raw_server(drop) as server:
        model = ask.model_at(server.base_url)
        with pytest.raises(ModelProtocolError, match="the connection broke"):
            await ask("", model=model)
        assert len(server.chats) == 2


async def test_one_connection_serves_all_requests(ask):
    async with raw_server(answer) as server:
        model = ask.model_at(server.base_url)
        await model.warm()
        for _ in range(3):
            await ask("", model=model)
        await model.warm()
        assert server.connections == 1
        assert [e.method for e in server.seen] == ["GET", "POST", "POST", "POST"]


async def test_leaving_the_stream_early_closes_its_connection(ask):
    async def chat(exchange):
        await exchange.head()
        await exchange.chunk(sse(delta(content="Hel")))
        await exchange.until_client_leaves()
        return False

    async with raw_server(chat) as server:
        events = ask.model_at(server.base_url).stream(REQUEST)
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        async with asyncio.timeout(BOUND_S):
            await server.closed.wait()


async def test_cancelling_the_consumer_closes_the_connection(ask):
    first = asyncio.Event()

    async def chat(exchange):
        await exchange.head()
        await exchange.chunk(sse(delta(content="Hel")))
        await exchange.until_client_leaves()
        return False

    async with raw_server(chat) as server:
        model = ask.model_at(server.base_url)

        async def consume():
            async for event in model.stream(REQUEST):
                if isinstance(event, TextDelta):
                    first.set()

        task = asyncio.create_task(consume())
        async with asyncio.timeout(BOUND_S):
            await first.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.closed.wait()


async def test_a_slow_consumer_does_not_make_tokens_late(ask, clock):
    """Times are those of reading: the consumer goes on only when the whole exchange is over."""
    async with raw_server(answer) as server:
        events = ask.model_at(server.base_url).stream(REQUEST)
        await anext(events)
        async with asyncio.timeout(BOUND_S):
            while clock.in_flight["llm"]:  # noqa: ASYNC110 - the clock has no event for it
                await asyncio.sleep(0.01)
        goes_on_s = clock.now_s()
        rest = [e async for e in events]
    assert text_of(rest) == "Hello there"
    assert max(e.t_s for e in rest) <= goes_on_s


async def test_after_done_the_end_of_the_body_is_not_waited_for_long(ask):
    async def chat(exchange):
        await exchange.head()
        await exchange.chunk(sse(delta(content="Hi")) + sse(STOP) + sse(DONE))
        await exchange.until_client_leaves()
        return False

    async with raw_server(chat) as server:
        assert text_of(await ask(server.base_url)) == "Hi"


@pytest.mark.parametrize("status", ["404 Not Found", "405 Method Not Allowed", "400 Bad Request"])
async def test_warming_up_does_not_mind_a_server_without_a_list_of_models(ask, status):
    async with raw_server(answer, models=lambda x: x.plain(status, "")) as server:
        model = ask.model_at(server.base_url)
        await model.warm()
        assert text_of(await ask("", model=model)) == "Hello there"


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "503 Service Unavailable"])
async def test_warming_up_tells_of_a_refused_key_and_of_a_server_that_cannot_serve(ask, status):
    async with raw_server(answer, models=lambda x: x.plain(status, f"bad {KEY}")) as server:
        with pytest.raises(ModelStatusError, match=status[:3]) as caught:
            await ask.model_at(server.base_url).warm()
    assert KEY not in caught.value.message


async def test_warming_up_without_a_server_is_a_connect_error(ask):
    with pytest.raises(ModelConnectError):
        await ask.model_at("http://127.0.0.1:9/v1").warm()


async def test_an_answer_split_inside_characters_is_understood(ask):
    async def chat(exchange):
        await exchange.head()
        data = (sse(ROLE) + sse(delta(tool_calls=[fragment(0, "a", "get_balance", '{"é": 1}')])) + sse(STOP)).encode()
        for at in range(0, len(data), 7):
            piece = data[at : at + 7]
            await exchange.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        await exchange.chunk(sse(DONE))
        await exchange.end()

    async with raw_server(chat) as server:
        events = await ask(server.base_url)
    assert [e.arguments for e in events if isinstance(e, ToolCallReady)] == [{"é": 1}]


async def test_a_server_that_closes_the_kept_connection_just_as_it_is_checked_costs_nothing(ask, monkeypatch):
    """The race that no look at the socket can exclude: seen with llama.cpp's server after a few idle seconds."""
    async with raw_server(answer) as server:
        model = ask.model_at(server.base_url)
        await ask(server.base_url, model=model)
        model._socket = ReadableSocket()
        real, left = model._http.get, [httpx.RemoteProtocolError("Server disconnected without sending a response.")]

        async def get(url):
            if left:
                raise left.pop()
            return await real(url)

        monkeypatch.setattr(model._http, "get", get)
        assert text_of(await ask(server.base_url, model=model)) == "Hello there"
        assert left == []


class ReadableSocket:
    """A kept connection that the server has closed."""

    def get_extra_info(self, name):
        return name == "is_readable"
