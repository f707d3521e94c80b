"""The demo: a scripted agent repairs a faulty CartPole translation in a session like any other."""
