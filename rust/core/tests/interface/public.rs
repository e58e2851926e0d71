//! The named types' facts, the texts of errors, and long fills.

use std::sync::Arc;

use stairnoise::{
    AnyMechanism, Arete, DiscreteCanonical, DiscreteGaussian, DiscreteGaussians, DiscreteLaplace, DiscreteStaircase, DrawError,
    Gamma, Gaussian, GaussianParameters, GeneralizedDiscreteLaplace, Generator, Holds, Kind, Laplace, LatticeNoise, Mechanism,
    MergedLaplace, MultiScaleDiscreteLaplace, MultivariateStaircase, Norm, OneWordMechanism, ParamError, Parameters,
    PartitionSelection, PerElement, R, Selection, Shape, Shapes, Share, Skellam, Staircase, TruncatedDiscreteStaircase,
    TruncatedLaplace, TruncatedStaircase, cpu_tier, cpu_tiers,
};

/// Evidence: the given parameters, and the lattices by the contract's formula, section 3.
#[test]
fn a_mechanism_tells_its_parameters_and_its_lattice() {
    let staircase = Staircase::new(4.0, 3.0, Gamma::L2).unwrap();
    assert_eq!((staircase.eps(), staircase.sensitivity()), (4.0, 3.0));
    assert_eq!(
        staircase.granularity(),
        1.0 / (1_u64 << 34) as f64,
        "1 − 32 − min(20, ⌊0.75·4⌋)"
    );
    let laplace = Laplace::new(4.0, 3.0).unwrap();
    assert_eq!((laplace.eps(), laplace.sensitivity()), (4.0, 3.0));
    assert_eq!(laplace.granularity(), 1.0 / (1_u64 << 34) as f64, "1 − 32 − (⌊log₂ 4⌋ + 1)");
    let counts = DiscreteLaplace::new(0.5, 7).unwrap();
    assert_eq!((counts.eps(), counts.sensitivity(), counts.granularity()), (0.5, 7, 1.0));
    let stairs = DiscreteStaircase::new(0.5, 7, R::Value(3)).unwrap();
    assert_eq!((stairs.eps(), stairs.sensitivity(), stairs.granularity()), (0.5, 7, 1.0));
    assert_eq!(OneWordMechanism::from(stairs).r(), Some(3));
    let mechanism = OneWordMechanism::from(counts);
    assert_eq!(
        (mechanism.kind(), mechanism.sensitivity_steps(), mechanism.r()),
        (Kind::DiscreteLaplace, 7, None)
    );
    assert_eq!(DiscreteGaussian::new(2.5).unwrap().sigma2(), 2.5);
    let truncated = TruncatedLaplace::new(0.5, 0.25, 3.0, None, None).unwrap();
    assert_eq!(truncated.sensitivity_steps() as f64 * truncated.granularity(), 3.0);
    assert_eq!(MergedLaplace::new(&[0.5], &[], 3.0).unwrap().breaks(), []);
    assert_eq!(Selection::exponential(0.5, 3.0, true).unwrap().eps(), 0.5);
}

/// A seed that releases accept.
fn releasing(seed: u128) -> Generator {
    Generator::from_seed(seed).allow_release()
}

