import type { Clock } from '@hermes/contracts'
import { createSessionHost, type SessionHost } from '@hermes/host'
import { type OpenedHome, openHome } from '@hermes/runtime'
import type { Io } from '@hermes/runtime/app'

const IDLE_MS = 30 * 60_000

/** An opened Hermes home and its sessions. */
export interface Home extends OpenedHome {
  readonly host: SessionHost
}

/** Opens the home for editors. */
export async function openEditorHome(io: Io, options: { readonly yolo: boolean }, clock: Clock): Promise<Home> {
  const opened = await openHome(io, { ...options, program: 'hermes acp' })
  const { runtime, logger } = opened
  return { ...opened, host: createSessionHost({ runtime, idleMs: IDLE_MS, clock, logger }) }
}
