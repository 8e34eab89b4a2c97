"""The Pulumi package: five components for programs in any language, that build what the fleet's stacks build.

Their arguments are texts and maps, so that every language has them; whatever they build, stacks/ builds.
"""