/// One of every mechanism, with its sensitivity in steps and its own lengths.
fn every_mechanism() -> Vec<(Box<dyn AnyMechanism>, u64, Vec<u64>)> {
    let truncated = TruncatedLaplace::new(0.5, 0.25, 1.0, None, None).unwrap();
    let merged = MergedLaplace::new(&[0.25, 0.5], &[1.0], 1.0).unwrap();
    let vectors = MultivariateStaircase::new(4.0, 1.0, 2, 0.3, Norm::LInf).unwrap();
    let (below, above) = truncated.bounds();
    let (breaks, r) = (merged.breaks().to_vec(), vectors.r());
    // Steps of 2⁻³², for sensitivity 1 and a small ε.
    let staircase = Staircase::new(0.5, 1.0, Gamma::Value(0.25)).unwrap();
    vec![
        (Box::new(staircase), 1 << 32, vec![1 << 30]),
        (Box::new(DiscreteStaircase::new(0.5, 7, R::Value(3)).unwrap()), 7, vec![3]),
        (Box::new(Laplace::new(0.5, 1.0).unwrap()), 1 << 32, vec![]),
        (Box::new(DiscreteLaplace::new(0.5, 7).unwrap()), 7, vec![]),
        (Box::new(truncated), 1 << 32, vec![below, above]),
        (
            Box::new(TruncatedDiscreteStaircase::new(1.0, 1e-6, 10, 4, Some(0), None).unwrap()),
            10,
            vec![4, 136, 136, 0],
        ),
        (
            Box::new(TruncatedStaircase::new(0.5, 0.5, 1.0, 1.0, None, Some(0.0)).unwrap()),
            1 << 32,
            vec![1 << 32, 1 << 32, 0, 1 << 32],
        ),
        (Box::new(DiscreteCanonical::new(1.0, 1e-6).unwrap()), 1, vec![14]),
        (Box::new(merged), 1 << 32, breaks),
        (Box::new(LatticeNoise::new(&[1.0; 3], None, 0.25, 0.75).unwrap()), 3, vec![]),
        (Box::new(DiscreteGaussian::new(9.0).unwrap()), 0, vec![]),
        (Box::new(Gaussian::scaled(9.0, -2).unwrap()), 0, vec![]),
        (Box::new(Skellam::new(9.0, Share::WHOLE).unwrap()), 0, vec![]),
        (Box::new(Arete::new(1.0, 1.0, 1.0, Share::WHOLE).unwrap()), 0, vec![]),
        (
            Box::new(GeneralizedDiscreteLaplace::new(0.25, 0.5, Share::WHOLE).unwrap()),
            0,
            vec![],
        ),
        (
            Box::new(MultiScaleDiscreteLaplace::new(1.0, 7.0, Share::WHOLE).unwrap()),
            7,
            vec![],
        ),
        // log2 g = −32 − ⌊1.5·4/3⌋.
        (Box::new(vectors), 1 << 34, vec![r]),
    ]
}

/// Evidence: lengths from the parameters by the contract's formulas; equality of pieces with the whole; refusals by their rule.
#[test]
fn every_mechanism_can_do_the_same() {
    for (mechanism, sensitivity_steps, lengths) in every_mechanism() {
        assert_eq!(
            (mechanism.sensitivity_steps(), mechanism.lengths()),
            (sensitivity_steps, &lengths[..]),
            "{mechanism:?}"
        );
        let (mut whole, mut shared, mut released) = ([0.0; 12], [0.0; 12], [0.0; 12]);
        mechanism.fill(&mut Generator::from_seed(2), &mut whole).unwrap();
        mechanism.fill_parallel(&mut Generator::from_seed(2), &mut shared, 2).unwrap();
        mechanism.release(&mut releasing(2), &[0.0; 12], &mut released).unwrap();
        assert_eq!((shared, released), (whole, whole), "{mechanism:?}");
        assert!(whole.iter().all(|x| x % mechanism.granularity() == 0.0), "{mechanism:?}");
        let fill = mechanism.next_fill(&mut Generator::from_seed(2), 12).unwrap();
        let (mut steps, mut piece) = ([0_i64; 12], [0.0; 5]);
        fill.write(0, &mut steps).unwrap();
        fill.write(7, &mut piece).unwrap();
        assert_eq!(piece, whole[7..], "{mechanism:?}");
        fill.release(7, &[0_i64; 5], &mut piece).unwrap();
        assert_eq!(piece, whole[7..], "{mechanism:?}");
        assert!(
            steps
                .iter()
                .zip(whole)
                .all(|(steps, x)| *steps as f64 * mechanism.granularity() == x),
            "{mechanism:?}"
        );
        let mut generator = releasing(2);
        let refused = if mechanism.granularity() == 1.0 {
            Ok(())
        } else {
            Err(DrawError::NotWhole)
        };
        assert_eq!(mechanism.fill(&mut generator, &mut steps), refused, "{mechanism:?}");
        assert_eq!(
            mechanism.fill_parallel(&mut generator, &mut steps, 2),
            refused,
            "{mechanism:?}"
        );
        assert_eq!(
            mechanism.release(&mut generator, &[0_i64; 12], &mut steps),
            refused,
            "{mechanism:?}"
        );
        assert_eq!(
            mechanism.check_answers(&[1.0, f64::NAN]),
            Err(DrawError::NotFinite(1)),
            "{mechanism:?}"
        );
    }
}

