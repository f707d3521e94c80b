"""The demo: a scripted agent repairs a faulty CartPole translation through the server, as any client would."""
