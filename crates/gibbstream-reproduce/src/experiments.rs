//! The experiments of the paper as a table.

use crate::cells::{AS_USUAL, USUAL};
use crate::claims::At::{Every, Largest, Reference, Smallest, Somewhere};
use crate::claims::Claim::{
    self, AgreeWithin, Below, BestAt, BestUpTo, CoherentBeside, DifferBy, ElboRises, Falls, FirstToScore,
    Flat, Highest, LeadAfter, Lowest, Near, Rises,
};
use crate::claims::Measure;
use crate::experiment::{Corpus, Expectation, Experiment, Extra, Figure, Grid, Recipe, Table};

/// The experiment of that name, in any case.
pub fn find(id: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.id.eq_ignore_ascii_case(id))
}

const ALL: &[Corpus] = &Corpus::ALL;
const SYNTHETIC: &[Corpus] = &[Corpus::Synthetic];
const IMDB: &[Corpus] = &[Corpus::Imdb];
const SYNTHETIC_AND_IMDB: &[Corpus] = &[Corpus::Synthetic, Corpus::Imdb];
const IMDB_AND_WIKIPEDIA: &[Corpus] = &[Corpus::Imdb, Corpus::Wikipedia];
const REVIEWS: &[Corpus] = &[Corpus::Imdb, Corpus::Yelp];
const NOT_REVIEWS: &[Corpus] = &[Corpus::Wikipedia, Corpus::Pubmed, Corpus::Reuters];
const REAL: &[Corpus] = &[Corpus::Imdb, Corpus::Wikipedia, Corpus::Pubmed, Corpus::Yelp, Corpus::Reuters];
const REAL_BUT_PUBMED: &[Corpus] = &[Corpus::Imdb, Corpus::Wikipedia, Corpus::Yelp, Corpus::Reuters];
const ALL_BUT_WIKIPEDIA: &[Corpus] =
    &[Corpus::Synthetic, Corpus::Imdb, Corpus::Pubmed, Corpus::Yelp, Corpus::Reuters];
const TIMED: &[Corpus] = &[Corpus::Imdb, Corpus::Wikipedia, Corpus::Reuters, Corpus::Pubmed];

/// The eight methods that the paper compares.
pub const METHODS: &[&str] = &["g-oem", "v-oem++", "olda", "vargibbs", "svb", "splda", "sgs", "lds"];

