//! Writes the seeds that depend on the code: views, statistics, models and Parquet files.

use gibbstream::file::{ShownWords, TopicLabels};
use gibbstream::learn::ModelKind;
use gibbstream::learn::trainer::Trainer;
use gibbstream::{Features, Model, Vocabulary};
use gibbstream_fuzz::{Begun, batch, kinds, settings};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (place, kind) in kinds().into_iter().enumerate() {
        let (learner, batch) = (Begun::new(kind).learner, batch(kind));
        let view = learner.view_bytes(&batch)?;
        // The first byte tells the kind of model.
        let begun = |bytes: Vec<u8>| [vec![place as u8], bytes].concat();
        write(&format!("statistics/{}", kind.name()), &begun(learner.e_step_bytes(&view, &batch)?))?;
        write(&format!("view/{}", kind.name()), &begun(view))?;
        write(&format!("model/{}", kind.name()), &model(kind)?)?;
    }
    for compression in
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::try_new(1)?)]
    {
        let name = format!("{compression:?}").to_lowercase();
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        write(&format!("parquet/{name}"), &texts(compression)?)?;
        write(&format!("parquet_rows/{name}"), &numbers(compression)?)?;
    }
    Ok(())
}

fn write(name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    std::fs::create_dir_all(path.parent().expect("seeds have folders"))?;
    std::fs::write(path, bytes)
}

fn model(kind: ModelKind) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let settings = settings(kind);
    let mut trainer = Trainer::new(settings.clone(), 1)?;
    trainer.partial_fit(batch(kind))?;
    let fitted = trainer.into_fitted().ok_or("nothing was learnt")?;
    let names = ["a", "b", "c", "d", "e"];
    let features = if kind.has_topics() {
        Features::Words(Vocabulary::new(names)?)
    } else {
        Features::Columns(names.map(str::to_owned).to_vec())
    };
    let (labels, shown) = (TopicLabels::default(), ShownWords::default());
    let model = Model { settings, fitted, features, tokenizer: None, history: Vec::new(), labels, shown };
    Ok(model.to_bytes()?)
}

fn properties(compression: Compression) -> Arc<WriterProperties> {
    Arc::new(WriterProperties::builder().set_compression(compression).build())
}

fn texts(compression: Compression) -> parquet::errors::Result<Vec<u8>> {
    let schema = Arc::new(parse_message_type(
        "message m { required binary id (UTF8); required binary text (UTF8); }",
    )?);
    let mut out = Vec::new();
    let mut file = SerializedFileWriter::new(&mut out, schema, properties(compression))?;
    let mut group = file.next_row_group()?;
    for values in [["a", "b", "c"], ["cat dog", "", "emu emu cat"]] {
        let Some(mut column) = group.next_column()? else { break };
        let values: Vec<ByteArray> = values.iter().map(|&value| ByteArray::from(value)).collect();
        column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        column.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(out)
}

fn numbers(compression: Compression) -> parquet::errors::Result<Vec<u8>> {
    let schema = Arc::new(parse_message_type("message m { required double a; required double b; }")?);
    let mut out = Vec::new();
    let mut file = SerializedFileWriter::new(&mut out, schema, properties(compression))?;
    let mut group = file.next_row_group()?;
    for values in [[1.0, -2.5, 3e9], [0.0, 0.125, 7.0]] {
        let Some(mut column) = group.next_column()? else { break };
        column.typed::<DoubleType>().write_batch(&values, None, None)?;
        column.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(out)
}
