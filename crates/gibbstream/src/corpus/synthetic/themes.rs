//! Ten readable themes with known word laws: the truth behind the demo.
//!
//! Every theme has words of its own, and shares everyday words with the others, so that a model must separate
//! topics that overlap, and a reader can see at a glance whether it did.

use crate::corpus::Truth;

/// Mass of a theme on its own words; they fall off like [`falling`].
const OWN: f64 = 0.87;

/// Mass of a theme on the everyday words, which all themes use alike.
const EVERYDAY: f64 = 0.10;

/// The ten themes: their names, their vocabulary of 1,000 words (theme after theme, each in order of falling
/// prominence, then the everyday words), and the law that documents about them follow.
///
/// A theme puts 87 % of its mass on its own words, 10 % on everyday words, and 3 % evenly on the words of the
/// other themes. The prior of the mixtures is asymmetric (0.15 for the first theme, falling to 0.06 for the
/// last), so that a document is mostly about one to three themes and some themes are rarer than others.
pub fn themes() -> (Vec<&'static str>, Vec<String>, Truth) {
    let own: Vec<Vec<&str>> = THEMES.iter().map(|(_, words)| words.split_whitespace().collect()).collect();
    let everyday: Vec<&str> = SHARED.split_whitespace().collect();
    let own_words: usize = own.iter().map(Vec::len).sum();
    let size = own_words + everyday.len();

    let mut topics = Vec::with_capacity(own.len() * size);
    for theme in 0..own.len() {
        let other = (1.0 - OWN - EVERYDAY) / (own_words - own[theme].len()) as f64;
        for (k, words) in own.iter().enumerate() {
            if k == theme {
                topics.extend(falling(words.len()).map(|weight| OWN * weight));
            } else {
                topics.extend(words.iter().map(|_| other));
            }
        }
        topics.extend(falling(everyday.len()).map(|weight| EVERYDAY * weight));
    }
    let alpha = (0..own.len()).map(|k| 0.15 - 0.01 * k as f64).collect();

    let names = THEMES.iter().map(|&(name, _)| name).collect();
    let vocabulary = own.iter().flatten().chain(&everyday).map(ToString::to_string).collect();
    (names, vocabulary, Truth { topics, alpha, vocabulary_size: size })
}

/// `n` weights that fall like 1 / (rank + 3) and add up to 1: Zipf's law without its extreme first words.
fn falling(n: usize) -> impl Iterator<Item = f64> {
    let weight = |rank: usize| 1.0 / (rank as f64 + 4.0);
    let total: f64 = (0..n).map(weight).sum();
    (0..n).map(move |rank| weight(rank) / total)
}

/// Names and own words, most prominent first.
const THEMES: [(&str, &str); 10] = [
    ("cooking", COOKING),
    ("astronomy", ASTRONOMY),
    ("football", FOOTBALL),
    ("medicine", MEDICINE),
    ("music", MUSIC),
    ("law", LAW),
    ("gardening", GARDENING),
    ("seafaring", SEAFARING),
    ("computing", COMPUTING),
    ("weather", WEATHER),
];

const COOKING: &str = "
    recipe oven butter sauce flour garlic onion bake pepper sugar salt dough cheese pan cook chicken
    cream kitchen boil simmer stir chop roast soup bread dish egg oil tomato lemon rice pasta taste
    flavour spice vinegar fry knife bowl spoon whisk chef meal dinner lunch breakfast dessert cake
    chocolate vanilla cinnamon ginger cumin parsley basil thyme oregano mustard honey syrup yeast knead
    pastry crust filling batter pudding pie biscuit pancake omelette sausage bacon beef lamb pork stew
    broth stock gravy marinade grill skillet saucepan casserole tray ladle grater apron mince slice peel
    garnish seasoning salad dressing";

const ASTRONOMY: &str = "
    star planet galaxy telescope orbit moon sun comet asteroid universe light nebula solar eclipse
    astronomer gravity mars jupiter saturn venus mercury neptune uranus pluto earth observatory
    constellation supernova quasar pulsar redshift spectrum cosmic cosmology meteor meteorite crater
    lunar stellar luminosity magnitude parallax celestial equinox solstice zenith horizon sky dwarf
    giant hydrogen helium fusion photon radiation infrared ultraviolet wavelength spectrograph lens
    mirror aperture eyepiece binoculars satellite spacecraft rocket probe astronaut launch mission dust
    halo cluster void expansion singularity relativity spacetime exoplanet transit corona sunspot flare
    aurora magnetosphere heliosphere axis rotation ellipse perihelion aphelion tidal milky andromeda
    orion";

