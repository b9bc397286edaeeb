"""What a recogniser makes of callers by line profile: `callm-voice line wer` and docs/wer-by-profile.md.

utterances.yaml, utterances.py   what is said, and what in it counts
nonspeech.py                     sounds without speech
plan.py                          every (sound, profile, model), in an order that is balanced wherever it stops
listen.py                        one of them: voice, line, recogniser
run.py                           all of them: processes, results.jsonl, resume
entities.py                      is a name, a date, a number right in a transcript
score.py, results.py             rates with their intervals: results.json
page.py                          the page from that file
"""