/// Evidence: a named type draws and releases the values of the mechanism that it converts to.
#[test]
fn named_types_release_as_their_mechanisms() {
    let answers = [3_i64, -5, 1 << 40];
    let (mut named, mut general) = ([0_i64; 3], [0_i64; 3]);
    let mechanism = DiscreteLaplace::new(0.5, 7).unwrap();
    mechanism.release(&mut releasing(8), &answers, &mut named).unwrap();
    OneWordMechanism::from(mechanism)
        .release(&mut releasing(8), &answers, &mut general)
        .unwrap();
    assert_eq!(named, general);
    assert_ne!(named, answers);
    let (mut named, mut general) = ([0.0; 3], [0.0; 3]);
    let mechanism = Laplace::new(0.5, 7.0).unwrap();
    mechanism.fill(&mut releasing(8), &mut named).unwrap();
    OneWordMechanism::from(mechanism)
        .fill(&mut releasing(8), &mut general)
        .unwrap();
    assert_eq!(named, general);
    assert_ne!(named, [0.0; 3]);
}

/// Evidence: equality of one thread's values with several threads', for a length that is split and both kinds of mechanisms.
#[test]
fn any_number_of_threads_draws_the_same() {
    // Miri is slow, and its pieces are shorter.
    let n = if cfg!(miri) { 257 } else { 300_001 };
    let counts: &[usize] = if cfg!(miri) { &[3] } else { &[0, 1, 2, 3] };
    let (mechanism, staged) = (Laplace::new(1.0, 1.0).unwrap(), DiscreteGaussian::new(9.0).unwrap());
    let (mut alone, mut shared) = (vec![0.0; n], vec![0.0; n]);
    mechanism.fill(&mut Generator::from_seed(5), &mut alone).unwrap();
    for &threads in counts {
        mechanism
            .fill_parallel(&mut Generator::from_seed(5), &mut shared, threads)
            .unwrap();
        assert_eq!(shared, alone, "{threads} threads");
    }
    let (mut alone, mut shared) = (vec![0_i64; n], vec![0_i64; n]);
    staged.fill(&mut Generator::from_seed(5), &mut alone).unwrap();
    for &threads in counts {
        staged
            .fill_parallel(&mut Generator::from_seed(5), &mut shared, threads)
            .unwrap();
        assert_eq!(shared, alone, "{threads} threads");
    }
}

#[test]
fn refusals_of_a_draw_say_the_rule_and_the_value() {
    let mut generator = releasing(1);
    let mechanism = OneWordMechanism::from(Laplace::new(1.0, 1.0).unwrap());
    let selection = Selection::staircase(1.0, 1.0, 0.5, false).unwrap();
    let text = |error: DrawError| error.to_string();
    let lengths = mechanism.release(&mut generator, &[1.0], &mut [0.0; 2]).unwrap_err();
    assert_eq!(
        text(lengths),
        "out must be as long as the answers, got 2 places for 1 answers"
    );
    let infinite = mechanism
        .release(&mut generator, &[1.0, f64::INFINITY], &mut [0.0; 2])
        .unwrap_err();
    assert_eq!(text(infinite), "values must be finite, got nan or inf at index 1");
    let candidates = selection.select(&mut generator, &[1.0; 3], &mut [0; 2]).unwrap_err();
    assert!(text(candidates).ends_with("got 3 costs in 2 rows"));
    let none = selection.select_often(&mut generator, &[], &mut [0; 2]).unwrap_err();
    assert!(text(none).ends_with("got 0 costs in 1 rows"));
    let negative = selection.select(&mut generator, &[1.0, -1.0], &mut [0; 1]).unwrap_err();
    assert!(text(negative).contains("the one at index 1 is not"));
    let none = selection
        .top(&mut generator, &[1.0, f64::INFINITY], 2, &mut [0; 2])
        .unwrap_err();
    assert_eq!(
        text(none),
        "costs must have at least 2 finite ones in every row: row 0 has fewer"
    );
    let mut far = generator.at((1 << 62) - 1).unwrap();
    assert_eq!(far.start(), (1 << 62) - 1);
    assert_eq!(
        text(far.next(2).err().unwrap()),
        "the last index of a fill must be below 2**62"
    );
    assert_eq!(
        text(Skellam::new(1.0, Share::WHOLE).unwrap().next_fill(&mut far, 1).err().unwrap()),
        "the last index of a fill of this mechanism must be below 2**40"
    );
    assert_eq!(text(DrawError::FillsExhausted), "the generator has made its 2**48 fills");
    assert_eq!(text(DrawError::OutOfMemory), "the system has no memory left");
    assert_eq!(
        text(DrawError::NotWhole),
        "out must be of floats for a mechanism of other numbers than integers, got integers"
    );
    assert_eq!(generator.next_fill(), 0, "nothing was drawn");
}

