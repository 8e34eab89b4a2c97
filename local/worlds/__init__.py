"""What a cloud's server holds, kept on disk: every call before its answer, and all of it now and then.

`moment` has a call see one time and chance that can be repeated, `journal` keeps calls, `pickles` all that there is,
and `world` puts them together. docs/decisions/0048 says why so.
"""
