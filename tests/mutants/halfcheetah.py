"""Wrong candidates of HalfCheetah: physics with one thing wrong, in every part of MuJoCo's step."""

from __future__ import annotations

from tests.mutants.plant import Mutant


def _fault(name: str, file: str, before: str, after: str, path: str, module: str) -> Mutant:
    return Mutant(name, ((before, after),), 1, path, module=module, file=file)


def _kinematics(name: str, file: str, before: str, after: str, path: str = "probe/kinematics/.*") -> Mutant:
    return _fault(name, file, before, after, path, "kinematics")


def _inertia(name: str, file: str, before: str, after: str) -> Mutant:
    return _fault(name, file, before, after, "probe/mass_matrix/matrix", "inertia")


def _forces(name: str, file: str, before: str, after: str, probe: str) -> Mutant:
    return _fault(name, file, before, after, f"probe/{probe}/force", "forces")


def _constraints(name: str, file: str, before: str, after: str, output: str) -> Mutant:
    return _fault(name, file, before, after, f"probe/constraints/{output}", "constraints")


def _solver(name: str, file: str, before: str, after: str) -> Mutant:
    return _fault(name, file, before, after, "probe/solver/.*", "solver")


def _way(name: str, file: str, before: str, after: str) -> Mutant:
    """A fault that leads the solver another way to nearly the same end: it shows in few steps, and any level may meet them."""
    return Mutant(name, ((before, after),), 2, ".*", file=file)


def _integration(name: str, file: str, before: str, after: str, path: str = "probe/advance/.*") -> Mutant:
    return _fault(name, file, before, after, path, "integration")


