use stairnoise::keyed::*;
use stairnoise::*;
use std::time::Instant;
struct Ints(Vec<i64>);
impl Labels for Ints {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn write(&self, r: usize, b: &mut Vec<u8>) {
        address::integer(b, self.0[r].into())
    }
}
fn main() {
    let key = Keyed::new(&[7; 32], b"x").under(b"y");
    let n = 10_000_000;
    let law = DiscreteLaplace::new(1.0, 1).unwrap();
    let law2 = Laplace::new(1.0, 1.0).unwrap();
    let law3 = DiscreteGaussian::new(100.0).unwrap();
    let labels = Ints((0..n as i64).map(|i| i * 7919).collect());
    let values: Vec<i64> = (0..n as i64).map(|i| i % 1000).collect();
    for _ in 0..2 {
        let mut out = vec![0i64; n];
        let mut outf = vec![0f64; n];
        let t = Instant::now();
        key.release(
            &law,
            0,
            |r, b| {
                labels.write(r, b);
                address::integer(b, values[r].into())
            },
            &values,
            &mut out,
        )
        .unwrap();
        println!("dlap {:?}", t.elapsed() / 10000);
        let t = Instant::now();
        key.release(
            &law2,
            0,
            |r, b| {
                labels.write(r, b);
                address::integer(b, values[r].into())
            },
            &values,
            &mut outf,
        )
        .unwrap();
        println!("lap {:?}", t.elapsed() / 10000);
        let t = Instant::now();
        key.release(
            &law3,
            0,
            |r, b| {
                labels.write(r, b);
                address::integer(b, values[r].into())
            },
            &values,
            &mut out,
        )
        .unwrap();
        println!("dgauss {:?}", t.elapsed() / 10000);
        let t = Instant::now();
        let a = Agreement::of(&labels, |_, _| false, || true).unwrap();
        println!("agree {:?} {}", t.elapsed() / 10000, a.repeated.len());
        let t = Instant::now();
        let mut x = 0u8;
        let mut b = Vec::new();
        for r in 0..n {
            b.clear();
            labels.write(r, &mut b);
            address::integer(&mut b, values[r].into());
            x ^= key.digest(&[&b])[0];
        }
        println!("digest+wipe {:?} {x}", t.elapsed() / 10000);
        let t = Instant::now();
        let mut x = 0;
        for r in 0..n {
            b.clear();
            labels.write(r, &mut b);
            address::integer(&mut b, values[r].into());
            x ^= b.len();
        }
        println!("encode {:?} {x}", t.elapsed() / 10000);
        let t = Instant::now();
        for r in 0..n {
            let mut k = [0u8; 32];
            k[0..8].copy_from_slice(&r.to_le_bytes());
            let mut g = Generator::from_key(&k);
            x ^= g.next(1).is_ok() as usize;
        }
        println!("generator {:?} {x}", t.elapsed() / 10000);
    }
}
