// The line after an answer in a chat: what made it.
import { basename } from 'node:path'
import { contextTokens } from '@hermes/agent-core'
import { formatDuration } from '@hermes/contracts'
import type { SessionHandle } from '@hermes/host'

const FIELDS = ['model', 'context_pct', 'cwd']

/** In the order of `fields` (default: model, window and folder), without those that are not known; others are left out. */
export async function footerOf(
  handle: Pick<SessionHandle, 'agent'>,
  { fields, latencyMs }: { readonly fields: readonly string[]; readonly latencyMs: number },
): Promise<string> {
  const ready = await handle.agent()
  const window = ready.contextWindow()
  const share = window === null || window <= 0 ? null : contextTokens(ready.agent.entries()) / window
  const known: Readonly<Record<string, string>> = {
    model: ready.model,
    context_pct: share === null ? '' : `${Math.min(100, Math.round(share * 100))} % of the context`,
    cwd: basename(ready.cwd),
    latency: formatDuration(latencyMs),
  }
  return (fields.length === 0 ? FIELDS : fields)
    .map((field) => known[field] ?? '')
    .filter((text) => text !== '')
    .join(' · ')
}
