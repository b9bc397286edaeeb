"""The proof that a pack's tasks are right: `callm-voice packs check`.

findings.py   what is reported              tasks.py     a task's parts and their cross-references
play.py       calls through the real tools  mutations.py every single change of a finished gold call
others.py     another value of a kind       oracle.py    the dialogue against the scripted caller, in process
origins.py    where an argument comes from  said.py      the forms in which a value may be said
audible.py    is a value heard right        listen.py    the voice, line and recogniser for it
shape.py      the pack as a whole           run.py       all tasks, over the cores
"""
