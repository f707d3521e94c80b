"""What the operator of this machine allows. Nobody below can weaken it: no agent, no task, no record."""
