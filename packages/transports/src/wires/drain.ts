const DRAIN_MS = 1_000

/** Reads off the rest of a body that is as good as over, for a second at most, so that its connection can serve the next request. */
export function drain(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const leave = () => {
    reader.cancel().catch(() => undefined)
  }
  const timer = setTimeout(leave, DRAIN_MS)
  timer.unref()
  const readOff = async () => {
    while (!(await reader.read()).done);
  }
  readOff()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}