#[test]
fn refusals_of_a_mechanism_name_the_parameter() {
    let wide = MultiScaleDiscreteLaplace::new(1.0, 65_537.0, Share::WHOLE).unwrap_err();
    assert_eq!(wide.to_string(), "sensitivity must be at most 2**16, got 65537.0");
    let coarse = Arete::new(1.0, 1e300, 1e300, Share::WHOLE).unwrap_err();
    assert!(
        coarse
            .to_string()
            .starts_with("lam must be such that the lattice step is from")
    );
    assert_eq!(ParamError::OutOfMemory.to_string(), "the system has no memory left");
    assert_eq!(ParamError::NotWhole.to_string(), DrawError::NotWhole.to_string());
    let small = Gaussian::scaled(1.0, -1075).unwrap_err();
    assert_eq!(small.to_string(), "log2_granularity must be from -1074 to 960, got -1075.0");
}

#[test]
fn the_instruction_set_in_use_is_one_of_those_there_are() {
    let tiers = cpu_tiers();
    assert_eq!(tiers[0], "portable");
    assert!(cpu_tier().map_or_else(|text| text.contains("STAIRNOISE_CPU"), |tier| tiers.contains(&tier)));
}

/// Evidence: an integer that f64 cannot represent is refused, and not rounded down.
#[test]
fn integers_that_floats_do_not_hold_are_refused() {
    let odd = (1_u64 << 53) + 1;
    let text = |error: stairnoise::ParamError| error.to_string();
    for wide in [odd, u64::MAX] {
        let refused = format!("must be exactly representable in float64, got {wide}");
        assert_eq!(
            text(DiscreteLaplace::new(4.0, wide).unwrap_err()),
            format!("sensitivity {refused}")
        );
        assert_eq!(
            text(DiscreteStaircase::new(4.0, wide, R::L1).unwrap_err()),
            format!("sensitivity {refused}")
        );
        assert_eq!(
            text(DiscreteStaircase::new(4.0, odd - 1, R::Value(wide)).unwrap_err()),
            format!("r {refused}")
        );
    }
    assert_eq!(DiscreteLaplace::new(4.0, odd - 1).unwrap().sensitivity(), odd - 1);
    assert_eq!(
        stairnoise::largest_quotient(1.0, odd),
        stairnoise::largest_quotient(1.0, odd + 1)
    );
}

/// Evidence: by the text of the guarantee. 3797 released as lattice steps would be 32 590 602 488 184.
#[test]
fn no_mechanism_of_other_numbers_is_released_into_integers() {
    let mut generator = releasing(1);
    let (mut whole, mut wide) = ([7_i32], [7_i64]);
    let mechanism = OneWordMechanism::from(Laplace::new(1.0, 1.0).unwrap());
    assert_eq!(
        mechanism.release(&mut generator, &[3797.0], &mut whole),
        Err(DrawError::NotWhole)
    );
    assert_eq!(
        mechanism.release(&mut generator, &[3797_i64], &mut wide),
        Err(DrawError::NotWhole)
    );
    let staged: Box<dyn AnyMechanism> = Box::new(Arete::new(1.0, 1.0, 1.0, Share::WHOLE).unwrap());
    assert_eq!(
        staged.release(&mut generator, &[3797_i64], &mut wide),
        Err(DrawError::NotWhole)
    );
    assert_eq!((whole, wide, generator.next_fill()), ([7], [7], 0));
    let counts = DiscreteGaussian::new(9.0).unwrap();
    counts.release(&mut generator, &[3797_i64], &mut wide).unwrap();
    assert!((wide[0] - 3797).abs() < 1000);
}