MUTANTS = (
    _kinematics("the torso hangs a centimetre lower", "physics.py", "qpos[1] + OFFSETS[0][1]", "qpos[1] + 0.69"),
    _kinematics("bodies turn the other way in z", "physics.py", "cos * place[1] - sin", "cos * place[1] + sin"),
    _kinematics(
        "the front shin hangs on the back leg",
        "physics.py",
        "_at(pose, part - 1, OFFSETS[part])",
        "_at(pose if part != 2 else pose._replace(cos=[pose.cos[0], pose.cos[1][:1]], sin=[pose.sin[0], pose.sin[1][:1]]), part - 1, OFFSETS[part])",
    ),
    _kinematics(
        "the front foot does not turn with its shin",
        "physics.py",
        "angle = angle + turned",
        "angle = angle + turned - (jnp.stack([0 * turned[0], qpos[4][1]]) if part == 3 else 0.0)",
    ),
    _kinematics("the head leans by a hundredth less", "model.py", "-np.pi / 2, 0.87,", "-np.pi / 2, 0.86,"),
    _kinematics("a capsule's far end is its middle", "model.py", "CAPSULE_CENTER - _AXIS]", "CAPSULE_CENTER]"),
    _kinematics("one center of mass has eight digits", "model.py", "0.15238987816307403", "0.15238988"),
    _inertia(
        "sliding has armature, too",
        "physics.py",
        "Mass(pose.hinge, weights, ARMATURES)",
        "Mass(pose.hinge, [weights[0]._replace(xx=weights[0].xx + 0.1, zz=weights[0].zz + 0.1), *weights[1:]], ARMATURES)",
    ),
    _inertia("one moment has nine digits", "model.py", "0.003529109456066946", "0.00352910945"),
    _inertia("one mass has eight digits", "model.py", "1.200836820083682", "1.2008368"),
    _inertia(
        "the torso has no moment of its own",
        "physics.py",
        "(x * x + z * z) + inertia",
        "(x * x + z * z) + (inertia if weights else 0.0)",
    ),
    _forces(
        "one term of turning has the wrong sign",
        "physics.py",
        "spin, pose.hinge[part], pose.center[part])",
        "spin, pose.center[part], pose.hinge[part])",
        "bias",
    ),
    _forces(
        "hinges are pulled by their own body",
        "physics.py",
        "pulled = _pulled(pulled, spin, pose.hinge[part - 1]",
        "pulled = _pulled(pulled, spin + qvel[2 + part], pose.hinge[part - 1]",
        "bias",
    ),
    _forces("gravity has two digits", "model.py", "GRAVITY = 9.81", "GRAVITY = 9.8", "bias"),
    _forces(
        "turning is computed in float32",
        "physics.py",
        "spin = spin + qvel[2 + part]",
        "spin = (spin + qvel[2 + part]).astype(jnp.float32).astype(jnp.float64)",
        "bias",
    ),
    _forces(
        "one spring is weaker",
        "model.py",
        "180.0, 120.0, 180.0, 120.0, 60.0",
        "180.0, 120.0, 180.0, 120.0, 59.9",
        "passive",
    ),
    _forces("dampers of one leg are swapped", "model.py", "6.0, 4.5, 3.0, 4.5", "6.0, 3.0, 4.5, 4.5", "passive"),
    _forces("dampers push", "physics.py", "astype(FLOAT) - damping", "astype(FLOAT) + damping", "passive"),
    _forces("motors of one leg are swapped", "model.py", "120.0, 60.0, 30.0]", "120.0, 30.0, 60.0]", "actuation"),
    _fault("one range is narrower", "model.py", "[-0.52, -0.785,", "[-0.52, -0.78,", "probe/limits/.*", "contacts"),
    _fault(
        "joints are pushed to the further end",
        "constraints.py",
        "below < above",
        "below > above",
        "probe/limits/towards",
        "contacts",
    ),
    _fault("capsules are thinner", "model.py", "RADIUS = 0.046", "RADIUS = 0.0459", "probe/contacts/.*", "contacts"),
    _constraints(
        "the ground pushes at the surface of the capsule",
        "constraints.py",
        "(distance * 0.5 + RADIUS)",
        "(distance + RADIUS)",
        "jacobian",
    ),
    _constraints("friction is larger", "model.py", "FRICTION = 0.4", "FRICTION = 0.41", "jacobian"),
    _constraints(
        "the pyramid has an edge twice",
        "constraints.py",
        "up - FRICTION * forwards",
        "up + FRICTION * forwards",
        "jacobian",
    ),
    _constraints(
        "contacts are as soft as limits", "model.py", "CONTACT_WIDTH = 0.03, 0.01", "CONTACT_WIDTH = 0.03, 0.03", ".*"
    ),
    _constraints(
        "limits are as hard as contacts", "model.py", "CONTACT_WIDTH = 0.03, 0.01", "CONTACT_WIDTH = 0.01, 0.01", ".*"
    ),
    _constraints("the least impedance is larger", "model.py", "= 1e-4, 0.8", "= 2e-4, 0.8", ".*"),
    _constraints("the most impedance is larger", "model.py", "= 1e-4, 0.8", "= 1e-4, 0.9", ".*"),
    _constraints(
        "impedance grows along one parabola",
        "constraints.py",
        "far <= 0.5, 2 * far * far",
        "far <= 0.6, 2 * far * far",
        ".*",
    ),
    _constraints(
        "an edge is as strong as the ground",
        "constraints.py",
        "CONE = 2 * FRICTION * FRICTION",
        "CONE = 1.0",
        "strength",
    ),
    _constraints(
        "friction has no part in the weight", "constraints.py", "* (1 + FRICTION * FRICTION)", "* 1.0", "strength"
    ),
    _constraints("depth pulls", "constraints.py", "return -STIFF * impedance", "return STIFF * impedance", "wanted"),
    _constraints(
        "depth counts without impedance", "constraints.py", "STIFF * impedance * distance", "STIFF * distance", "wanted"
    ),
    _constraints(
        "wanted accelerations are computed in float32",
        "constraints.py",
        "speed = _along(pose.hinge, towards, point, qvel)",
        "speed = Along(*([one.astype(jnp.float32).astype(jnp.float64) for one in part] for part in _along(pose.hinge, towards, point, qvel)))",
        "wanted",
    ),
    _constraints(
        "two joints' weights are swapped",
        "model.py",
        "2.729788644884893, 5.893248984162904",
        "5.893248984162904, 2.729788644884893",
        "strength",
    ),
    _constraints("a body's weight has seven digits", "model.py", "0.24374928349017175", "0.2437493", "strength"),
    _solver("sideways friction counts once", "constraints.py", "TIMES = (1.0, 1.0, 2.0)", "TIMES = (1.0, 1.0, 1.0)"),
    _way(
        "the last step's accelerations are not used",
        "solver.py",
        "settled(warm.cost <= cold.cost)",
        "jnp.zeros_like(warm.cost, bool)",
    ),
    _solver(
        "the solver stops after one step",
        "solver.py",
        "MOST_ITERATIONS, TOLERANCE = 100",
        "MOST_ITERATIONS, TOLERANCE = 1",
    ),
    _solver(
        "the line search stops after one step",
        "search.py",
        "MOST_SEARCHES = 50",
        "MOST_SEARCHES = 1",
    ),
    _way("the line search is coarse", "solver.py", "SEARCH_TOLERANCE = 0.01", "SEARCH_TOLERANCE = 1e6"),
    _fault(
        "the solver is content too early",
        "solver.py",
        "TOLERANCE = 100, 1e-8",
        "TOLERANCE = 100, 1e-5",
        "state/warmstart|probe/solver/.*",
        "solver",
    ),
    _way("the solver goes on until nothing is won", "solver.py", " | (scale * to_win < TOLERANCE)", ""),
    _solver("rows that pull away are held", "solver.py", "jnp.where(slack < 0, strength, 0.0)", "strength"),
    _integration(
        "damping is explicit",
        "env.py",
        "mass._replace(stiff=plus(mass.stiff, TIME_STEP, DAMPINGS))",
        "mass",
    ),
    _integration(
        "positions move by the velocities before the step",
        "env.py",
        "qvel = plus(qvel, TIME_STEP, damped)\n    return moved(qpos, qvel), qvel",
        "return moved(qpos, qvel), plus(qvel, TIME_STEP, damped)",
    ),
    _integration(
        "the solver starts from damped accelerations",
        "env.py",
        "return moved(qpos, qvel), qvel, qacc",
        "return moved(qpos, qvel), qvel, damped",
    ),
    _integration("a step has four parts", "env.py", "SUBSTEPS = 5", "SUBSTEPS = 4", ".*"),
    _fault(
        "the control's cost is computed in float64",
        "env.py",
        "squares = _float32(",
        "squares = (",
        "probe/reward/.*",
        "reward",
    ),
    _fault(
        "the control's cost is doubled",
        "env.py",
        "CONTROL_COST = 0.1",
        "CONTROL_COST = 0.2",
        "probe/reward/reward",
        "reward",
    ),
    _fault(
        "an episode has a step more",
        "env.py",
        "state.steps >= STEP_LIMIT",
        "state.steps > STEP_LIMIT",
        "truncated",
        "reward",
    ),
    _fault("speed is that of a part of the step", "env.py", "(TIME_STEP * SUBSTEPS)", "TIME_STEP", "reward", "reward"),
    _fault(
        "an episode begins with doubled velocities", "env.py", "NOISE * draws", "2 * NOISE * draws", ".*", "integration"
    ),
)
