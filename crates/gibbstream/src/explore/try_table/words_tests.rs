//! `web/tests/unit/words.json` holds what the program makes of many texts. The page, which cuts text by itself when a document
//! is tried, is tested with the same file.
//!
//! After a change of the rules: `GIBBSTREAM_WRITE_WORDS=1 cargo test -p gibbstream --lib words_of_the_page`, then
//! `npm run unit` in `web/`.

use super::rules_of;
use crate::corpus::{Html, Language, StopWords, Tokenizer};
use serde_json::{Value, json};
use std::path::Path;

/// By rule: markup, entities, addresses, apostrophes, hyphens, numbers, points, scripts, emoji, normal forms.
const TEXTS: [&str; 60] = [
    "",
    "The cat, (a dog) & two birds.",
    "good<br /><br>film <b>H</b>ello <I>you</I>",
    "a < b and c > d, if x<b and c>d, 1 <2 <3",
    "<a href=\"x>y\" class='z'>link</a> <p checked>x <p strange>y",
    "<!-- a > b -->seen<!-- open words",
    "<script type=\"a\">var hidden = '<b>';</script>seen<STYLE>p {}</style >again",
    "<script>alert(open) to the end",
    "shares of <IBM> and <XON.N> rose <grin> <some thing>",
    "<x:y z=\"1\">text</x:y> <w/> </unknown> </p class=\"x\">",
    "<someone@example.com> <http://a.com>",
    "<!DOCTYPE html><?xml version='1'?><![CDATA[data]]><![if x]>",
    "caf&eacute; AT&amp;T rock&#8217;n &unknown; & &#x; &#xE9; &nbsp x &copy=1 &#150; &#0; &#xD800; &#99999999999999999999;",
    "&lt;p&gt;Escaped&lt;/p&gt; &amp;nbsp;page &amp;lt;b&amp;gt;twice",
    "cut off <a href=\"http://x.y/z",
    "<a href=\"a>b</a> < </ <a",
    "didn't Fed's O'Reilly 'quoted' rock 'n' roll fed\u{2019}s DIDN\u{2019}T it's IT\u{2019}S let's James's boys'",
    "co\u{ad}operate well-known state-of-the-art twenty\u{2011}one soft\u{2010}ware",
    "e-mail T-shirt X-ray R&D AT&T rock&roll s&p-500 a-b-c",
    "covid-19 F-16 boeing-747 19-year-old b-52s mi-24000 catch-22",
    "mp3 b2b 3d h1n1 1990s 747 3.14 1,000 12:30 24/7 90210-1234 covid19 x1y2z3",
    "user12345 a1b2c3d4 550e8400-e29b-41d4-a716-446655440000 v2-beta deadbeef01",
    "the U.S. and e.g. this p.m. Ph.D. J.R.R. Tolkien U.S.A's",
    "good.The film...It ended--badly,no:yes 10,no 10:x",
    "see http://a.com/b?c=d, www.x.org/y or me.you+z@mail.example.com! ftp://h/x (https://e.org/a_(b))",
    "cnn.com/politics example.org. foo@bar @user a@b.c x@y. me@host-.com- index.html notes.txt/x",
    "\"http://quoted.example\" http://umlaut-ä.de/ö http://a.com\u{3000}after 电影https://t.co/abc电影",
    "_very_ snake_case ___ nul\0byte __init__ _'s_",
    "great 👍🏽👍 ❤\u{fe0f} 👨\u{200d}👩\u{200d}👧 🇩🇪🇫🇷 ☃✈word🎉word",
    "看电影AI技术2024年 我喜欢看电影，因为这部电影很有意思。 々 佐々木",
    "図書館のテレビで東京タワーを見た カタカナ ｶﾀｶﾅ",
    "ภาษาไทย ພາສາລາວ မြန်မာဘာသာ ភាសាខ្មែរ",
    "\u{202b}שלום עולם\u{202c} مرحبا بالعالم كـــتاب",
    "हिन्दी भाषा می\u{200c}خواهم বাংলা தமிழ்",
    "한국어 문장 \u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}",
    "Éa naïve Straße ΟΔΟΣ Ελλάδα ПРИВЕТ İstanbul ISPARTA ǅ",
    "ﬁlm ofﬁce Ｆｕｌｌ　ｗｉｄｔｈ cafe\u{301} Windows™ x² ½ cup ㏇ ⒜ ① №5 ℡",
    "The President´s man `quoted´ ¨o a\u{301}\u{327}b",
    "l'homme qu\u{2019}il aujourd'hui l\u{2019}arte dell'anno d'accord",
    "new york, New York and new-york; hard drive. hard. Drive the hard  drive",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
    "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z",
    "\u{feff}bom\u{200b}zero\u{2060}width a\u{200d}b \u{200e}mark",
    "$5 50% #tag @name ~tilde x=y a/b c\\d \"quoted\" [one] {two} 3\u{a0}km",
    "Ⅳ iv Ⅷth ⅷ x\u{2044}y ²nd 5\u{2032}",
    "tab\tnew\nline\r\nreturn\u{2028}separator\u{85}next",
    "'tis 'twas y'all'd rock-'n'-roll o'clock's ''double'' don''t",
    "-leading trailing- a--b - -- .dot. ...x &and& &",
    "<B>old</B>style<BR>tags <font color=red>red</font>dish H<sub>2</sub>O x<wbr>y",
    "<div data-x='a' hidden>in</div><span>spans</span>part<td>cells</td>",
    "&Eacute;t&eacute; &szlig; &Alpha;&beta; &euro;5 &quot;x&quot; &apos;s &shy;hy&shy;phen",
    "a&b c&d R&amp;D &amp;amp; &lt;&lt; &#60;br&#62; &#x3c;i&#x3e;",
    "WWW.EXAMPLE.COM Example.Com/Path HTTP://X/Y mailto:me@a.org me@a.org's",
    "a.b@c.d a_b@c.de a%b@c.de a+b@c.de a-b@c.de é@c.de a@é.de a@-.-",
    "1st 2nd 3rd 4th 21st-century 10-K 8-k A4 4A v1.2.3 10.1.2.3 1:2 1,2,a 1,2a",
    "Mr. Smith, mrs o'neil; ms. X vs. Y no.5 No. 5 St.Petersburg i.e.that",
    "😀😀😀 :-) <3 ♥ \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🏳\u{fe0f}\u{200d}🌈 9\u{fe0f}\u{20e3}",
    "\u{1d400}\u{1d401} \u{20000}\u{20001}\u{20002} \u{10400}\u{10428}",
    "said the one who would say that she could not see the film",
    "Schiff und Hafen, das Schiff; der Hafen der Stadt",
];

