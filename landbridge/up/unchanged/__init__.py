"""Stacks whose engine run can be left out: nothing that their last good run read is another one now.

`record` is what such a run left behind, `surroundings` what is the same for all stacks, `plugins` asks look-ups again,
and `known` is what a run over stacks uses. Why this is sound: docs/decisions/0047.
"""
