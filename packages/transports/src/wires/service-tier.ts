import type { ModelRequest } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../catalogue/provider.js'

/** The field of the OpenAI wires that asks for a tier; nothing for the usual one, and where the endpoint has none. */
export function tierField(
  { serviceTier }: ModelRequest,
  { serviceTiers }: ProviderQuirks,
): { readonly service_tier?: 'priority' | 'flex' } {
  if (!serviceTiers || serviceTier === undefined || serviceTier === 'standard') return {}
  return { service_tier: serviceTier === 'fast' ? 'priority' : 'flex' }
}

const APART: readonly unknown[] = ['priority', 'fast', 'flex']

/** What an answer says about the tier it was made at: other than the usual one has prices of its own. */
export function pricedApart(served: unknown): { readonly isPricedApart?: true } {
  return APART.includes(served) ? { isPricedApart: true } : {}
}
