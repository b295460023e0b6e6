"""What schemathesis must know of bodies that are not plain JSON."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def json_lines(context, value):
    """Any text is a body; most are no documents."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.deserializer("application/octet-stream")
def file(context, response):
    """A model file is bytes."""
    return response.content.decode("latin-1")
