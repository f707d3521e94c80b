import cue

globals().update(cue.make("shown", masked=False))
