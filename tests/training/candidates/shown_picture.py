import cue

globals().update(cue.make("shown", "picture"))
