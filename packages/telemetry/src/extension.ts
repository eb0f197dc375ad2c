import type { Extension } from '@hermes/contracts/extension'
import type { Recorder } from './recorder.js'

/** Where OpenTelemetry's API keeps what an SDK has registered, whatever copy of the API it did that with. */
const REGISTERED: unique symbol = Symbol.for('opentelemetry.js.api.1')

/**
 * Tells an OpenTelemetry SDK about runs, calls of models and calls of tools, as the conventions for generative AI have it: names, times,
 * tokens and error codes, never what was said. The operator brings the SDK and has it start before Hermes (`node --import`); without one
 * nothing is registered and nothing loads.
 * @see https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai
 */
export function telemetry(options: { readonly version: string }): Extension {
  return {
    name: 'telemetry',
    setup(api) {
      if (!isHeard()) return
      let loading: Promise<Recorder> | null = null
      const recorder = () => (loading ??= import('./recorder.js').then(({ openRecorder }) => openRecorder(options)))
      // An answer and a tool take the time they take.
      const untimed = { timeoutMs: Number.POSITIVE_INFINITY }
      api.hooks.on('run-start', async (event) => (await recorder()).beginRun(event))
      api.hooks.on('model-execution', async (event) => (await recorder()).callModel(event), untimed)
      api.hooks.on('tool-execution', async (event) => (await recorder()).callTool(event), untimed)
      api.hooks.on('run-end', async (event) => (await recorder()).endRun(event))
      // Hermes ends its process itself, before an SDK that waits for that has sent what it holds.
      return async () => (await loading)?.flush()
    },
  }
}

/** Whether anybody listens: what is left of an SDK that was taken back holds nothing. */
function isHeard(): boolean {
  const registered = (globalThis as { readonly [REGISTERED]?: Readonly<Record<string, unknown>> })[REGISTERED]
  return registered?.['trace'] !== undefined || registered?.['metrics'] !== undefined
}
