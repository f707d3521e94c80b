import cue

globals().update(cue.make("once"))
