use stairnoise::{DiscreteGaussian, DiscreteLaplace, Generator, Noise};
use std::time::Instant;
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}
fn main() {
    let mut out = vec![0_i64; 10_000_000];
    let mut generator = Generator::from_seed(1);
    let law = DiscreteLaplace::new(1.0, 1000).unwrap();
    for _ in 0..3 {
        let start = cpu();
        law.fill(&mut generator, &mut out).unwrap();
        println!("laplace {:.2}", (cpu() - start) * 100.0);
    }
    for sigma2 in [1.0, 100.0, 1e6, 2f64.powi(64)] {
        let law = DiscreteGaussian::new(sigma2).unwrap();
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let (start, _w) = (cpu(), Instant::now());
                law.fill_parallel(&mut generator, &mut out, 1).unwrap();
                cpu() - start
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "sigma2={sigma2}: {:?} ns/value",
            times.iter().map(|t| (t * 1e10).round() / 100.0).collect::<Vec<_>>()
        );
    }
}
