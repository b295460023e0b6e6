//! Same seed, same bits: for any number of threads, and across an interruption.

use super::*;
use gibbstream::learn::averaging::Averaging;

fn runs() -> impl Iterator<Item = (String, Settings, Vec<Minibatch>)> {
    // More words than one thread takes at a time, minibatches of unequal size.
    let documents = grouped(75, 5, 400, 25, 71);
    let averagings = [Averaging::None, Averaging::Uniform, Averaging::Tail(3)];
    Method::NAMED.iter().flat_map(move |named| {
        let batches = if named.method.whole_corpus {
            (0..5).map(|pass| Minibatch::new(&documents, 0, pass)).collect()
        } else {
            minibatches(&documents, 10)
        };
        averagings.map(|averaging| {
            let method = Method { sweeps: 6, averaging, ..named.method.with_population(75.0) };
            let usual = batches[0].len();
            (format!("{} {averaging:?}", named.name), settings(method, 5, 400, usual), batches.clone())
        })
    })
}

#[test]
fn threads_change_no_bit() {
    for (name, settings, batches) in runs() {
        let alone = train_with(settings.clone(), &batches, 1);
        for threads in [2, 7] {
            let together = train_with(settings.clone(), &batches, threads);
            assert_eq!(alone.hash(), together.hash(), "{name}, {threads} threads");
            assert_eq!(alone, together, "{name}, {threads} threads");
        }
        let other = Settings { seed: Seed(12), ..settings };
        assert_ne!(alone.hash(), train(other, &batches).hash(), "{name}: the seed must matter");
    }
}

#[test]
fn interruptions_change_no_bit() {
    for (name, settings, batches) in runs() {
        let undisturbed = train(settings.clone(), &batches);
        for cut in [1, 2, batches.len() - 1] {
            let half = train(settings.clone(), &batches[..cut]);
            let mut resumed = Trainer::resume(settings.clone(), half.fitted(&settings), 2).unwrap();
            batches[cut..].iter().for_each(|batch| assert!(resumed.partial_fit(batch).is_ok()));
            let resumed = learnt(&resumed);
            assert_eq!(resumed.hash(), undisturbed.hash(), "{name}, cut after {cut}");
            assert_eq!(resumed.clock, undisturbed.clock);
            assert_eq!(resumed.word_counts, undisturbed.word_counts);
        }
    }
}
