"""The front desk: packs, role prompts, tools on the call's own database, handoffs.

toolkit.py      what a pack's tools.py imports
arguments.py    kinds of tool arguments          tools.py       find and describe tools
database.py     the call's SQLite                dispatch.py    run a tool call in one transaction
roles.py        a role's prompt and tools        pack.py        load a pack and check it
toolfile.py     import tools.py and its parts
history.py      what the model is told           inference.py   one request and its marks
switchboard.py  current role, calls, handoffs    agent.py       the turn loop
"""
