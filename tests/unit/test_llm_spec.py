"""What `--model` means."""

import pytest
from pydantic import TypeAdapter, ValidationError

from callm_voice.core.errors import ConfigError, NotFoundError, UsageError
from callm_voice.llm.spec import (
    BUILT_IN,
    EMBEDDED_MODEL,
    MODEL_SPEC,
    EmbeddedSpec,
    ModelSpec,
    OpenAiSpec,
    OracleSpec,
    parse_model_arg,
)

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A user without files and keys."""
    monkeypatch.setenv("CALLM_VOICE_HOME", str(tmp_path))
    for name in ("CALLM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_built_in_names_are_known():
    assert parse_model_arg("oracle").spec == OracleSpec()
    assert isinstance(parse_model_arg(EMBEDDED_MODEL).spec, EmbeddedSpec)


def test_the_embedded_model_recovers_json_and_decodes_with_one_thread():
    spec = BUILT_IN[EMBEDDED_MODEL]
    assert isinstance(spec, EmbeddedSpec)
    assert (spec.recover_json_tool_calls, spec.threads, spec.context_tokens) == (True, 1, 8192)


def test_the_users_file_goes_before_the_built_in_names(home):
    (home / "models.yaml").write_text("models:\n  oracle: {kind: oracle, ttft_ms: 7}\n")
    assert parse_model_arg("oracle").spec == OracleSpec(ttft_ms=7)


def test_the_pipeline_goes_before_the_users_file(home):
    (home / "models.yaml").write_text("models:\n  oracle: {kind: oracle, ttft_ms: 7}\n")
    assert parse_model_arg("oracle", {"oracle": OracleSpec(ttft_ms=8)}).spec == OracleSpec(ttft_ms=8)


def test_a_wrong_key_in_the_users_file_is_named_with_its_line(home):
    (home / "models.yaml").write_text("models:\n  mine:\n    kind: openai\n    base_url: http://h/v1\n    modle: x\n")
    with pytest.raises(ConfigError) as caught:
        parse_model_arg("mine")
    assert "models.yaml" in caught.value.message
    assert caught.value.line is not None


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(NotFoundError, match=r"no model named 'gpt'; known: .*openai:BASE_URL#MODEL.*oracle"):
        parse_model_arg("gpt")


def test_a_url_names_server_and_model():
    named = parse_model_arg("openai:http://127.0.0.1:8000/v1/#Qwen/Qwen3-8B")
    assert isinstance(named.spec, OpenAiSpec)
    assert (named.spec.base_url, named.spec.model) == ("http://127.0.0.1:8000/v1", "Qwen/Qwen3-8B")
    assert named.spec.api_key_env is None


def test_a_url_takes_its_key_from_the_first_variable_that_is_set(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a")
    spec = parse_model_arg("openai:https://h/v1#m").spec
    assert isinstance(spec, OpenAiSpec)
    assert spec.api_key_env == "OPENAI_API_KEY"
    monkeypatch.setenv("CALLM_API_KEY", "b")
    spec = parse_model_arg("openai:https://h/v1#m").spec
    assert isinstance(spec, OpenAiSpec)
    assert spec.api_key_env == "CALLM_API_KEY"


@pytest.mark.parametrize("text", ["openai:", "openai:http://h/v1", "openai:#m", "openai:ftp://h#m", "openai:h/v1#m"])
def test_a_malformed_url_is_a_usage_error(text):
    with pytest.raises(UsageError):
        parse_model_arg(text)


def test_credentials_in_a_url_are_refused_and_not_repeated():
    with pytest.raises(UsageError, match="credentials") as caught:
        parse_model_arg("openai:https://bob:hunter2@h/v1#m")
    assert "hunter2" not in caught.value.one_line()


def test_an_oracle_can_be_changed_in_the_argument():
    named = parse_model_arg("oracle?ttft_ms=900&tokens_per_s=50")
    assert named.spec == OracleSpec(ttft_ms=900, tokens_per_s=50)
    assert named.name == "oracle?ttft_ms=900&tokens_per_s=50"


@pytest.mark.parametrize("text", ["oracle?ttft_ms=10001", "oracle?ttft=5", "oracle?ttft_ms=x", "oracle?nonsense"])
def test_a_wrong_change_is_a_usage_error(text):
    with pytest.raises(UsageError, match="oracle"):
        parse_model_arg(text)


def test_only_an_oracle_can_be_changed():
    with pytest.raises(UsageError, match="only an oracle"):
        parse_model_arg(f"{EMBEDDED_MODEL}?threads=4")


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeouts": {"stall_s": 0}},
        {"timeouts": {"first_token_s": -1}},
        {"timeouts": {"total_s": 9}},
        {"temperature": 3},
        {"api_key_env": "sk-this-is-a-key"},
        {"headers": {"Authorization": "Bearer sk-literal"}},
        {"colour": "red"},
    ],
)
def test_wrong_fields_are_refused(wrong):
    with pytest.raises(ValidationError):
        OpenAiSpec(base_url="http://h/v1", model="m", **wrong)


def test_a_key_given_for_its_name_is_not_repeated_in_the_message(home):
    (home / "models.yaml").write_text(
        "models:\n  m: {kind: openai, base_url: http://h/v1, model: m, api_key_env: sk-oops-1}\n"
    )
    with pytest.raises(ConfigError, match="not a key") as caught:
        parse_model_arg("m")
    assert "sk-oops-1" not in caught.value.one_line()


@pytest.mark.parametrize("spec", [*BUILT_IN.values(), OpenAiSpec(base_url="http://h/v1", model="m")])
def test_every_kind_survives_json(spec):
    assert MODEL_SPEC.validate_json(MODEL_SPEC.dump_json(spec)) == spec


def test_the_union_is_told_apart_by_kind():
    mapping = TypeAdapter(dict[str, ModelSpec]).validate_python({"a": {"kind": "oracle"}})
    assert mapping == {"a": OracleSpec()}
