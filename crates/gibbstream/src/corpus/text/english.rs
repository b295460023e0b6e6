//! English words that carry no topic in prose, beside those on the usual list.
//!
//! Each says how something is told, not what is told about. Words that can be a topic stay: bill, fire, system, show, top, new,
//! people, time. So do negations (didn't, never heard of), which say something.

/// By kind, with blanks between them.
pub(super) const WORDS: [&str; 12] = [
    // Auxiliaries that the usual list lacks.
    "would could might must may shall cannot ought dare used could've would've might've must've",
    // Pronouns and their contractions.
    "one one's ones oneself someone somebody something anyone anybody anything everyone everybody everything nobody \
     nothing none another others else whoever whatever whichever that's that'd there's there'd there'll here's what's \
     what're who's who'd who'll where's how's when's why's let's y'all",
    // The same as they are typed in haste.
    "im ive youre youve thats theres theyre theyve whats hes shes weve lets gonna gotta wanna",
    // Quantities that count nothing.
    "many much several every either neither least less lot lots plenty bit enough various whole",
    // Numbers as words: figures are dropped as well.
    "two three four five six seven eight nine ten first second third",
    // Adverbs of manner, degree and time that fit any text.
    "also even ever yet still already always often sometimes usually rather quite really actually basically simply \
     probably possibly perhaps maybe almost nearly likely certainly definitely especially particularly generally \
     completely totally absolutely truly pretty indeed instead anyway soon later ago away back around together apart \
     along ahead forward mostly largely merely hardly barely easily clearly obviously exactly recently currently",
    // Conjunctions and adverbs that join sentences.
    "however therefore thus hence though although whereas whether unless since besides meanwhile moreover furthermore \
     nevertheless nonetheless otherwise accordingly consequently despite except regardless",
    // Prepositions that the usual list lacks.
    "without within among amongst across toward towards upon onto beyond behind beside near via per versus vs",
    // Verbs that every text is told with.
    "say says said saying tell tells told telling get gets got gotten getting go goes went gone going come comes came \
     coming make makes made making take takes took taken taking give gives gave given giving put puts putting let know \
     knows knew known knowing think thinks thought thinking see sees seen seeing seem seems seemed seeming want wants \
     wanted wanting try tries tried trying keep keeps kept keeping use uses using become becomes became becoming happen \
     happens happened mean means meant look looks looked looking find finds found feel feels felt ask asks asked call \
     called need needs needed begin begins began begun start starts started add added according including include \
     includes included regarding concerning",
    // Chatter.
    "like well okay ok oh yes yeah hey hi hello please thank thanks thing things stuff way ways kind sort sure able etc \
     anyways lol",
    // Abbreviations of such words, and titles before names.
    "a.m p.m e.g i.e mr mrs ms",
    // Adjectives that fit any noun.
    "certain different unable possible similar due",
];

/// On the usual list as halves of contractions, but words of their own.
pub(super) const NOT_STOP_WORDS: [&str; 3] = ["won", "don", "ma"];
