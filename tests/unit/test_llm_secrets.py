"""Keys never leave the one place that sends them."""

import pytest

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import UsageError
from callm_voice.llm.client import OpenAiChatModel
from callm_voice.llm.secrets import Secret, read_env, redact, resolve_headers, safe_url
from callm_voice.llm.spec import OpenAiSpec

pytestmark = pytest.mark.unit
KEY = "sk-very-secret-4711"


def test_a_secret_shows_in_no_repr_and_no_format():
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"


def test_redact_masks_keys_and_url_credentials():
    text = redact(f"wrong key {KEY} at http://bob:pw@host/v1", [Secret(KEY)])
    assert text == "wrong key *** at http://***@host/v1"


def test_redact_leaves_words_alone_when_a_secret_is_tiny():
    assert redact("a cat", [Secret("a")]) == "a cat"


def test_safe_url_drops_user_password_and_query():
    assert safe_url("https://u:p@host:8443/v1/chat?key=abc#f") == "https://host:8443/v1/chat"


def test_a_missing_variable_is_named(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UsageError, match="NO_SUCH_KEY is not set; the model m needs it"):
        read_env("NO_SUCH_KEY", what="the model m")


def test_header_references_are_replaced_and_remembered_as_secrets(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", KEY)
    headers, secrets = resolve_headers({"X-Auth": "Token ${MY_TOKEN}", "X-Plain": "1"}, what="m")
    assert headers == {"X-Auth": f"Token {KEY}", "X-Plain": "1"}
    assert [s.reveal() for s in secrets] == [KEY]


async def test_neither_the_model_nor_its_spec_shows_the_key(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", KEY)
    spec = OpenAiSpec(base_url="http://127.0.0.1:9/v1", model="m", api_key_env="MY_TOKEN", headers={"X": "${MY_TOKEN}"})
    clock = RealClock()
    model = OpenAiChatModel(spec, clock)
    assert KEY not in f"{model!r} {spec!r} {spec.model_dump_json()}"
    await model.aclose()
    clock.close()
