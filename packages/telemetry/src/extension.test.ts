import type { ExtensionApi } from '@hermes/contracts/extension'
import { trace } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { telemetry } from './index.js'

/** The points at which it looks in. */
function pointsOf(): readonly string[] {
  const points: string[] = []
  const on = (name: string) => {
    points.push(name)
    return { dispose: () => undefined }
  }
  telemetry({ version: '1' }).setup({ hooks: { on } } as unknown as ExtensionApi)
  return points
}

it('looks at nothing where no SDK is registered, and at runs and calls where one is', () => {
  expect(pointsOf()).toEqual([])
  trace.setGlobalTracerProvider({ getTracer: () => trace.getTracer('none') })
  try {
    expect(pointsOf()).toEqual(['run-start', 'model-execution', 'tool-execution', 'run-end'])
  } finally {
    trace.disable()
  }
})
