-- For wrk: one request again and again, and the result as JSON.
wrk.method = os.getenv("WRK_METHOD")
wrk.body = os.getenv("WRK_BODY")

function done(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('RESULT {"requests_per_second": %.1f, "p50_ms": %.3f, "p99_ms": %.3f, "failed": %d}\n',
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
