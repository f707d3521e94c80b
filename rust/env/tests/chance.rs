//! Draws: from a tape, in order and to the last; or by their laws, remembered.

use lockstep_env::{Chance, Draw, Drawn, Draws, Numbers, Recorded, Rng, Tape};

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

#[test]
fn a_tape_gives_what_it_holds() {
    let drawn = given("serve");
    let mut tape = Tape::new(&drawn);
    assert_eq!(both(&mut tape), (-3, [1.5, -2.0]));
    assert_eq!(tape.end(), Ok(()));
}

#[test]
fn what_was_recorded_is_a_tape_of_the_same() {
    let mut chance = Chance::new(3);
    let mut recorded = Recorded::new(&mut chance);
    let first = both(&mut recorded);
    let drawn = recorded.drawn;
    let mut tape = Tape::new(&drawn);
    assert_eq!(both(&mut tape), first);
    assert_eq!(tape.end(), Ok(()));
    assert_eq!(both(&mut Chance::new(3)), first, "recording changes nothing");
    assert_ne!(both(&mut chance), first, "chance goes on");
}

#[test]
fn a_draw_of_another_name_is_named() {
    let drawn = given("roll");
    let mut tape = Tape::new(&drawn);
    both(&mut tape);
    assert_eq!(tape.end(), Err("a draw `serve` was made where the tape has `roll`".into()));
}

#[test]
fn a_draw_that_is_left_over_is_named() {
    let drawn = given("serve");
    let mut tape = Tape::new(&drawn);
    tape.draw(&SERVE, |_| 0);
    assert_eq!(tape.end(), Err("the draw `wind` is left over (2 of 2)".into()));
}

#[test]
fn a_draw_too_many_is_named() {
    let mut tape = Tape::new(&[]);
    tape.draw(&SERVE, |_| 0);
    assert_eq!(tape.end(), Err("a draw `serve` was made, but the tape has no more than 0".into()));
}

#[test]
fn a_draw_of_another_type_or_shape_is_named() {
    for (numbers, shape, shown) in
        [(Numbers::Int64(vec![1]), vec![], "int64[]"), (Numbers::Int32(vec![1]), vec![1], "int32[1]")]
    {
        let drawn = [Drawn { name: "serve".into(), numbers, shape }];
        let mut tape = Tape::new(&drawn);
        tape.draw(&SERVE, |_| 0);
        assert_eq!(tape.end(), Err(format!("the draw `serve` is {shown}; the environment takes int32[]")));
    }
}
