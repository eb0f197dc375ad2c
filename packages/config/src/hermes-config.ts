import type * as z from 'zod'
import type { CONFIG } from './keys/config.js'

type Known = z.output<typeof CONFIG>

/** `config.yaml` with defaults filled in, as `keys/` describes it. Names are those of the file; keys that are not known are kept too. */
export interface HermesConfig extends Omit<Known, 'auxiliary'> {
  /** Auxiliary tasks by name. */
  readonly auxiliary: Readonly<Record<string, Known['auxiliary']['vision']>>
}

/** One named endpoint under `providers`. */
export type ProviderSettings = HermesConfig['providers'][string]

/** The HTTP API of the gateway; the app has the defaults. */
export type ApiServerSettings = HermesConfig['gateway']['api_server']

/** The `terminal` section: where commands run and files live. */
export type TerminalSettings = HermesConfig['terminal']
