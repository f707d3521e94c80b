//! The numbers of the cheetah: MuJoCo's compiled model of Gymnasium 1.4.0's half_cheetah.xml.
//!
//! A torso that slides along x and z and turns about y, and two legs of three links on it. The degrees of freedom are x, z,
//! pitch, then thigh, shin and foot of the back leg and of the front leg. Vectors are (x, z), in metres.

pub const DOFS: usize = 9;
pub const BODIES: usize = 7;
pub const JOINTS: usize = 6;
pub const ENDS: usize = 16;

pub type Vector = [f64; 2];
pub type Dofs = [f64; DOFS];

pub const GRAVITY: f64 = 9.81;
pub const TIME_STEP: f64 = 0.01;

/// What each body hangs on; the torso hangs on nothing.
pub const PARENT: [usize; BODIES] = [0, 0, 1, 2, 0, 4, 5];
/// Where each body hangs on its parent.
pub const OFFSET: [Vector; BODIES] =
    [[0.0, 0.7], [-0.5, 0.0], [0.16, -0.25], [-0.28, -0.14], [0.5, 0.0], [-0.14, -0.24], [0.13, -0.18]];
/// Centers of mass, in the frames of the bodies.
pub const CENTER: [Vector; BODIES] = [
    [0.15238987816307403, 0.025398313027179008],
    [0.1, -0.13],
    [-0.14, -0.07],
    [0.03, -0.097],
    [-0.07, -0.12],
    [0.065, -0.09],
    [0.045, -0.07],
];
pub const MASS: [f64; BODIES] = [
    6.25020920502092,
    1.5435146443514645,
    1.5874476987447697,
    1.0953974895397491,
    1.4380753138075317,
    1.200836820083682,
    0.8845188284518829,
];
/// Moments about y through the centers of mass.
pub const INERTIA: [f64; BODIES] = [
    0.897117688111749,
    0.01684433958158996,
    0.018267419079497912,
    0.0063524232635983275,
    0.013739643347280341,
    0.008222108619246861,
    0.003529109456066946,
];
pub const ARMATURE: f64 = 0.1;
pub const DAMPING: Dofs = [0.0, 0.0, 0.0, 6.0, 4.5, 3.0, 4.5, 3.0, 1.5];
pub const STIFFNESS: Dofs = [0.0, 0.0, 0.0, 240.0, 180.0, 120.0, 180.0, 120.0, 60.0];
pub const GEAR: [f64; JOINTS] = [120.0, 90.0, 60.0, 120.0, 60.0, 30.0];
pub const LOWEST: [f64; JOINTS] = [-0.52, -0.785, -0.4, -1.0, -1.2, -0.5];
pub const HIGHEST: [f64; JOINTS] = [1.05, 0.785, 0.785, 0.7, 0.87, 0.5];

pub const RADIUS: f64 = 0.046;
pub const FRICTION: f64 = 0.4;
/// The body of each end of a capsule.
pub const END_BODY: [usize; ENDS] = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6];
/// The ends of the capsules' axes, in the frames of their bodies.
pub const END: [Vector; ENDS] = [
    [-0.5, 3.061616997868383e-17],
    [0.5, -3.061616997868383e-17],
    [0.7146493405538257, 0.19672398208600017],
    [0.4853506594461742, 0.0032760179139998263],
    [0.18871939418669426, -0.24469031822759044],
    [0.011280605813305769, -0.015309681772409572],
    [-0.27446086117273405, -0.13648516234985636],
    [-0.005539138827266005, -0.003514837650143668],
    [0.004927244951249871, -0.006405535741606294],
    [0.05507275504875013, -0.1875944642583937],
    [-0.003914941666783009, -0.00458004910287256],
    [-0.136085058333217, -0.23541995089712742],
    [0.005147897820126257, -0.0025144248195740904],
    [0.12485210217987375, -0.1774855751804259],
    [0.005475026862347521, -0.01222650695632252],
    [0.08452497313765248, -0.1277734930436775],
];

// How strongly a constraint resists: MuJoCo's `solref` and `solimp`, and what it derives from the model at rest.
pub const LEAST_IMPEDANCE: f64 = 1e-4;
pub const MOST_IMPEDANCE: f64 = 0.8;
pub const LIMIT_WIDTH: f64 = 0.03;
pub const CONTACT_WIDTH: f64 = 0.01;
const RESPONSE: f64 = 0.02;
pub const STIFF: f64 = 1.0 / (MOST_IMPEDANCE * MOST_IMPEDANCE * RESPONSE * RESPONSE);
pub const DAMP: f64 = 2.0 / (MOST_IMPEDANCE * RESPONSE);
pub const JOINT_WEIGHT: [f64; JOINTS] =
    [2.729788644884893, 5.893248984162904, 8.894877004054676, 3.0813926054768768, 6.882795962275771, 9.468134962769764];
pub const BODY_WEIGHT: [f64; BODIES] = [
    0.06415751945610272,
    0.09691101560963138,
    0.12720922534654552,
    0.24374928349017175,
    0.0814837948136707,
    0.1319968179007737,
    0.2661441029233887,
];
pub const SMALLEST: f64 = 1e-15;
