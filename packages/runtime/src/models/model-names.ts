import type { Provider } from '@hermes/transports'

/** A family of models: how its names begin, who makes it, and where the maker serves it itself. */
interface Family {
  readonly begins: RegExp
  /** Names of the maker in front of a model, the one that gateways use first. */
  readonly vendors: readonly [string, ...string[]]
  /** Providers of the catalogue that serve it by its bare name. */
  readonly houses: readonly string[]
}

const FAMILIES: readonly Family[] = [
  { begins: /^claude-/, vendors: ['anthropic'], houses: ['anthropic'] },
  { begins: /^(?:gpt-\d|chatgpt-|o[1-9](?:-|$))/, vendors: ['openai'], houses: ['openai', 'openai-codex'] },
  { begins: /^gemini-/, vendors: ['google', 'gemini'], houses: ['gemini'] },
  { begins: /^grok-/, vendors: ['x-ai', 'xai'], houses: ['xai', 'xai-oauth'] },
  { begins: /^deepseek-/, vendors: ['deepseek', 'deepseek-ai'], houses: ['deepseek'] },
  { begins: /^(?:mistral|magistral|codestral|devstral)-/, vendors: ['mistralai', 'mistral'], houses: ['mistral'] },
  { begins: /^glm-/, vendors: ['z-ai', 'zai', 'zai-org'], houses: ['zai'] },
  { begins: /^kimi-/, vendors: ['moonshotai', 'moonshot'], houses: ['kimi-coding', 'kimi-coding-cn'] },
  { begins: /^minimax-/, vendors: ['minimax'], houses: ['minimax', 'minimax-cn', 'minimax-oauth'] },
]

/** Gateways that put the maker in front of each name. */
const PREFIXING = new Set(['openrouter', 'kilocode'])

const CLAUDE_VERSION = /^(claude-(?:[a-z]+-)?\d{1,2})[-.](\d{1,2})(?=$|[-:@])/

/**
 * A model's name as a provider of the catalogue writes it: with or without the maker in front, with dots or dashes in the version of a
 * Claude, in lower case where names are. A name of no family that is known stays as it is. Pure.
 */
export function modelNameAt({ id }: Pick<Provider, 'id'>, model: string): string {
  const { vendor, name } = partsOf(model)
  const family = familyOf(name, vendor)
  if (!family) return model
  if (PREFIXING.has(id)) return `${family.vendors[0]}/${dotted(name.toLowerCase())}`
  if (id === 'copilot') return dotted(name.toLowerCase())
  if (!family.houses.includes(id)) return model
  // MiniMax writes its names with capitals.
  if (family.vendors[0] === 'minimax') return name
  return name.toLowerCase().replace(CLAUDE_VERSION, '$1-$2')
}

/** Who serves a model itself, then the gateways that have it; for choosing among those whose key is there. Pure. */
export function providersOf(model: string): readonly string[] {
  const { vendor, name } = partsOf(model)
  const family = familyOf(name, vendor)
  return family ? [...family.houses, ...PREFIXING] : vendor === null ? [] : [...PREFIXING]
}

function partsOf(model: string): { readonly vendor: string | null; readonly name: string } {
  const [, vendor = null, name = model] = /^([^/]+)\/([^/]+)$/.exec(model) ?? []
  return { vendor: vendor?.toLowerCase() ?? null, name }
}

function familyOf(name: string, vendor: string | null): Family | undefined {
  const found = FAMILIES.find(({ begins }) => begins.test(name.toLowerCase()))
  return vendor === null || found?.vendors.includes(vendor) ? found : undefined
}

function dotted(name: string): string {
  return name.replace(CLAUDE_VERSION, '$1.$2')
}
