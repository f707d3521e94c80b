//! Draws: by their laws, or as they were given; remembered either way.

use lockstep_env::{Chance, Draw, Drawn, Draws, Numbers, Rng};

const SERVE: Draw<i32> = Draw::new("serve");
const WIND: Draw<[f32; 2]> = Draw::new("wind");

fn both<D: Draws>(draws: &mut D) -> (i32, [f32; 2]) {
    let serve = draws.draw(&SERVE, |random| random.next_u32() as i32);
    (serve, draws.draw(&WIND, |random| [random.next_u32() as f32, 0.5]))
}

fn given(serve: &str) -> Vec<Drawn> {
    let wind = Drawn { name: "wind".into(), numbers: Numbers::Float32(vec![1.5, -2.0]), shape: vec![2] };
    vec![Drawn { name: serve.into(), numbers: Numbers::Int32(vec![-3]), shape: vec![] }, wind]
}

/// What both draws gave, and what was remembered of them.
fn taken(seed: u64, given: &[Drawn]) -> ((i32, [f32; 2]), Vec<Drawn>) {
    let mut chance = Chance::new(seed);
    chance.note(given.to_vec());
    (both(&mut chance), chance.noted())
}

#[test]
fn draws_that_are_given_are_taken() {
    assert_eq!(taken(3, &given("serve")), ((-3, [1.5, -2.0]), given("serve")));
}

#[test]
fn what_was_remembered_gives_the_same_again() {
    let (first, drawn) = taken(3, &[]);
    assert_eq!(taken(4, &drawn), (first, drawn));
    let mut chance = Chance::new(3);
    assert_eq!(both(&mut chance), first, "remembering changes nothing");
    assert_ne!(both(&mut chance), first, "chance goes on");
}

#[test]
fn a_draw_that_is_not_the_next_one_given_is_made_and_remembered_as_it_was_made() {
    let other_type = vec![Drawn { name: "serve".into(), numbers: Numbers::Int64(vec![1]), shape: vec![] }];
    let other_shape = vec![Drawn { name: "serve".into(), numbers: Numbers::Int32(vec![1]), shape: vec![1] }];
    for wrong in [given("roll"), other_type, other_shape, given("serve")[..1].to_vec()] {
        let (_, drawn) = taken(3, &wrong);
        assert_ne!(drawn, wrong);
        assert_eq!(drawn.iter().map(|each| each.name.as_str()).collect::<Vec<_>>(), ["serve", "wind"]);
    }
}

#[test]
fn a_draw_that_is_left_over_is_forgotten() {
    let mut chance = Chance::new(3);
    let drawn = given("serve");
    chance.note(drawn.clone());
    chance.draw(&SERVE, |_| 0);
    assert_eq!(chance.noted(), drawn[..1]);
    assert_ne!(both(&mut chance).1, [1.5, -2.0]);
    assert_eq!(chance.noted(), [], "nothing is noted any more");
}
