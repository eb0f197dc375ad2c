import type * as z from 'zod'
import type { CONFIG } from './keys/config.js'

type Known = z.output<typeof CONFIG>

/** `config.yaml` with defaults filled in, as `keys/` describes it. Names are those of the file; keys that are not known are kept too. */
export interface HermesConfig extends Omit<Known, 'auxiliary'> {
  /** Auxiliary tasks by name. */
  readonly auxiliary: Readonly<Record<string, Known['auxiliary']['vision']>>
}

/** The `model` section. A plain text in the file is `default`; `model.model` is another name of it. */
export type ModelSettings = HermesConfig['model']

/** One named endpoint under `providers`. */
export type ProviderSettings = HermesConfig['providers'][string]

/** Snapshots of the workspace before something in it may be destroyed. */
export type CheckpointSettings = HermesConfig['checkpoints']

/** The HTTP API of the gateway; the app has the defaults. */
export type ApiServerSettings = HermesConfig['gateway']['api_server']

/** The `terminal` section: where commands run and files live. */
export type TerminalSettings = HermesConfig['terminal']
