import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '@hermes/contracts'
import { OutputCollector } from '../shell/output-collector.js'

const MAX_OUTPUT_BYTES = 50_000
const MAX_ERROR_BYTES = 10_000
const MAX_SAVED_BYTES = 50 * 1024 * 1024

/** The two outputs of one program, within their limits. */
export class CapturedOutput {
  readonly stdout: OutputCollector
  readonly stderr: OutputCollector

  constructor({ outputDir, clock }: { readonly outputDir: string; readonly clock: Clock }) {
    mkdirSync(outputDir, { recursive: true, mode: 0o700 })
    const overflow = () => ({
      path: join(outputDir, `output-${clock.now()}-${randomBytes(4).toString('hex')}.txt`),
      maxBytes: MAX_SAVED_BYTES,
    })
    this.stdout = new OutputCollector(MAX_OUTPUT_BYTES, overflow())
    this.stderr = new OutputCollector(MAX_ERROR_BYTES, overflow())
  }

  /** Both as text, said to be cut where they are; nothing is taken afterwards. */
  end(): { readonly output: string; readonly errors: string; readonly fullOutputPath: string | null } {
    this.stdout.end()
    this.stderr.end()
    const { filePath, totalBytes } = this.stdout
    const cut = totalBytes > MAX_OUTPUT_BYTES ? '\n[output truncated at 50KB]' : ''
    return { output: this.stdout.text() + cut, errors: this.stderr.text(), fullOutputPath: filePath }
  }
}
