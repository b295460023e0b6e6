//! JSON lines.

use super::{check, json};

#[test]
fn json_lines() {
    check(&[
        json(
            b"{\"text\": \"cat\"}\n{\"text\": \"dog\"\n",
            "DIR/in.jsonl:2: is not valid JSON at column 14: EOF while parsing an object; every line \
             must hold one whole JSON object",
        ),
        json(
            b"{\"text\": \"cat}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 14: EOF while parsing a string; every line \
             must hold one whole JSON object",
        ),
        json(
            b"{\"text\": \"cat\"} {\"text\": \"dog\"}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 17: trailing characters; every line must \
             hold one whole JSON object",
        ),
        json(
            b"{\"text\": \"\\ud800\"}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 17: unexpected end of hex escape; every \
             line must hold one whole JSON object",
        ),
        json(
            b"{text: 1}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 2: key must be a string; every line must \
             hold one whole JSON object",
        ),
        json(
            b"{\n  \"text\": \"cat\"\n}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 1: EOF while parsing an object; every line \
             must hold one whole JSON object",
        ),
        json(
            b"[{\"text\": \"cat\"}]\n",
            "DIR/in.jsonl:1: is a list, not a JSON object; write one object per line, such as {\"id\": \
             \"1\", \"text\": \"...\"}",
        ),
        json(
            b"\"cat\"\n",
            "DIR/in.jsonl:1: is a string, not a JSON object; write one object per line, such as \
             {\"id\": \"1\", \"text\": \"...\"}",
        ),
        json(
            b"17\n",
            "DIR/in.jsonl:1: is a number, not a JSON object; write one object per line, such as \
             {\"id\": \"1\", \"text\": \"...\"}",
        ),
        json(
            b"cat\n",
            "DIR/in.jsonl:1: is not valid JSON at column 1: expected value; every line must hold one \
             whole JSON object",
        ),
        json(
            b"{\"text\": \"caf\xe9\"}\n",
            "DIR/in.jsonl:1: is not UTF-8 text at byte 14 of the line; convert the file to UTF-8, \
             for example with `iconv`",
        ),
        json(
            b"{\"body\": \"cat\", \"id\": 1}\n",
            "DIR/in.jsonl:1: has no field `text` (fields: `body`, `id`); name the field that holds \
             the text with `text-field`",
        ),
        json(
            b"{}\n",
            "DIR/in.jsonl:1: has no field `text` (fields: none); name the field that holds the text \
             with `text-field`",
        ),
        json(
            b"{\"text\": \"cat\"}\n",
            "DIR/in.jsonl:1: has no field `body` (fields: `text`); name the field that holds the \
             text with `text-field`",
        )
        .reading(|inputs, _| inputs.text_field = "body".into()),
        json(
            b"{\"text\": 3}\n",
            "DIR/in.jsonl:1: field `text` is a number, not a string or a list of tokens; name the \
             field that holds the text with `text-field`",
        ),
        json(
            b"{\"text\": null}\n",
            "DIR/in.jsonl:1: field `text` is null, not a string or a list of tokens; name the field \
             that holds the text with `text-field`",
        ),
        json(
            b"{\"text\": {\"en\": \"cat\"}}\n",
            "DIR/in.jsonl:1: field `text` is an object, not a string or a list of tokens; name the \
             field that holds the text with `text-field`",
        ),
        json(
            b"{\"text\": [\"cat\", 7]}\n",
            "DIR/in.jsonl:1: token 2 of field `text` is a number; a list of tokens holds strings",
        ),
        json(
            b"{\"text\": [\"cat\\ndog\"]}\n",
            "DIR/in.jsonl:1: token 1 of field `text` has a line break in it; a list of tokens holds \
             strings",
        ),
        json(
            b"{\"text\": \"cat\", \"id\": [1]}\n",
            "DIR/in.jsonl:1: field `id` is a list, not a string or a number; name the field that \
             holds the document's name with `id-field`",
        ),
        json(
            b"{\"text\": \"cat\", \"id\": true}\n",
            "DIR/in.jsonl:1: field `id` is true or false, not a string or a number; name the field \
             that holds the document's name with `id-field`",
        ),
    ]);
}
