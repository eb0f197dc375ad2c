import type { Io } from './io.js'

/** Another entry point: it takes the rest of the line and says itself what it takes. */
interface EntryPoint {
  readonly description: string
  readonly load: () => Promise<{ main(argv: readonly string[], io: Io): Promise<number> }>
}

/** The other entry points, by the name of their command. */
export const ENTRY_POINTS: Readonly<Record<string, EntryPoint>> = {
  gateway: { description: 'serve the agent as an OpenAI-compatible API', load: () => import('@hermes/gateway') },
  acp: { description: 'serve an editor over the Agent Client Protocol', load: () => import('@hermes/acp') },
}