/// Evidence: the limit of contract, section 4, by its definition.
#[test]
fn answers_that_do_not_fit_the_lattice_are_refused() {
    let mut generator = releasing(1);
    let mechanism = Laplace::new(1.0, 1e-20).unwrap();
    let limit = mechanism.granularity() * 2_f64.powi(126);
    let mut released = [7.0; 2];
    let refused = mechanism.release(&mut generator, &[1.0, limit], &mut released).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "values must be below 2**126 times the granularity in magnitude, got a larger one at index 1"
    );
    assert_eq!((released, generator.next_fill()), ([7.0; 2], 0));
    mechanism
        .release(&mut generator, &[1.0, limit.next_down()], &mut released)
        .unwrap();
    assert!((released[1] / limit - 1.0).abs() < 1e-15);
}

/// Evidence: equality of every form of a draw and of a release with [`Mechanism::fill`] and [`Mechanism::release`] of the same fill.
#[test]
fn every_form_gives_the_values_of_the_fill() {
    fn check<L: Mechanism>(mechanism: &L)
    where
        L::Value: Holds<L> + PartialEq + std::fmt::Debug,
    {
        let answers = [40.25, -3.0, 0.0, 1e6, 7.5];
        let mut noise = [L::Value::default(); 5];
        mechanism.fill(&mut releasing(3), &mut noise).unwrap();
        assert_eq!(mechanism.draw_vec(&mut releasing(3), 5).unwrap(), noise, "{mechanism:?}");
        assert_eq!(mechanism.draw(&mut releasing(3)).unwrap(), noise[0], "{mechanism:?}");
        let mut released = noise;
        mechanism.release(&mut releasing(3), &answers, &mut released).unwrap();
        assert_eq!(
            mechanism.release_vec(&mut releasing(3), &answers).unwrap(),
            released,
            "{mechanism:?}"
        );
        assert_eq!(
            mechanism.release_one(&mut releasing(3), answers[0]).unwrap(),
            released[0],
            "{mechanism:?}"
        );
        let mut generator = releasing(3);
        assert!(mechanism.draw_vec(&mut generator, 0).unwrap().is_empty());
        assert_eq!(
            mechanism.draw_vec(&mut generator, usize::MAX / 8),
            Err(DrawError::OutOfMemory)
        );
        assert_eq!(mechanism.release_one(&mut generator, f64::NAN), Err(DrawError::NotFinite(0)));
        assert_eq!(generator.next_fill(), 1, "an empty fill counts, a refused one does not");
    }
    check(&Staircase::new(0.5, 3.0, Gamma::L1).unwrap());
    check(&Laplace::new(0.5, 3.0).unwrap());
    check(&DiscreteStaircase::new(0.5, 3, R::L2).unwrap());
    check(&DiscreteLaplace::new(0.5, 3).unwrap());
    check(&DiscreteGaussian::new(9.0).unwrap());
    for (mechanism, ..) in every_mechanism() {
        check(&mechanism);
    }
}

