import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Clock, Logger } from '@hermes/contracts'
import type { ExecOptions } from '@hermes/contracts/environment'
import { OutputCollector } from './output-collector.js'

const DEFAULT_OUTPUT_BYTES = 50_000
const MAX_SAVED_OUTPUT_BYTES = 50 * 1024 * 1024

/** What keeps one command's output, within the limit asked for. */
export function commandOutput(
  options: Pick<ExecOptions, 'maxOutputBytes'>,
  { outputDir, clock }: { readonly outputDir: string; readonly clock: Clock },
): OutputCollector {
  return new OutputCollector(options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES, {
    path: savedOutput(outputDir, clock),
    maxBytes: MAX_SAVED_OUTPUT_BYTES,
  })
}

/** Passes each piece of output to `output`, and as text to `listener`, whose failures are logged. */
export function outputListener(
  output: OutputCollector,
  listener: ((text: string) => void) | undefined,
  logger: Logger,
): (chunk: Buffer) => void {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return (chunk) => {
    output.push(chunk)
    if (!listener) return
    try {
      const text = decoder.decode(chunk, { stream: true })
      if (text) listener(text)
    } catch (error) {
      logger.warn('A listener for command output threw.', { error: String(error) })
    }
  }
}

/** Where something long is kept for a week. */
export function savedOutput(outputDir: string, clock: Clock): string {
  return join(outputDir, `output-${clock.now()}-${randomBytes(4).toString('hex')}.txt`)
}
