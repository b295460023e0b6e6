//! Moments and periods of the calendar (Gregorian, UTC).

use serde_json::Value;

const DAY: i64 = 86_400;

/// First moment of the year 10000: later ones are no times that people mean.
const END: i64 = 253_402_300_800;
/// First moment of the year 1.
const BEGIN: i64 = -62_135_596_800;

/// How long a period is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// From Monday on.
    Week,
    /// A month.
    Month,
    /// Three months.
    Quarter,
    /// A year.
    Year,
}

impl Period {
    /// All of them, the shortest first.
    pub const ALL: [Self; 6] = [Self::Hour, Self::Day, Self::Week, Self::Month, Self::Quarter, Self::Year];

    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    /// The number of the period that holds a moment; periods that follow each other have numbers that do.
    pub fn number(self, seconds: i64) -> i64 {
        let day = seconds.div_euclid(DAY);
        let months = || {
            let (year, month, _) = date_of(day);
            year * 12 + month - 1
        };
        match self {
            Self::Hour => seconds.div_euclid(3600),
            Self::Day => day,
            // 1 January 1970 was a Thursday.
            Self::Week => (day + 3).div_euclid(7),
            Self::Month => months(),
            Self::Quarter => months().div_euclid(3),
            Self::Year => months().div_euclid(12),
        }
    }

    /// The first moment of a period.
    pub fn start(self, number: i64) -> i64 {
        let of_month = |month: i64| day_of(month.div_euclid(12), month.rem_euclid(12) + 1, 1) * DAY;
        match self {
            Self::Hour => number * 3600,
            Self::Day => number * DAY,
            Self::Week => (number * 7 - 3) * DAY,
            Self::Month => of_month(number),
            Self::Quarter => of_month(number * 3),
            Self::Year => of_month(number * 12),
        }
    }
}

/// Days from 1 January 1970 to a date.
fn day_of(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the day that comes and goes is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // Months of 31 and 30 days take turns from March on, but for July and August, and December and January.
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Year, month and day of a number of days after 1 January 1970.
fn date_of(day: i64) -> (i64, i64, i64) {
    // 400 years have 146,097 days; the guess is off by one year at most.
    let mut year = (400 * (day + 719_468)).div_euclid(146_097);
    let start = |year: i64| day_of(year, 3, 1);
    while start(year + 1) <= day {
        year += 1;
    }
    while start(year) > day {
        year -= 1;
    }
    let rest = day - start(year);
    let month = (5 * rest + 2) / 153;
    let in_month = rest - (153 * month + 2) / 5 + 1;
    if month < 10 { (year, month + 3, in_month) } else { (year + 1, month - 9, in_month) }
}

/// A moment in seconds since 1970 as RFC 3339 writes it.
pub fn written(seconds: i64) -> String {
    let ((year, month, day), rest) = (date_of(seconds.div_euclid(DAY)), seconds.rem_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The moment that a field means, in seconds since 1970: RFC 3339, a date (2024-05-17, 2024-05, 2024), or epoch seconds.
/// Without an offset it is UTC. Otherwise what is wrong with it.
pub(crate) fn moment(value: &Value) -> Result<i64, String> {
    let seconds = match value {
        Value::String(text) => parse(text.trim()).ok_or_else(|| format!("`{}` is not a time", shown(text)))?,
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            if number.fract() == 0.0 && (1000.0..10_000.0).contains(&number) {
                day_of(number as i64, 1, 1) * DAY
            } else {
                number.floor() as i64
            }
        }
        Value::Null => return Err("there is no time".into()),
        other => return Err(format!("`{}` is not a time", shown(&other.to_string()))),
    };
    if (BEGIN..END).contains(&seconds) {
        return Ok(seconds);
    }
    let milliseconds = (BEGIN..END).contains(&(seconds / 1000));
    let hint = if milliseconds { " (milliseconds?)" } else { "" };
    Err(format!("{seconds} seconds since 1970 is not between the years 1 and 9999{hint}"))
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect::<String>().escape_debug().to_string()
}

fn parse(text: &str) -> Option<i64> {
    if let Ok(seconds) = text.parse::<f64>()
        && !(text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return seconds.is_finite().then(|| seconds.floor().clamp(-1e18, 1e18) as i64);
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |part| digits(part, 2))?;
    let day = parts.next().map_or(Some(1), |part| digits(part, 2))?;
    let first = day_of(year, month, 1);
    let length = if month == 12 { 31 } else { day_of(year, month + 1, 1) - first };
    let is_whole = date.len() == 10;
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=length).contains(&day) {
        return None;
    }
    let midnight = (first + day - 1) * DAY;
    match time {
        None => Some(midnight),
        Some(time) if is_whole => Some(midnight + time_of_day(time)?),
        Some(_) => None,
    }
}

/// Seconds after midnight UTC: `hh:mm`, perhaps with `:ss`, a fraction, and `Z` or an offset.
fn time_of_day(text: &str) -> Option<i64> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (&text[..at], &text[at..]),
        None => (text, "Z"),
    };
    let offset = match (&offset[..1], &offset[1..]) {
        ("Z" | "z", "") => 0,
        (sign @ ("+" | "-"), rest) => {
            let (hours, minutes) = rest.split_once(':').or_else(|| rest.split_at_checked(2))?;
            let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2).filter(|&m| m < 60)? };
            let seconds = digits(hours, 2).filter(|&h| h < 24)? * 3600 + minutes * 60;
            if sign == "-" { -seconds } else { seconds }
        }
        _ => return None,
    };
    let mut parts = clock.trim_end().splitn(3, ':');
    let hour = digits(parts.next()?, 2).filter(|&hour| hour < 24)?;
    let minute = digits(parts.next()?, 2).filter(|&minute| minute < 60)?;
    let second = match parts.next() {
        None => 0,
        Some(part) => {
            let (whole, fraction) = part.split_once(['.', ',']).unwrap_or((part, "0"));
            if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            // A leap second belongs to the minute that it ends.
            digits(whole, 2).filter(|&second| second <= 60)?.min(59)
        }
    };
    Some(hour * 3600 + minute * 60 + second - offset)
}

