"""What a record proves: audited, reached again, and signed as a whole."""
