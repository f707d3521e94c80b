import cue

globals().update(cue.make("picture", masked=False))
