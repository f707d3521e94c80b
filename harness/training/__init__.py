"""Training policies: one PPO for every backend (docs/training.md).

`ppo`, `policy` and `network` are the algorithm. `fused` trains in a JAX environment, `remote` has a candidate's sandbox do
so, `host` trains in any environment behind the protocol. `evaluate` plays a trained policy. How to train is said by
`harness.task.training`, which knows nothing of JAX.
"""