/// Alphabets of made-up texts, each with what one rule is about.
const ALPHABETS: [&str; 5] = [
    "abAB1 .,'@:/&+%_<é\u{2019}-",
    "<>&!/?abps \"'=;#é-",
    "a1-.&,:' ",
    "ﬁ´Aé\u{301}½ ①가か\u{3099}™\u{ad}\u{200d}a",
    "看电カの👍🇩\u{fe0f}\u{200d}a 1.",
];

fn made_up() -> impl Iterator<Item = String> {
    let mut state = 1_u64;
    let mut below = move |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    (0..400).map(move |number| {
        let alphabet: Vec<char> = ALPHABETS[number % ALPHABETS.len()].chars().collect();
        (0..4 + below(20)).map(|_| alphabet[below(alphabet.len())]).collect()
    })
}

fn tokenizers() -> Vec<Tokenizer> {
    let plain = || Tokenizer { stop_words: StopWords::none(), min_length: 1, ..Tokenizer::default() };
    let of = |code: &str| {
        let language = Language::parse(code).unwrap();
        Tokenizer { language, ..Tokenizer::auto() }.decided(&[] as &[&str])
    };
    vec![
        Tokenizer::default(),
        plain(),
        Tokenizer { html: Html::Strip, keep_urls: true, ngrams: 3, ..plain() },
        Tokenizer { html: Html::Keep, lowercase: false, ..Tokenizer::default() },
        Tokenizer { phrases: vec!["hard_drive".to_owned(), "new_york".to_owned()].into(), ..Tokenizer::default() },
        of("fr"),
        of("de"),
        of("tr"),
    ]
}

/// The tokens of a text, with their places in UTF-16 units.
fn tokens(tokenizer: &Tokenizer, text: &str) -> Vec<Value> {
    let mut tokens = Vec::new();
    let units = |place: usize| text[..place].encode_utf16().count();
    tokenizer.tokenize_with_places(text, |word, place| tokens.push(json!([word, units(place.start), units(place.end)])));
    tokens
}

/// The rules that the page gets, without the table of words.
fn rules(tokenizer: &Tokenizer) -> Value {
    let all = serde_json::to_value(rules_of(tokenizer)).unwrap();
    let of_table = ["words", "starts", "topics", "codes", "rest", "steps", "coverage", "word_coverage"];
    let kept = all.as_object().unwrap().iter().filter(|(name, _)| !of_table.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Rules, and texts with their tokens.
fn made() -> Vec<(Value, Vec<Value>)> {
    let made_up: Vec<String> = made_up().collect();
    let of = |(number, tokenizer): (usize, &Tokenizer)| {
        // The made-up ones once, where nothing is dropped.
        let more = if number == 1 { made_up.as_slice() } else { &[] };
        let all = TEXTS.iter().copied().chain(more.iter().map(String::as_str));
        (rules(tokenizer), all.map(|text| json!([text, tokens(tokenizer, text)])).collect())
    };
    tokenizers().iter().enumerate().map(of).collect()
}

/// One text a line, so that changes can be read.
fn written(made: &[(Value, Vec<Value>)]) -> String {
    let one = |(rules, texts): &(Value, Vec<Value>)| {
        let lines: Vec<String> = texts.iter().map(Value::to_string).collect();
        format!("{{\"rules\": {rules},\n\"texts\": [\n{}\n]}}", lines.join(",\n"))
    };
    format!("[\n{}\n]\n", made.iter().map(one).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn words_of_the_page_are_those_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tests/unit/words.json");
    let made = made();
    if std::env::var_os("GIBBSTREAM_WRITE_WORDS").is_some() {
        std::fs::write(&path, written(&made)).unwrap();
    }
    let kept: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let advice = "text is cut in another way than web/tests/unit/words.json says; if the change is meant, run \
        `GIBBSTREAM_WRITE_WORDS=1 cargo test -p gibbstream --lib words_of_the_page`, and change web/src/data/text with it";
    assert_eq!(kept.len(), made.len(), "{advice}");
    for (kept, (rules, texts)) in kept.iter().zip(&made) {
        assert_eq!(&kept["rules"], rules, "{advice}");
        let kept = kept["texts"].as_array().unwrap();
        assert_eq!(kept.len(), texts.len(), "{advice}");
        for (kept, made) in kept.iter().zip(texts) {
            assert_eq!(kept, made, "{advice}");
        }
    }
}
