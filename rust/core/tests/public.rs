//! What the named types, the errors and long fills say of themselves.

use stairnoise::{
    Arete, DiscreteCanonical, DiscreteGaussian, DiscreteLaplace, DiscreteStaircase, DrawError, Gamma, GeneralizedDiscreteLaplace,
    Generator, Kind, Laplace, LatticeNoise, Law, MergedLaplace, MultiScaleDiscreteLaplace, MultivariateStaircase, Norm,
    OneWordLaw, ParamError, R, Selection, Share, Skellam, Staircase, TruncatedDiscreteStaircase, TruncatedLaplace,
    TruncatedStaircase, cpu_tier, cpu_tiers,
};

/// Evidence: the parameters that were given, and the lattices by the contract's formula, section 3.
#[test]
fn a_law_tells_its_parameters_and_its_lattice() {
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
    assert_eq!(OneWordLaw::from(stairs).r(), Some(3));
    let law = OneWordLaw::from(counts);
    assert_eq!((law.kind(), law.cells(), law.r()), (Kind::DiscreteLaplace, 7, None));
    assert_eq!(DiscreteGaussian::new(2.5).unwrap().sigma2(), 2.5);
    let truncated = TruncatedLaplace::new(0.5, 0.25, 3.0, None, None).unwrap();
    assert_eq!(truncated.cells() as f64 * truncated.granularity(), 3.0);
    assert_eq!(MergedLaplace::new(&[0.5], &[], 3.0).unwrap().breaks(), []);
    assert_eq!(Selection::exponential(0.5, 3.0, true).unwrap().eps(), 0.5);
}

