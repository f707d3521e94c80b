"""Training policies: one PPO for every backend (docs/training.md).

`config` says how to train and knows nothing of JAX. `fused` trains in a JAX environment, `remote` has a candidate's sandbox
do so, `host` trains in any environment behind the protocol. `evaluate` plays a trained policy.
"""
