//! Who may do what: tokens, and requests that a browser was tricked into.

use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use gibbstream::{Error, Result};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// A token that can be guessed is none.
const SHORTEST_TOKEN: usize = 16;

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing.
    None,
    /// Ask.
    Read,
    /// Ask, and send documents and orders.
    Write,
}

/// The tokens that are asked for, as hashes: their comparison takes the same time wherever they differ, and nothing that is
/// printed by mistake gives one away.
#[derive(Clone, Copy, Default)]
pub struct Tokens {
    write: Option<blake3::Hash>,
    read: Option<blake3::Hash>,
}

impl Tokens {
    /// Tokens from files that nobody else can read.
    pub fn load(write: Option<&Path>, read: Option<&Path>) -> Result<Self> {
        let hash = |path: &Path| token(path).map(|token| blake3::hash(token.as_bytes()));
        Ok(Self { write: write.map(hash).transpose()?, read: read.map(hash).transpose()? })
    }

    /// Whether anybody may do anything.
    pub fn are_none(&self) -> bool {
        self.write.is_none() && self.read.is_none()
    }

    /// What the sender of these headers may do.
    pub fn access(&self, headers: &HeaderMap) -> Access {
        if self.are_none() {
            return Access::Write;
        }
        let Some(token) = headers.get(header::AUTHORIZATION).and_then(|value| given(value.as_bytes())) else {
            return Access::None;
        };
        let hash = Some(blake3::hash(token));
        // Both comparisons are made, whatever the first one says.
        let (writes, reads) = (hash == self.write, hash == self.read);
        match (writes, reads) {
            (true, _) => Access::Write,
            (_, true) => Access::Read,
            _ => Access::None,
        }
    }
}

/// The token in `Bearer TOKEN`.
fn given(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at(value.iter().position(|&byte| byte == b' ')?);
    scheme.eq_ignore_ascii_case(b"bearer").then(|| token.trim_ascii())
}

fn token(path: &Path) -> Result<String> {
    let refused = |problem: &str, advice: &str| {
        Err(Error::setting(path.display().to_string(), problem.to_owned(), advice.to_owned()))
    };
    check_permissions(path)?;
    let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, "read", source))?;
    let token = text.trim();
    if token.len() < SHORTEST_TOKEN || token.contains(char::is_whitespace) {
        return refused(
            "it does not hold a token of at least 16 characters without blanks",
            "make one with: head -c 24 /dev/urandom | base64 > FILE",
        );
    }
    Ok(token.to_owned())
}