const FOOTBALL: &str = "
    goal match player team league coach striker penalty goalkeeper referee midfield defender pass ball
    score season cup stadium fans kick win draw defeat club champion tournament corner header foul
    offside tackle whistle pitch squad substitute winger dribble cross shot save halftime kickoff
    fixture relegation promotion transfer manager trophy final semifinal qualifier derby rival supporter
    terrace crowd chant scarf jersey boots bench lineup formation counterattack possession equaliser
    winner assist crossbar goalpost net touchline linesman booking suspension injury fitness training
    sprint stamina warmup academy scout debut veteran playmaker sweeper fullback playoff knockout
    standings title opponent victory rebound volley";

const MEDICINE: &str = "
    patient doctor hospital disease treatment drug nurse symptom surgery blood diagnosis infection heart
    therapy cancer clinic vaccine dose virus fever surgeon pain medicine tumour lung kidney liver brain
    bone muscle nerve skin artery vein pulse pressure insulin diabetes asthma allergy antibiotic
    bacteria immune antibody inflammation chronic acute syndrome disorder stroke cardiac respiratory
    anaesthetic operation ward ambulance emergency prescription pharmacist tablet capsule injection
    syringe needle bandage wound fracture scan ultrasound biopsy transplant organ donor transfusion
    plasma haemoglobin cholesterol hormone thyroid metabolism digestion stomach intestine pancreas
    nausea cough headache migraine fatigue relapse recovery rehabilitation physician paediatric
    geriatric maternity";

const MUSIC: &str = "
    song melody guitar piano orchestra concert rhythm album singer violin chord band symphony composer
    drum jazz tune voice opera choir sing harmony conductor lyrics audience sonata stage bass flute
    trumpet cello clarinet saxophone trombone oboe bassoon harp organist percussion cymbal tambourine
    quartet trio duet soloist soprano alto tenor baritone chorus verse refrain ballad anthem hymn waltz
    tango blues folk rock punk reggae techno studio microphone amplifier recording vinyl playlist
    headphones tempo beat bar note octave treble clef sharp flat major minor scale arpeggio improvise
    rehearsal encore applause concerto overture prelude fugue nocturne serenade cantata aria libretto";

const LAW: &str = "
    court judge law trial jury lawyer evidence witness appeal verdict crime defendant statute sentence
    attorney contract police legal plaintiff prosecutor guilty justice testimony lawsuit barrister
    solicitor prison charge arrest bail innocent conviction acquittal tribunal hearing plea oath clause
    liability negligence damages compensation settlement injunction subpoena warrant affidavit
    deposition objection precedent jurisdiction constitution amendment legislation parliament regulation
    treaty rights property ownership inheritance testament trustee estate lease tenant landlord mortgage
    copyright patent trademark licence fraud theft burglary assault murder manslaughter perjury bribery
    forgery slander libel custody divorce alimony guardian magistrate clerk bailiff courtroom dock
    felony misdemeanour parole probation";

const GARDENING: &str = "
    garden plant soil seed flower rose tree leaf root compost prune lawn shrub bulb tulip bloom weed
    hedge pot spade mulch greenhouse harvest vegetable seedling bed border blossom petal stem branch bud
    fruit apple pear plum cherry strawberry raspberry gooseberry rhubarb carrot potato cabbage lettuce
    spinach cucumber pumpkin bean pea radish beetroot leek lavender rosemary mint daffodil crocus lily
    daisy sunflower dahlia peony orchid fern ivy moss clematis wisteria hydrangea rhododendron azalea
    magnolia oak maple birch willow orchard trellis pergola fence path patio wheelbarrow rake hoe trowel
    fork shears secateurs hose watering sprinkler fertiliser manure peat";

