//! Plots as PNG, for places that do not show SVG.

use anyhow::Context;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Dots for each unit of an SVG, so that small text stays readable.
const DOTS: f32 = 2.0;

/// Fonts to look for, the first that is there: those of the SVG, and what systems have instead of them.
const FONTS: [&str; 6] = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Nimbus Sans"];

/// Draws SVG as PNG with the fonts of the system.
pub struct Painter {
    options: Options<'static>,
}

impl Painter {
    /// Nothing if the system has no font: pictures without words would say little.
    pub fn new() -> Option<Self> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let known = FONTS.into_iter().find(|name| has(&fonts, name)).map(str::to_owned);
        let any = || fonts.faces().next().map(|face| face.families[0].0.clone());
        let font = known.or_else(any)?;
        fonts.set_sans_serif_family(&font);
        Some(Self { options: Options { font_family: font, fontdb: Arc::new(fonts), ..Options::default() } })
    }

    pub fn png(&self, svg: &str) -> anyhow::Result<Vec<u8>> {
        let tree = Tree::from_str(svg, &self.options).context("cannot read a plot of our own")?;
        let size = tree.size().to_int_size().scale_by(DOTS).context("a plot has no size")?;
        let mut dots = Pixmap::new(size.width(), size.height()).context("a plot has no size")?;
        resvg::render(&tree, Transform::from_scale(DOTS, DOTS), &mut dots.as_mut());
        dots.encode_png().context("cannot pack a plot")
    }
}

fn has(fonts: &Database, name: &str) -> bool {
    fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() }).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_what_the_plot_has() {
        let Some(painter) = Painter::new() else {
            eprintln!("SKIPPED: no font on this system, so no PNG");
            return;
        };
        let around = |inside: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\" viewBox=\"0 0 40 20\" \
                 font-family=\"Helvetica, Arial, sans-serif\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\
                 {inside}</svg>"
            )
        };
        let dots = |inside: &str| Pixmap::decode_png(&painter.png(&around(inside)).unwrap()).unwrap();
        let dark = |picture: &Pixmap| picture.pixels().iter().filter(|dot| dot.red() < 128).count();
        let empty = dots("");
        assert_eq!((empty.width(), empty.height(), dark(&empty)), (80, 40, 0));
        assert!(dark(&dots("<text x=\"2\" y=\"15\" font-size=\"14\" fill=\"#222222\">Kgq</text>")) > 100);
        let line = "<line x1=\"0\" y1=\"10\" x2=\"40\" y2=\"10\" stroke=\"#000000\" stroke-width=\"2\" stroke-dasharray=\"\"/>";
        assert_eq!(dark(&dots(line)), 80 * 4);
    }
}