const fn recipe(corpora: &'static [Corpus], methods: &'static [&'static str], topics: Grid) -> Recipe {
    Recipe { corpora, methods, topics, passes: 1, extras: &[] }
}

const fn with(recipe: Recipe, extras: &'static [Extra]) -> Recipe {
    Recipe { extras, ..recipe }
}

const fn expect(says: &'static str, corpora: &'static [Corpus], claims: &'static [Claim]) -> Expectation {
    Expectation { says, corpora, claims }
}

/// All of them, in the order of the checklist.
pub static EXPERIMENTS: [Experiment; 17] = [
    Experiment {
        id: "X1",
        title: "Held-out score and the number of topics, all methods",
        recipes: &[
            with(recipe(ALL, METHODS, Grid::All), &[Extra::Curve]),
            with(recipe(ALL, &[USUAL], Grid::All), &[Extra::Curve]),
        ],
        figures: &[Figure::ByTopics(Measure::Score)],
        table: Table::Scores,
        paper: &[
            expect("G-OEM is lowest everywhere", ALL, &[Lowest("g-oem", Every)]),
            expect("G-OEM is best at the true number of topics", SYNTHETIC, &[BestAt("g-oem", Reference)]),
            expect(
                "SPLDA, OLDA, VarGibbs and SGS are slightly better with 20 topics than with the true 10",
                SYNTHETIC,
                &[
                    Falls("splda", Reference, Largest),
                    Falls("olda", Reference, Largest),
                    Falls("vargibbs", Reference, Largest),
                    Falls("sgs", Reference, Largest),
                ],
            ),
            expect("SVB is flat", SYNTHETIC, &[Flat("svb")]),
            expect("LDS is far above all others", SYNTHETIC, &[Highest("lds", Reference)]),
            expect(
                "G-OEM, V-OEM++ and SPLDA gain from more topics",
                REAL,
                &[
                    Falls("g-oem", Smallest, Largest),
                    Falls("v-oem++", Smallest, Largest),
                    Falls("splda", Smallest, Largest),
                ],
            ),
            expect(
                "OLDA and SVB do not gain from more topics",
                REAL,
                &[Rises("olda", Smallest, Largest), Rises("svb", Smallest, Largest)],
            ),
            expect(
                "VarGibbs is much better than OLDA and SVB",
                REAL,
                &[Below("vargibbs", "olda", Largest), Below("vargibbs", "svb", Largest)],
            ),
            expect("LDS does not overfit either", REAL, &[Falls("lds", Smallest, Largest)]),
            expect(
                "Not in the paper: G-OEM with the settings of `train` is lowest everywhere",
                ALL,
                &[Lowest(AS_USUAL, Every)],
            ),
            expect(
                "Not in the paper: and gains from more topics",
                REAL,
                &[Falls(AS_USUAL, Smallest, Largest)],
            ),
        ],
    },
    Experiment {
        id: "X2",
        title: "Held-out score while documents are read",
        recipes: &[with(recipe(ALL, METHODS, Grid::Reference), &[Extra::Curve])],
        figures: &[Figure::ThroughDocuments(Measure::Score)],
        table: Table::Scores,
        paper: &[
            expect(
                "G-OEM, V-OEM++ and VarGibbs are ahead after a few thousand documents",
                SYNTHETIC,
                &[LeadAfter(5_000, &["g-oem", "v-oem++", "vargibbs"])],
            ),
            expect(
                "Bayesian variational methods converge to worse values",
                SYNTHETIC,
                &[Below("g-oem", "olda", Reference), Below("g-oem", "svb", Reference)],
            ),
            expect(
                "G-OEM and VarGibbs lead after about 10,000 documents",
                REAL_BUT_PUBMED,
                &[LeadAfter(10_000, &["g-oem", "vargibbs"])],
            ),
            expect(
                "G-OEM, V-OEM++, VarGibbs and SPLDA are close",
                &[Corpus::Pubmed],
                &[
                    Near("g-oem", "v-oem++", Reference),
                    Near("g-oem", "vargibbs", Reference),
                    Near("g-oem", "splda", Reference),
                ],
            ),
        ],
    },
    Experiment {
        id: "X3",
        title: "Sampling or variational inference",
        recipes: &[with(recipe(ALL, &["g-oem", "v-oem++", "vargibbs", "splda"], Grid::All), &[Extra::Curve])],
        figures: &[Figure::ByTopics(Measure::Score), Figure::ThroughDocuments(Measure::Score)],
        table: Table::Scores,
        paper: &[
            expect(
                "G-OEM is better than SPLDA and V-OEM++",
                ALL,
                &[Below("g-oem", "splda", Every), Below("g-oem", "v-oem++", Every)],
            ),
            expect("VarGibbs is about as good as G-OEM", NOT_REVIEWS, &[Near("vargibbs", "g-oem", Largest)]),
            expect(
                "VarGibbs is worse than V-OEM++ and SPLDA",
                REVIEWS,
                &[Below("v-oem++", "vargibbs", Largest), Below("splda", "vargibbs", Largest)],
            ),
        ],
    },
    Experiment {
        id: "X4",
        title: "Local iterations of OLDA",
        recipes: &[recipe(SYNTHETIC_AND_IMDB, &["olda --sweeps 10", "olda --sweeps 100"], Grid::All)],
        figures: &[Figure::ByTopics(Measure::Score)],
        table: Table::Scores,
        paper: &[expect(
            "More local iterations may be worse",
            SYNTHETIC_AND_IMDB,
            &[Below("olda --sweeps 10", "olda --sweeps 100", Somewhere)],
        )],
    },
    Experiment {
        id: "X5",
        title: "The evidence lower bound and the score",
        recipes: &[
            with(recipe(IMDB_AND_WIKIPEDIA, &["olda", "svb"], Grid::All), &[Extra::Curve, Extra::Elbo]),
            Recipe {
                corpora: IMDB,
                methods: &["olda --sweeps 200", "svb --sweeps 200"],
                topics: Grid::Few,
                passes: 4,
                extras: &[Extra::Elbo],
            },
        ],
        figures: &[
            Figure::ByTopics(Measure::Elbo),
            Figure::ThroughDocuments(Measure::Elbo),
            Figure::ByTopics(Measure::Score),
        ],
        table: Table::ScoresAndBounds,
        paper: &[
            expect(
                "The bound rises with the number of topics",
                IMDB_AND_WIKIPEDIA,
                &[ElboRises("olda"), ElboRises("svb")],
            ),
            expect(
                "while the score is often best with 8 or 16",
                IMDB_AND_WIKIPEDIA,
                &[BestUpTo("olda", 16), BestUpTo("svb", 16)],
            ),
        ],
    },
    Experiment {
        id: "X6",
        title: "OLDA and SVB with ten times the iterations and four passes",
        recipes: &[
            recipe(IMDB, &["olda", "svb"], Grid::Reference),
            Recipe {
                corpora: IMDB,
                methods: &["olda --sweeps 200", "svb --sweeps 200"],
                topics: Grid::Reference,
                passes: 4,
                extras: &[Extra::Elbo],
            },
        ],
        figures: &[],
        table: Table::Scores,
        paper: &[
            expect(
                "OLDA 682.6 ± 3.7 instead of 681.9 ± 3.9: no real change",
                IMDB,
                &[Near("olda", "olda --sweeps 200, 4 passes", Reference)],
            ),
            expect(
                "SVB 683.8 ± 3.8 instead of 684.5 ± 3.8: no real change",
                IMDB,
                &[Near("svb", "svb --sweeps 200, 4 passes", Reference)],
            ),
        ],
    },
    Experiment {
        id: "X7",
        title: "Boosted inference for G-OEM",
        recipes: &[recipe(ALL, &["g-oem", "g-oem++"], Grid::Few)],
        figures: &[Figure::ByTopics(Measure::Score)],
        table: Table::Scores,
        paper: &[expect("No significant difference", ALL, &[Near("g-oem", "g-oem++", Every)])],
    },
    Experiment {
        id: "X8",
        title: "Boosted inference for V-OEM",
        recipes: &[recipe(ALL, &["v-oem", "v-oem++"], Grid::Few)],
        figures: &[Figure::ByTopics(Measure::Score)],
        table: Table::Scores,
        paper: &[
            expect("V-OEM++ is clearly better", ALL_BUT_WIKIPEDIA, &[Below("v-oem++", "v-oem", Every)]),
            expect("V-OEM++ and V-OEM are equal", &[Corpus::Wikipedia], &[Near("v-oem", "v-oem++", Every)]),
        ],
    },
    Experiment {
        id: "X9",
        title: "Step sizes and averaging, G-OEM",
        recipes: &[recipe(
            SYNTHETIC_AND_IMDB,
            &[
                "g-oem --kappa 0",
                "g-oem --kappa 0.25",
                "g-oem",
                "g-oem --kappa 0.75",
                "g-oem --kappa 1",
                "g-oem --averaging uniform --kappa 0",
                "g-oem --averaging uniform --kappa 0.25",
                "g-oem --averaging uniform",
                "g-oem --averaging uniform --kappa 0.75",
                "g-oem --averaging uniform --kappa 1",
            ],
            Grid::Few,
        )],
        figures: &[Figure::ByFlag("--kappa", "kappa: minibatch i weighs i^-kappa")],
        table: Table::Scores,
        paper: &[
            expect(
                "Averaging helps for kappa < 1/2",
                SYNTHETIC_AND_IMDB,
                &[
                    Below("g-oem --averaging uniform --kappa 0", "g-oem --kappa 0", Reference),
                    Below("g-oem --averaging uniform --kappa 0.25", "g-oem --kappa 0.25", Reference),
                ],
            ),
            expect(
                "and hurts for kappa > 1/2",
                SYNTHETIC_AND_IMDB,
                &[
                    Below("g-oem --kappa 0.75", "g-oem --averaging uniform --kappa 0.75", Reference),
                    Below("g-oem --kappa 1", "g-oem --averaging uniform --kappa 1", Reference),
                ],
            ),
            expect(
                "Neutral at kappa = 1/2",
                SYNTHETIC_AND_IMDB,
                &[Near("g-oem", "g-oem --averaging uniform", Reference)],
            ),
            expect(
                "kappa = 1 is not competitive",
                SYNTHETIC_AND_IMDB,
                &[Below("g-oem", "g-oem --kappa 1", Reference)],
            ),
            expect(
                "kappa = 0.75 is slightly better",
                IMDB,
                &[Below("g-oem --kappa 0.75", "g-oem", Reference)],
            ),
        ],
    },
    Experiment {
        id: "X10",
        title: "Step sizes of OLDA",
        recipes: &[recipe(
            IMDB_AND_WIKIPEDIA,
            &[
                "olda",
                "olda --tau 0.5",
                "olda --tau 2",
                "olda --kappa 1",
                "olda --kappa 1 --tau 5",
                "olda --kappa 1 --tau 10",
            ],
            Grid::Few,
        )],
        figures: &[Figure::ByTopics(Measure::Score)],
        table: Table::Scores,
        paper: &[expect(
            "All nearly the same",
            IMDB_AND_WIKIPEDIA,
            &[
                Near("olda", "olda --tau 0.5", Every),
                Near("olda", "olda --tau 2", Every),
                Near("olda", "olda --kappa 1", Every),
                Near("olda", "olda --kappa 1 --tau 5", Every),
                Near("olda", "olda --kappa 1 --tau 10", Every),
            ],
        )],
    },
    Experiment {
        id: "X11",
        title: "Updates of alpha",
        recipes: &[recipe(
            SYNTHETIC,
            &[
                "g-oem",
                "g-oem --alpha gamma",
                "g-oem --alpha fixed=0.1",
                "g-oem --kappa 1",
                "g-oem --alpha gamma --kappa 1",
                "g-oem --alpha fixed=0.1 --kappa 1",
                "g-oem++",
                "g-oem++ --alpha gamma",
                "g-oem++ --alpha fixed=0.1",
                "g-oem++ --kappa 1",
                "g-oem++ --alpha gamma --kappa 1",
                "g-oem++ --alpha fixed=0.1 --kappa 1",
                "v-oem",
                "v-oem --alpha gamma",
                "v-oem --alpha fixed=0.1",
                "v-oem --kappa 1",
                "v-oem --alpha gamma --kappa 1",
                "v-oem --alpha fixed=0.1 --kappa 1",
                "v-oem++",
                "v-oem++ --alpha gamma",
                "v-oem++ --alpha fixed=0.1",
                "v-oem++ --kappa 1",
                "v-oem++ --alpha gamma --kappa 1",
                "v-oem++ --alpha fixed=0.1 --kappa 1",
            ],
            Grid::Reference,
        )],
        figures: &[],
        table: Table::Scores,
        paper: &[
            expect(
                "The fixed point is best for G-OEM",
                SYNTHETIC,
                &[
                    Below("g-oem", "g-oem --alpha gamma", Reference),
                    Below("g-oem", "g-oem --alpha fixed=0.1", Reference),
                ],
            ),
            expect(
                "and for G-OEM++",
                SYNTHETIC,
                &[
                    Below("g-oem++", "g-oem++ --alpha gamma", Reference),
                    Below("g-oem++", "g-oem++ --alpha fixed=0.1", Reference),
                ],
            ),
            expect(
                "The Gamma prior is better for V-OEM at kappa = 1/2",
                SYNTHETIC,
                &[Below("v-oem --alpha gamma", "v-oem", Reference)],
            ),
            expect("A tie for V-OEM++", SYNTHETIC, &[Near("v-oem++", "v-oem++ --alpha gamma", Reference)]),
            expect(
                "V-OEM++ with the Gamma prior and kappa = 1, which is SPLDA, improves with kappa = 1/2",
                SYNTHETIC,
                &[Below("v-oem++ --alpha gamma", "v-oem++ --alpha gamma --kappa 1", Reference)],
            ),
        ],
    },
    Experiment {
        id: "X12",
        title: "An open number of topics",
        recipes: &[
            with(recipe(IMDB_AND_WIKIPEDIA, &["g-oem", "vargibbs"], Grid::Reference), &[Extra::Curve]),
            with(recipe(IMDB_AND_WIKIPEDIA, &["hdp g-oem", "hdp vargibbs"], Grid::Start), &[Extra::Curve]),
        ],
        figures: &[Figure::ThroughDocuments(Measure::Score)],
        table: Table::Scores,
        paper: &[
            expect(
                "G-OEM beats VarGibbs for LDA",
                IMDB_AND_WIKIPEDIA,
                &[Below("g-oem", "vargibbs", Reference)],
            ),
            expect("and for the HDP", IMDB_AND_WIKIPEDIA, &[Below("hdp g-oem", "hdp vargibbs", Smallest)]),
        ],
    },
    Experiment {
        id: "X13",
        title: "Topics of G-OEM beside those of OLDA",
        recipes: &[with(recipe(IMDB, &["g-oem"], Grid::Reference), &[Extra::Topics])],
        figures: &[],
        table: Table::Topics,
        paper: &[expect(
            "Topics of G-OEM are purer; measured as mean coherence (NPMI) of all topics",
            IMDB,
            &[CoherentBeside("g-oem")],
        )],
    },
    Experiment {
        id: "X14",
        title: "Time",
        recipes: &[with(recipe(TIMED, METHODS, Grid::Reference), &[Extra::Curve])],
        figures: &[Figure::ThroughTime],
        table: Table::Time,
        paper: &[expect(
            "G-OEM is faster to any score that another method attains",
            TIMED,
            &[
                FirstToScore("g-oem", "v-oem++"),
                FirstToScore("g-oem", "olda"),
                FirstToScore("g-oem", "vargibbs"),
                FirstToScore("g-oem", "svb"),
                FirstToScore("g-oem", "splda"),
                FirstToScore("g-oem", "sgs"),
                FirstToScore("g-oem", "lds"),
            ],
        )],
    },
    Experiment {
        id: "X15",
        title: "Sweeps of G-OEM",
        recipes: &[recipe(
            SYNTHETIC_AND_IMDB,
            &["g-oem", "g-oem --sweeps 50", "g-oem --sweeps 100"],
            Grid::Few,
        )],
        figures: &[Figure::ByTopics(Measure::Score)],
        table: Table::Scores,
        paper: &[expect(
            "50 or 100 sweeps are very similar to 20",
            SYNTHETIC_AND_IMDB,
            &[Near("g-oem", "g-oem --sweeps 50", Every), Near("g-oem", "g-oem --sweeps 100", Every)],
        )],
    },
    Experiment {
        id: "X16",
        title: "Steps 1/t or 1/sqrt(t)",
        recipes: &[recipe(
            SYNTHETIC_AND_IMDB,
            &["g-oem", "g-oem --kappa 0.75", "g-oem --kappa 1", "v-oem++", "v-oem++ --kappa 1", "splda"],
            Grid::Few,
        )],
        figures: &[Figure::ByTopics(Measure::Score)],
        table: Table::Scores,
        paper: &[expect(
            "Larger steps are better in one pass",
            SYNTHETIC_AND_IMDB,
            &[
                Below("g-oem", "g-oem --kappa 1", Every),
                Below("v-oem++", "v-oem++ --kappa 1", Every),
                Below("v-oem++", "splda", Every),
            ],
        )],
    },
    Experiment {
        id: "X17",
        title: "Estimators of the likelihood",
        recipes: &[with(
            recipe(
                SYNTHETIC_AND_IMDB,
                &["g-oem --alpha fixed=0.01", "g-oem --alpha fixed=0.1", "g-oem --alpha fixed=1"],
                Grid::Reference,
            ),
            &[Extra::Estimators],
        )],
        figures: &[Figure::ByEstimator],
        table: Table::Estimators,
        paper: &[
            expect(
                "Left-to-right agrees with Gibbs sampling of 200 samples",
                SYNTHETIC_AND_IMDB,
                &[
                    AgreeWithin("g-oem --alpha fixed=1", "left-to-right", "gibbs", 0.005),
                    AgreeWithin("g-oem --alpha fixed=0.1", "left-to-right", "gibbs", 0.005),
                    AgreeWithin("g-oem --alpha fixed=0.01", "left-to-right", "gibbs", 0.005),
                ],
            ),
            expect(
                "Not in the paper: left-to-right agrees with the unbiased estimate where alpha is large",
                SYNTHETIC_AND_IMDB,
                &[AgreeWithin("g-oem --alpha fixed=1", "left-to-right", "smc", 0.001)],
            ),
            expect(
                "Not in the paper: and is biased where alpha is small",
                SYNTHETIC_AND_IMDB,
                &[DifferBy("g-oem --alpha fixed=0.01", "left-to-right", "smc", 0.001)],
            ),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Cell, plan, series_name, tasks_of};
    use crate::library::Corpora;
    use crate::run::method_of;
    use crate::scale::Scale;

    #[test]
    fn the_checklist_is_complete() {
        for (place, experiment) in EXPERIMENTS.iter().enumerate() {
            assert_eq!(experiment.id, format!("X{}", place + 1));
            assert!(!experiment.recipes.is_empty() && !experiment.paper.is_empty());
            assert!(experiment.paper.iter().all(|expectation| !expectation.claims.is_empty()));
            assert!(find(&experiment.id.to_lowercase()).is_some_and(|found| found.id == experiment.id));
        }
        assert!(find("X18").is_none());
    }

    /// Methods and flags exist, and they are those of the paper but for what is said.
    #[test]
    fn methods_are_methods() {
        let corpora = Corpora::open(Scale::Laptop, None).unwrap();
        let sample = tasks_of(&EXPERIMENTS[0], &corpora, 0).remove(0).cell;
        let method = |text: &str| method_of(&Cell { method: text.to_owned(), ..sample.clone() }).unwrap();
        for text in
            EXPERIMENTS.iter().flat_map(|experiment| experiment.recipes).flat_map(|recipe| recipe.methods)
        {
            let name = text.split_whitespace().find(|word| *word != "hdp").unwrap();
            let paper = if text.starts_with("hdp ") {
                gibbstream::learn::method::Method::recommended_for_hdp(name).unwrap()
            } else {
                gibbstream::learn::method::Method::published(name).unwrap()
            };
            let same = method(text) == paper.with_population(sample.documents as f64);
            assert_eq!(same, !text.contains("--"), "{text}");
        }
        assert_eq!(method("olda --sweeps 200").sweeps, 200);
        let usual =
            gibbstream::learn::method::Method::recommended("g-oem", gibbstream::learn::Mode::File).unwrap();
        assert_eq!(method(USUAL), usual.with_population(sample.documents as f64));
    }

    /// A claim about a line that no recipe draws would never be measured.
    #[test]
    fn claims_are_about_lines_of_their_experiment() {
        for experiment in &EXPERIMENTS {
            for expectation in experiment.paper {
                for corpus in expectation.corpora {
                    let recipes = experiment.recipes.iter().filter(|recipe| recipe.corpora.contains(corpus));
                    let lines: Vec<String> = recipes
                        .flat_map(|recipe| {
                            recipe.methods.iter().map(|method| series_name(method, recipe.passes))
                        })
                        .collect();
                    for name in expectation.claims.iter().flat_map(Claim::series) {
                        assert!(lines.iter().any(|line| line == name), "{} {name}", experiment.id);
                    }
                }
            }
        }
    }

    /// What one experiment has run, another one need not.
    #[test]
    fn experiments_share_cells() {
        let corpora = Corpora::open(Scale::Smoke, None).unwrap();
        let number = |ids: &[&str]| {
            let chosen: Vec<&Experiment> = ids.iter().filter_map(|id| find(id)).collect();
            plan(&chosen, &corpora, 0).len()
        };
        assert_eq!(number(&["X1"]), number(&["X1", "X2", "X3", "X14"]));
        assert_eq!(number(&["X5"]), number(&["X5", "X6"]));
        let tasks = plan(&EXPERIMENTS.iter().collect::<Vec<_>>(), &corpora, 0);
        assert!(tasks.is_sorted_by_key(|task| task.cell.split), "the first split of everything comes first");
    }
}
