import { hostname } from 'node:os'
import type { EnvironmentProbe } from '@hermes/contracts/environment'
import type { WireApi } from '@hermes/contracts/model'
import { createOriginFetch } from '@hermes/safety'
import { createRecorder, defaultPlaceholders, type Placeholder, serveRecording } from '@hermes/transports'
import type { ModelChoice } from './model-choice.js'

/** Where model requests go and through which fetch. */
export interface Traffic {
  readonly baseUrl: string
  readonly fetch: typeof fetch
  /** The model of a recording. */
  readonly model?: string | null
  /** The wire of a recording. */
  readonly api?: WireApi
  readonly close?: () => Promise<void>
}

/** Options of {@link openTraffic}. */
export interface TrafficOptions {
  readonly choice: ModelChoice
  readonly record?: string
  readonly replay?: string
  /** What the system text says about the machine; needed to record and replay. */
  readonly probe: EnvironmentProbe | null
  readonly tempDir: string
}

/** The way to the chosen endpoint and nowhere else; recorded or replayed when asked for. */
export async function openTraffic(options: TrafficOptions): Promise<Traffic> {
  const { choice, record, replay, probe } = options
  const placeholders = probe ? machinePlaceholders(probe, options.tempDir) : []
  if (replay !== undefined) {
    const server = await serveRecording({ file: replay, placeholders })
    const { baseUrl, model, api } = server
    return { baseUrl, model, api, fetch: createOriginFetch({ baseUrl }), close: () => server.close() }
  }
  const pinned = createOriginFetch({ baseUrl: choice.baseUrl })
  if (record === undefined) return { baseUrl: choice.baseUrl, fetch: pinned }
  const recorder = await createRecorder({ file: record, fetch: pinned, placeholders })
  return { baseUrl: choice.baseUrl, fetch: recorder.fetch, close: () => recorder.close() }
}

/** Everything in a request that differs from machine to machine. */
function machinePlaceholders(probe: EnvironmentProbe, tempDir: string): Placeholder[] {
  return [
    { name: 'os', pattern: `System: ${probe.os}`, value: `System: ${probe.os}` },
    { name: 'shell', pattern: `Shell: ${probe.shell}`, value: `Shell: ${probe.shell}` },
    {
      name: 'login',
      pattern: `User: ${probe.user}, home ${probe.home}`,
      value: `User: ${probe.user}, home ${probe.home}`,
    },
    ...defaultPlaceholders({ cwd: probe.cwd, home: probe.home, tempDir, host: hostname(), user: probe.user }),
  ]
}