#[cfg(unix)]
fn check_permissions(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let found = path.metadata().map_err(|source| Error::io(path, "read", source))?;
    if found.mode() & 0o077 != 0 {
        let problem = format!("others may read or change it (mode {:o})", found.mode() & 0o777);
        let advice = format!("chmod 600 {}", path.display());
        return Err(Error::setting(path.display().to_string(), problem, advice));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_permissions(_: &Path) -> Result<()> {
    Ok(())
}

/// Refuses to listen where others can reach the service, unless a token is asked for.
pub fn check_address(listen: SocketAddr, tokens: &Tokens) -> Result<()> {
    if listen.ip().is_loopback() || !tokens.are_none() {
        return Ok(());
    }
    Err(Error::setting(
        "listen",
        format!("{listen} can be reached from other machines, and no token is required"),
        "listen on 127.0.0.1, or name a file with a token with {token-file}",
    ))
}

/// Hosts and origins that requests may name.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// It does not say which host it is for, or another one: a name that an attacker let point to this machine.
    Host,
    /// A page of another site sent it.
    Origin,
}

impl Sites {
    pub fn new(hosts: &[String], origins: &[String]) -> Self {
        let lower = |texts: &[String]| {
            texts.iter().map(|text| text.trim_end_matches('/').to_ascii_lowercase()).collect()
        };
        Self { hosts: lower(hosts), origins: lower(origins) }
    }

    /// Whether a page of that origin was allowed to use the service.
    pub fn allows(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| *allowed == origin.to_ascii_lowercase())
    }

    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Foreign> {
        let one = |name| {
            let mut all = headers.get_all(name).iter();
            let first = all.next().map(|value| value.to_str().unwrap_or_default().to_ascii_lowercase());
            if all.next().is_some() { Err(Foreign::Host) } else { Ok(first) }
        };
        let host = match one(header::HOST)? {
            Some(host) => host,
            None => uri
                .authority()
                .map(|authority| authority.as_str().to_ascii_lowercase())
                .ok_or(Foreign::Host)?,
        };
        if !self.is_ours(&host) {
            return Err(Foreign::Host);
        }
        if let Some(origin) = one(header::ORIGIN).map_err(|_| Foreign::Origin)? {
            let same = origin.split_once("://").is_some_and(|(_, rest)| rest == host);
            return if same || self.allows(&origin) { Ok(()) } else { Err(Foreign::Origin) };
        }
        let site = one(HeaderName::from_static("sec-fetch-site")).unwrap_or_default();
        let is_foreign = matches!(site.as_deref(), Some("cross-site" | "same-site"));
        let changes = *method != Method::GET && *method != Method::HEAD;
        if is_foreign && changes { Err(Foreign::Origin) } else { Ok(()) }
    }

    /// Addresses cannot be pointed elsewhere; names can, so only known ones will do.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => match rest.split_once(']') {
                Some((address, port)) if port.is_empty() || is_port(port) => address,
                _ => return false,
            },
            None => match host.rsplit_once(':') {
                Some((name, digits)) if is_port(&format!(":{digits}")) => name,
                Some(_) => return false,
                None => host,
            },
        };
        name == "localhost"
            || name.parse::<IpAddr>().is_ok()
            || self.hosts.iter().any(|known| known == name || known == host)
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|digits| digits.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let sites = Sites::new(&["topics.example".into()], &["https://other.example".into()]);
        let check = |method: &Method, pairs: &[(&'static str, &str)]| {
            sites.check(method, &Uri::from_static("/"), &headers(pairs))
        };
        let get = |host: &str| check(&Method::GET, &[("host", host)]);
        for host in [
            "localhost",
            "LOCALHOST:8700",
            "127.0.0.1:1",
            "[::1]:8700",
            "[::1]",
            "192.168.0.7",
            "topics.example:80",
        ] {
            assert_eq!(get(host), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "",
            "[::1",
            "[x]:1",
            "localhost:99999",
            "a:b:c",
            "127.0.0.1.nip.io",
        ] {
            assert_eq!(get(host), Err(Foreign::Host), "{host}");
        }
        assert_eq!(check(&Method::GET, &[]), Err(Foreign::Host));
        assert_eq!(
            check(&Method::GET, &[("host", "localhost"), ("host", "evil.example")]),
            Err(Foreign::Host)
        );
        let post = |pairs: &[(&'static str, &str)]| {
            check(&Method::POST, &[&[("host", "localhost:8700")], pairs].concat())
        };
        assert_eq!(post(&[]), Ok(()));
        assert_eq!(post(&[("origin", "http://localhost:8700")]), Ok(()));
        assert_eq!(post(&[("origin", "https://other.example")]), Ok(()));
        for origin in ["http://evil.example", "null", "http://localhost", "http://localhost:8701", ""] {
            assert_eq!(post(&[("origin", origin)]), Err(Foreign::Origin), "{origin}");
        }
        assert_eq!(post(&[("sec-fetch-site", "cross-site")]), Err(Foreign::Origin));
        assert_eq!(post(&[("sec-fetch-site", "same-origin")]), Ok(()));
    }

    #[test]
    fn tokens_open_what_they_are_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            use std::os::unix::fs::PermissionsExt;
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let (write, read) = (file("w", "wwwwwwwwwwwwwwww\n", 0o600), file("r", "rrrrrrrrrrrrrrrrrr", 0o400));
        let tokens = Tokens::load(Some(&write), Some(&read)).unwrap();
        let access = |value: &str| tokens.access(&headers(&[("authorization", value)]));
        assert_eq!(access("Bearer wwwwwwwwwwwwwwww"), Access::Write);
        assert_eq!(access("bearer   rrrrrrrrrrrrrrrrrr "), Access::Read);
        for wrong in [
            "Bearer",
            "Bearer ",
            "Bearer wwwwwwwwwwwwwwww\twwww",
            "wwwwwwwwwwwwwwww",
            "Basic d3d3",
            "Digest x",
        ] {
            assert_eq!(access(wrong), Access::None, "{wrong}");
        }
        assert_eq!(tokens.access(&HeaderMap::new()), Access::None);
        assert_eq!(Tokens::default().access(&HeaderMap::new()), Access::Write);
        let refused = |path: &Path| Tokens::load(Some(path), None).err().unwrap().to_string();
        assert!(
            refused(&file("o", "wwwwwwwwwwwwwwww", 0o640))
                .contains("others may read or change it (mode 640); chmod 600")
        );
        assert!(refused(&file("s", "short", 0o600)).contains("at least 16 characters"));
        assert!(refused(&folder.path().join("none")).contains("cannot read"));
    }

    #[test]
    fn only_loopback_needs_no_token() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        for open in ["127.0.0.1:8700", "[::1]:0"] {
            assert!(check_address(address(open), &Tokens::default()).is_ok());
        }
        for open in ["0.0.0.0:8700", "192.168.0.1:80", "[::]:1"] {
            let refused = check_address(address(open), &Tokens::default()).unwrap_err().to_string();
            assert!(refused.contains("no token is required"), "{refused}");
        }
    }
}