fn digits(text: &str, length: usize) -> Option<i64> {
    (text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn days_and_dates_belong_together() {
        // Every day of twelve centuries, counted one after the other.
        let (mut year, mut month, mut day) = (1200, 1, 1);
        for number in day_of(1200, 1, 1)..day_of(2400, 1, 1) {
            assert_eq!(date_of(number), (year, month, day));
            assert_eq!(day_of(year, month, day), number);
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                4 | 6 | 9 | 11 => 30,
                2 if leap => 29,
                2 => 28,
                _ => 31,
            };
            (year, month, day) = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                _ if day == length => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
        }
        assert_eq!((day_of(1970, 1, 1), day_of(2000, 3, 1), written(0)), (0, 11_017, "1970-01-01T00:00:00Z".into()));
        assert_eq!((written(BEGIN), written(END - 1)), ("0001-01-01T00:00:00Z".into(), "9999-12-31T23:59:59Z".into()));
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (value, expected) in [
            (json!("2024-05-17T10:30:00Z"), "2024-05-17T10:30:00Z"),
            (json!("2024-05-17t10:30:00.123+02:00"), "2024-05-17T08:30:00Z"),
            (json!("2024-05-17 10:30"), "2024-05-17T10:30:00Z"),
            (json!("2024-01-01T00:30:00-0130"), "2024-01-01T02:00:00Z"),
            (json!("1999-12-31T23:59:60Z"), "1999-12-31T23:59:59Z"),
            (json!(" 2024-02-29 "), "2024-02-29T00:00:00Z"),
            (json!("1987-10"), "1987-10-01T00:00:00Z"),
            (json!("1987"), "1987-01-01T00:00:00Z"),
            (json!(1987), "1987-01-01T00:00:00Z"),
            (json!(1_700_000_000), "2023-11-14T22:13:20Z"),
            (json!("1700000000"), "2023-11-14T22:13:20Z"),
            (json!(1_700_000_000.75), "2023-11-14T22:13:20Z"),
            (json!(-1), "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(moment(&value).map(written), Ok(expected.into()), "{value}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for (value, problem) in [
            (json!("yesterday"), "`yesterday` is not a time"),
            (json!("2023-02-29"), "`2023-02-29` is not a time"),
            (json!("2023-13-01"), "`2023-13-01` is not a time"),
            (json!("17/05/2024"), "`17/05/2024` is not a time"),
            (json!("2024-05-17T25:00:00Z"), "`2024-05-17T25:00:00Z` is not a time"),
            (json!("2024-05T10:00"), "`2024-05T10:00` is not a time"),
            (json!("2024-05-17T10:00:00+99:00"), "`2024-05-17T10:00:00+99:00` is not a time"),
            (json!(""), "`` is not a time"),
            (json!("é"), "`é` is not a time"),
            (json!("2024-05-17T10:00é"), "`2024-05-17T10:00é` is not a time"),
            (json!(null), "there is no time"),
            (json!([1]), "`[1]` is not a time"),
            (
                json!(1_700_000_000_000_i64),
                "1700000000000 seconds since 1970 is not between the years 1 and 9999 (milliseconds?)",
            ),
        ] {
            assert_eq!(moment(&value), Err(problem.into()), "{value}");
        }
    }

    #[test]
    fn periods_follow_each_other_and_hold_their_moments() {
        for period in Period::ALL {
            let mut seconds = moment(&json!("1969-11-28")).unwrap();
            while seconds < moment(&json!("1971-03-05")).unwrap() {
                let number = period.number(seconds);
                assert!(period.start(number) <= seconds && seconds < period.start(number + 1), "{period:?} {seconds}");
                assert_eq!(period.number(period.start(number)), number);
                seconds += 1801;
            }
        }
        let start = |period: Period, text: &str| written(period.start(period.number(moment(&json!(text)).unwrap())));
        assert_eq!(start(Period::Week, "2024-05-19"), "2024-05-13T00:00:00Z", "Sunday belongs to the week before");
        assert_eq!(start(Period::Quarter, "2024-05-19"), "2024-04-01T00:00:00Z");
        assert_eq!(start(Period::Hour, "2024-05-19T10:59:59Z"), "2024-05-19T10:00:00Z");
    }
}