const SEAFARING: &str = "
    ship sea sail harbour captain crew anchor deck mast voyage boat port island ocean tide sailor wave
    coast cargo hull rudder compass navigator lighthouse whale vessel rope fleet admiral shipwreck
    pirate bow stern starboard keel rigging helm knot cabin galley bunk hammock mate bosun oar lifeboat
    raft ferry schooner frigate galleon sloop yacht trawler tanker steamer tugboat submarine dockyard
    quay pier wharf jetty buoy reef shoal lagoon bay cape strait channel gulf archipelago peninsula
    cliff shore beach sand current swell surf foam leeward windward astern aground ashore mooring berth
    ballast bilge porthole gangway hatch hold sextant";

const COMPUTING: &str = "
    computer software program data code algorithm server network memory file user database compiler
    processor internet bug keyboard function variable screen password interface browser kernel cache
    array string loop thread byte bit pointer stack queue hash graph node index query table schema
    backup storage disk laptop desktop monitor printer cable router firewall encryption protocol packet
    bandwidth latency website download upload email spam malware hacker login username cursor icon menu
    window folder directory script syntax parser debugger exception recursion integer boolean library
    module package version repository commit merge deploy container parallel simulation robot automation
    sensor chip transistor circuit";

const WEATHER: &str = "
    rain wind storm cloud temperature forecast snow sunshine thunder frost fog weather humidity heat
    drizzle lightning hail shower breeze cold ice flood drought climate hurricane gale tornado blizzard
    barometer thermometer celsius degrees atmosphere front cyclone anticyclone typhoon monsoon gust
    puddle umbrella raincoat icicle sleet slush thaw freeze chill mild warm hot humid damp dry wet
    cloudy overcast sunny bright windy stormy foggy misty mist haze dew rainbow downpour cloudburst
    squall whirlwind isobar trough ridge depression altitude troposphere stratosphere cumulus cirrus
    stratus nimbus precipitation rainfall snowfall snowflake snowdrift avalanche meteorologist radar
    balloon anemometer hygrometer outlook warning seasonal";

/// Everyday words that every theme uses.
const SHARED: &str = "
    time day people year way place work thing part home week morning night life hand evening friend
    family world end point story question answer side name word start change help number group reason
    idea kind month hour moment street today";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_distinct_lowercase_letters() {
        let (names, vocabulary, _) = themes();
        assert_eq!(names.len(), 10);
        assert_eq!(vocabulary.len(), 1_000);
        assert_eq!(vocabulary.iter().collect::<HashSet<_>>().len(), vocabulary.len());
        assert!(vocabulary.iter().all(|word| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase())));
    }

    #[test]
    fn truth_is_valid_and_rows_sum_to_one() {
        let (names, vocabulary, truth) = themes();
        assert_eq!((truth.topic_count(), truth.vocabulary_size), (names.len(), vocabulary.len()));
        for (k, name) in names.iter().enumerate() {
            assert!((truth.row(k).iter().sum::<f64>() - 1.0).abs() < 1e-12, "{name}");
        }
        assert!(Truth::new(truth.topics, truth.alpha).is_ok());
    }

    #[test]
    fn a_theme_is_led_by_its_own_words_and_shares_the_rest() {
        let (_, vocabulary, truth) = themes();
        let mut start = 0;
        for (k, (name, words)) in THEMES.iter().enumerate() {
            let row = truth.row(k);
            let own = start..start + words.split_whitespace().count();
            let largest = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
            assert_eq!(largest, Some(own.start), "{name} is led by {:?}", vocabulary[own.start]);
            assert!(row[own.clone()].is_sorted_by(|a, b| a > b), "{name}");
            assert!((row[own.clone()].iter().sum::<f64>() - OWN).abs() < 1e-12, "{name}");
            assert!(row.iter().all(|&weight| weight > 0.0), "{name}");
            start = own.end;
        }
    }

    #[test]
    fn themes_are_far_apart() {
        let (names, _, truth) = themes();
        for a in 0..names.len() {
            for b in 0..a {
                let apart: f64 = truth.row(a).iter().zip(truth.row(b)).map(|(p, q)| (p - q).abs()).sum();
                assert!(apart / 2.0 > 0.8, "{} and {}", names[a], names[b]);
            }
        }
    }
}