/// Evidence: the compiler. Values need no annotation, and a pointer to a mechanism is a mechanism.
#[test]
fn values_have_the_type_of_their_mechanism() {
    fn first<L: Mechanism>(mechanism: L) -> L::Value {
        mechanism.draw(&mut Generator::from_seed(1)).unwrap()
    }
    fn of_any(mechanism: &dyn AnyMechanism) -> f64 {
        mechanism.draw(&mut Generator::from_seed(1)).unwrap()
    }

    let counts = DiscreteLaplace::new(1.0, 1).unwrap();
    let whole = counts.draw(&mut Generator::from_seed(1)).unwrap();
    assert_eq!(whole.count_ones(), i64::count_ones(whole));
    let real = Laplace::new(1.0, 1.0).unwrap().draw(&mut Generator::from_seed(1)).unwrap();
    assert_eq!(real.to_bits(), f64::to_bits(real));
    // Mechanisms by reference, in a box, shared, and chosen at run time.
    assert_eq!(first(&counts), whole);
    assert_eq!(first(Box::new(counts.clone())), whole);
    assert_eq!(first(Arc::new(counts.clone())), whole);
    assert_eq!(of_any(&counts), whole as f64);
    let boxed: Box<dyn AnyMechanism> = Box::new(counts);
    assert_eq!(boxed.draw(&mut Generator::from_seed(1)).unwrap(), whole as f64);
    let mut narrow = [0_i32];
    boxed.fill(&mut Generator::from_seed(1), &mut narrow).unwrap();
    assert_eq!(i64::from(narrow[0]), whole);
}

/// Evidence: by the rule. Every release and selection refuses a seed, its children and its views, and takes no fill; keys are accepted.
#[test]
fn releases_refuse_a_seed() {
    let mechanism = DiscreteLaplace::new(1.0, 1).unwrap();
    let selection = Selection::exponential(1.0, 1.0, false).unwrap();
    let groups = PartitionSelection::new(1.0, 1e-6, 1).unwrap();
    let parameters = Parameters {
        eps: &[1.0],
        sensitivity: &[1.0],
        shape: Shapes::Same(Shape::L1),
    };
    let gaussians = GaussianParameters {
        sigma2: &[9.0],
        log2_granularity: &[0],
    };
    let all = |generator: &mut Generator| -> Vec<Result<(), DrawError>> {
        vec![
            mechanism.release(generator, &[5_i64], &mut [0_i64]),
            mechanism.release_one(generator, 5_i64).map(drop),
            mechanism.release_vec(generator, &[5_i64]).map(drop),
            selection.select(generator, &[1.0], &mut [0]),
            selection.select_often(generator, &[1.0], &mut [0]),
            selection.top(generator, &[1.0], 1, &mut [0]),
            groups.select(generator, &[5], &mut [false]),
            groups.release(generator, &[5], &mut [0]),
            PerElement::new(Kind::DiscreteLaplace).release(generator, &[5_i64], &mut [0_i64], &parameters),
            DiscreteGaussians::new().release(generator, &[5_i64], &mut [0_i64], &gaussians),
        ]
    };
    let itself: fn(Generator) -> Generator = |generator| generator;
    let forms = [
        itself,
        |mut parent| parent.spawn().unwrap(),
        |mut parent| parent.children(2).unwrap().child(1).unwrap(),
        |mut whole| whole.at(3).unwrap(),
    ];
    for form in forms {
        let mut seeded = form(Generator::from_seed(1));
        assert!(all(&mut seeded).iter().all(|done| *done == Err(DrawError::Seeded)));
        assert_eq!((seeded.next_fill(), seeded.check_release()), (0, Err(DrawError::Seeded)));
        mechanism.draw(&mut seeded).unwrap();
        for mut generator in [releasing(1), Generator::from_key(&[1; 32]), Generator::from_os().unwrap()].map(form) {
            assert!(all(&mut generator).iter().all(Result::is_ok));
            assert_eq!(generator.next_fill(), 10);
        }
    }
    let view = |mut generator: Generator| generator.next_view(1).unwrap().check_release();
    assert_eq!(view(Generator::from_seed(1)), Err(DrawError::Seeded));
    assert_eq!(view(releasing(1)), Ok(()));
    let text = DrawError::Seeded.to_string();
    assert!(text.contains("secret key") && text.contains("Generator::from_seed(seed).allow_release()"));
}

