"""Generated requests against the OpenAPI document of a running service: no 5xx, and nothing that the document does not say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from load import Service, documents

# What is checked: status codes and answers are those of the document, hostile input is refused, nothing fails.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main() -> None:
    program, schemathesis = (str(Path(name).absolute()) for name in sys.argv[1:3])
    examples = sys.argv[3] if len(sys.argv) > 3 else "50"
    with Service(program, "--topics", "5", "--batch", "10", "--header-timeout", "60") as service:
        service.learn(list(documents(200)))
        service.wait_learnt()
        command = [
            schemathesis, "run", f"http://{service.address}/v1/openapi.json", "--checks", CHECKS,
            "--max-examples", examples, "--generation-deterministic", "--workers", "1",
            # An endless answer, and a large one.
            "--exclude-path", "/v1/events", "--request-timeout", "20",
        ]  # fmt: skip
        environment = os.environ | {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(Path(__file__).parent.resolve())}
        done = subprocess.run(command, cwd=service.folder.name, env=environment, check=False)
        alive = service.request("GET", "/readyz")[0] == 200
        print(json.dumps({"exit": done.returncode, "ready afterwards": alive}))
    sys.exit(done.returncode or not alive)


if __name__ == "__main__":
    main()
