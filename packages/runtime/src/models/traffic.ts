import { constants } from 'node:fs'
import { access, open, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { errorLine, HermesError } from '@hermes/contracts'
import type { EnvironmentProbe } from '@hermes/contracts/environment'
import type { WireApi } from '@hermes/contracts/model'
import { createRecorder, defaultPlaceholders, type Placeholder, serveRecording } from '@hermes/transports'
import type { ModelChoice } from './model-choice.js'

/** Where model requests go and through which fetch. */
interface Traffic {
  readonly baseUrl: string
  readonly fetch: typeof fetch
  /** The model of a recording. */
  readonly model?: string | null
  /** The wire of a recording. */
  readonly api?: WireApi
  readonly close?: () => Promise<void>
}

/** Options of {@link openTraffic}. */
interface TrafficOptions {
  readonly choice: ModelChoice
  /** Makes the way to an origin. */
  readonly fetchTo: (baseUrl: string) => typeof fetch
  readonly record?: string
  readonly replay?: string
  /** What the system text says about the machine; needed to record and replay. */
  readonly probe: EnvironmentProbe | null
  readonly tempDir: string
}

/** The way to the chosen endpoint and nowhere else; recorded or replayed when asked for. */
export async function openTraffic(options: TrafficOptions): Promise<Traffic> {
  const { choice, fetchTo, record, replay, probe } = options
  const placeholders = probe ? machinePlaceholders(probe, options.tempDir) : []
  if (replay !== undefined) {
    if (record !== undefined)
      throw new HermesError('A run either records or replays. Leave --record or --replay out.', {
        code: 'runtime.bad_recording',
      })
    await requireFile(replay)
    const server = await serveRecording({ file: replay, placeholders })
    const { baseUrl, model, api } = server
    return { baseUrl, model, api, fetch: fetchTo(baseUrl), close: () => server.close() }
  }
  const pinned = fetchTo(choice.baseUrl)
  if (record === undefined) return { baseUrl: choice.baseUrl, fetch: pinned }
  await requireWritable(record)
  const recorder = await createRecorder({ file: record, fetch: pinned, placeholders })
  return { baseUrl: choice.baseUrl, fetch: recorder.fetch, close: () => recorder.close() }
}

async function requireFile(file: string): Promise<void> {
  const unreadable = (why: string, cause?: unknown) =>
    new HermesError(`Cannot read the recording ${file}: ${why}.`, { code: 'runtime.bad_recording', cause })
  const found = await stat(file).catch((cause: unknown) => {
    throw unreadable(errorLine(cause), cause)
  })
  if (!found.isFile()) throw unreadable('it is not a file')
  await access(file, constants.R_OK).catch((cause: unknown) => {
    throw unreadable(errorLine(cause), cause)
  })
}

const FORMAT = 'hermes-recording'
const FIRST_BYTES = 200

/** Fails before anything is asked when the file cannot be written, or holds something that is not a recording. */
async function requireWritable(file: string): Promise<void> {
  try {
    const handle = await open(file, 'a+', 0o600)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(FIRST_BYTES), 0, FIRST_BYTES, 0)
      if (bytesRead === 0 || buffer.toString('utf8', 0, bytesRead).includes(FORMAT)) return
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw new HermesError(`Cannot record to ${file}: ${errorLine(cause)}.`, { code: 'runtime.bad_recording', cause })
  }
  throw new HermesError(`${file} exists and is not a recording, so it is not overwritten. Choose another file.`, {
    code: 'runtime.bad_recording',
  })
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