/// One of every law, with its sensitivity in steps and its own lengths.
fn every_law() -> Vec<(Box<dyn Law>, u64, Vec<u64>)> {
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

/// Evidence: lengths that the parameters give by the contract's formulas; equality of pieces with the whole; refusals by their rule.
#[test]
fn every_law_can_do_the_same() {
    for (law, cells, lengths) in every_law() {
        assert_eq!((law.cells(), law.lengths()), (cells, &lengths[..]), "{law:?}");
        let (mut whole, mut shared, mut released) = ([0.0; 12], [0.0; 12], [0.0; 12]);
        law.fill(&mut Generator::from_seed(2), &mut whole).unwrap();
        law.fill_parallel(&mut Generator::from_seed(2), &mut shared, 2).unwrap();
        law.release(&mut Generator::from_seed(2), &[0.0; 12], &mut released).unwrap();
        assert_eq!((shared, released), (whole, whole), "{law:?}");
        assert!(whole.iter().all(|x| x % law.granularity() == 0.0), "{law:?}");
        let fill = law.next_fill(&mut Generator::from_seed(2), 12).unwrap();
        let (mut steps, mut piece) = ([0_i64; 12], [0.0; 5]);
        fill.write(0, &mut steps).unwrap();
        fill.write(7, &mut piece).unwrap();
        assert_eq!(piece, whole[7..], "{law:?}");
        fill.release(7, &[0_i64; 5], &mut piece).unwrap();
        assert_eq!(piece, whole[7..], "{law:?}");
        assert!(
            steps
                .iter()
                .zip(whole)
                .all(|(steps, x)| *steps as f64 * law.granularity() == x),
            "{law:?}"
        );
        let mut generator = Generator::from_seed(2);
        let refused = if law.granularity() == 1.0 {
            Ok(())
        } else {
            Err(DrawError::NotWhole)
        };
        assert_eq!(law.fill(&mut generator, &mut steps), refused, "{law:?}");
        assert_eq!(law.fill_parallel(&mut generator, &mut steps, 2), refused, "{law:?}");
        assert_eq!(law.release(&mut generator, &[0_i64; 12], &mut steps), refused, "{law:?}");
        assert_eq!(law.check_answers(&[1.0, f64::NAN]), Err(DrawError::NotFinite(1)), "{law:?}");
    }
}

/// Evidence: a named type draws and releases what the law it becomes does.
#[test]
fn named_types_release_as_their_laws() {
    let answers = [3_i64, -5, 1 << 40];
    let (mut named, mut general) = ([0_i64; 3], [0_i64; 3]);
    let law = DiscreteLaplace::new(0.5, 7).unwrap();
    law.release(&mut Generator::from_seed(8), &answers, &mut named).unwrap();
    OneWordLaw::from(law)
        .release(&mut Generator::from_seed(8), &answers, &mut general)
        .unwrap();
    assert_eq!(named, general);
    assert_ne!(named, answers);
    let (mut named, mut general) = ([0.0; 3], [0.0; 3]);
    let law = Laplace::new(0.5, 7.0).unwrap();
    law.fill(&mut Generator::from_seed(8), &mut named).unwrap();
    OneWordLaw::from(law)
        .fill(&mut Generator::from_seed(8), &mut general)
        .unwrap();
    assert_eq!(named, general);
    assert_ne!(named, [0.0; 3]);
}

/// Evidence: equality of one thread's values with those of any number, for a length that is split and both kinds of laws.
#[test]
fn any_number_of_threads_draws_the_same() {
    // Miri's pieces are shorter, and it is slow.
    let n = if cfg!(miri) { 257 } else { 300_001 };
    let counts: &[usize] = if cfg!(miri) { &[3] } else { &[0, 1, 2, 3] };
    let (law, staged) = (Laplace::new(1.0, 1.0).unwrap(), DiscreteGaussian::new(9.0).unwrap());
    let law = OneWordLaw::from(law);
    let (mut alone, mut shared) = (vec![0.0; n], vec![0.0; n]);
    law.fill(&mut Generator::from_seed(5), &mut alone).unwrap();
    for &threads in counts {
        law.fill_parallel(&mut Generator::from_seed(5), &mut shared, threads).unwrap();
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
    let mut generator = Generator::from_seed(1);
    let law = OneWordLaw::from(Laplace::new(1.0, 1.0).unwrap());
    let selection = Selection::staircase(1.0, 1.0, 0.5, false).unwrap();
    let text = |error: DrawError| error.to_string();
    let lengths = law.release(&mut generator, &[1.0], &mut [0.0; 2]).unwrap_err();
    assert_eq!(
        text(lengths),
        "out must be as long as the answers, got 2 places for 1 answers"
    );
    let infinite = law.release(&mut generator, &[1.0, f64::INFINITY], &mut [0.0; 2]).unwrap_err();
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
        text(far.next_staged(1).err().unwrap()),
        "the last index of a fill of this law must be below 2**40"
    );
    assert_eq!(text(DrawError::FillsExhausted), "the generator has made its 2**48 fills");
    assert_eq!(text(DrawError::OutOfMemory), "the system has no memory left");
    assert_eq!(
        text(DrawError::NotWhole),
        "out must be of floats for a law of other numbers than integers, got integers"
    );
    let no_entropy = DrawError::from(getrandom::Error::UNSUPPORTED);
    assert!(text(no_entropy).starts_with("the operating system gave no entropy: "));
    assert_eq!(generator.next_fill(), 0, "nothing was drawn");
}

#[test]
fn refusals_of_a_law_name_the_parameter() {
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
    let small = DiscreteGaussian::scaled(1.0, -1075).unwrap_err();
    assert_eq!(small.to_string(), "log2_granularity must be from -1074 to 960, got -1075.0");
}

#[test]
fn the_instruction_set_in_use_is_one_of_those_there_are() {
    let tiers = cpu_tiers();
    assert_eq!(tiers[0], "portable");
    assert!(cpu_tier().map_or_else(|text| text.contains("STAIRNOISE_CPU"), |tier| tiers.contains(&tier)));
}

/// Evidence: an integer that f64 does not hold is refused, and not lowered to the next that it holds.
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
fn no_law_of_other_numbers_is_released_into_integers() {
    let mut generator = Generator::from_seed(1);
    let (mut whole, mut wide) = ([7_i32], [7_i64]);
    let law = OneWordLaw::from(Laplace::new(1.0, 1.0).unwrap());
    assert_eq!(law.release(&mut generator, &[3797.0], &mut whole), Err(DrawError::NotWhole));
    assert_eq!(law.release(&mut generator, &[3797_i64], &mut wide), Err(DrawError::NotWhole));
    let staged = Arete::new(1.0, 1.0, 1.0, Share::WHOLE).unwrap();
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
    let mut generator = Generator::from_seed(1);
    let law = Laplace::new(1.0, 1e-20).unwrap();
    let limit = law.granularity() * 2_f64.powi(126);
    let mut released = [7.0; 2];
    let refused = law.release(&mut generator, &[1.0, limit], &mut released).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "values must be below 2**126 times the granularity in magnitude, got a larger one at index 1"
    );
    assert_eq!((released, generator.next_fill()), ([7.0; 2], 0));
    law.release(&mut generator, &[1.0, limit.next_down()], &mut released).unwrap();
    assert!((released[1] / limit - 1.0).abs() < 1e-15);
}