/// Evidence: value i is that of the mechanism of parameters i; refusals by their rule, before a fill is taken.
#[test]
fn mechanisms_with_parameters_of_their_own_are_filled_and_released_at_once() {
    let (eps, sensitivity, r) = ([0.5, 0.01, 3.0], [7.0, 1.0, 9.0], [3.0, 1.0, 9.0]);
    let parameters = Parameters {
        eps: &eps,
        sensitivity: &sensitivity,
        shape: Shapes::Numbers(&r),
    };
    let mut mechanisms = PerElement::new(Kind::DiscreteStaircase);
    let (mut noise, mut released) = ([0_i64; 3], [0_i64; 3]);
    mechanisms.fill(&mut releasing(4), &mut noise, &parameters).unwrap();
    mechanisms
        .release(&mut releasing(4), &[3797_i64, 485, 161], &mut released, &parameters)
        .unwrap();
    for i in 0..3 {
        let mechanism = OneWordMechanism::new(Kind::DiscreteStaircase, eps[i], sensitivity[i], Shape::Number(r[i])).unwrap();
        let mut alone = [0_i64];
        mechanism.fill(&mut releasing(4).at(i as u64).unwrap(), &mut alone).unwrap();
        assert_eq!([noise[i], released[i] - [3797, 485, 161][i]], [alone[0]; 2], "value {i}");
    }
    let mut generator = releasing(4);
    let error = mechanisms.fill(&mut generator, &mut [0_i64; 2], &parameters).unwrap_err();
    assert_eq!(
        error.to_string(),
        "every parameter must have as many values as out has places, got 3 values for 2 places"
    );
    let bad = Parameters {
        eps: &[1.0, 1.0, f64::NAN],
        ..parameters
    };
    let error = mechanisms
        .release(&mut generator, &[1_i64; 3], &mut released, &bad)
        .unwrap_err();
    assert_eq!(error.to_string(), "eps must be finite and greater than 0, got nan at index 2");
    let error = mechanisms
        .release(&mut generator, &[1_i64; 2], &mut released, &parameters)
        .unwrap_err();
    assert_eq!(error, DrawError::Lengths { answers: 2, out: 3 });
    let error = mechanisms.release(&mut generator, &[0.0, f64::INFINITY, 0.0], &mut released, &parameters);
    assert_eq!(error, Err(DrawError::NotFinite(1)));
    let error = PerElement::new(Kind::Laplace).fill(&mut generator, &mut noise, &parameters);
    assert_eq!(error, Err(DrawError::NotWhole));
    assert_eq!(generator.next_fill(), 0);
}

/// Evidence: value i is that of the mechanism of parameters i; refusals by their rule, before a fill is taken.
#[test]
fn gaussian_mechanisms_with_parameters_of_their_own_are_filled_and_released_at_once() {
    let parameters = GaussianParameters {
        sigma2: &[9.0, 1e20],
        log2_granularity: &[0, -33],
    };
    let mut mechanisms = DiscreteGaussians::new();
    let (mut noise, mut released) = ([0.0; 2], [0.0; 2]);
    mechanisms.fill(&mut releasing(4), &mut noise, &parameters).unwrap();
    mechanisms
        .release(&mut releasing(4), &[0_i64; 2], &mut released, &parameters)
        .unwrap();
    assert_eq!(noise, released);
    let second = Gaussian::scaled(1e20, -33).unwrap();
    assert_eq!(noise[1], second.draw(&mut releasing(4).at(1).unwrap()).unwrap());
    let mut generator = releasing(4);
    assert_eq!(
        mechanisms.fill(&mut generator, &mut [0_i64; 2], &parameters),
        Err(DrawError::NotWhole)
    );
    let few = DrawError::ParameterCount { values: 2, out: 3 };
    assert_eq!(mechanisms.fill(&mut generator, &mut [0.0; 3], &parameters), Err(few));
    let bad = GaussianParameters {
        sigma2: &[9.0, -1.0],
        ..parameters
    };
    let error = mechanisms
        .release(&mut generator, &[0.0; 2], &mut released, &bad)
        .unwrap_err();
    assert_eq!(error.to_string(), "sigma2 must be from 2**-20 to 2**90, got -1.0 at index 1");
    assert_eq!(
        mechanisms.release(&mut generator, &[0.0, f64::NAN], &mut released, &parameters),
        Err(DrawError::NotFinite(1))
    );
    assert_eq!(generator.next_fill(), 0);
}
