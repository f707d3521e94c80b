"""The worker's side of a candidate: what turns its functions into answers of the protocol. In its sandbox alone."""
