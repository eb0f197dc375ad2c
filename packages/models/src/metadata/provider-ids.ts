/** What the sources of metadata call a provider of the catalogue, where that is another name. */
interface MetadataIds {
  readonly modelsDev: string
  readonly genaiPrices: string
}

const OTHER_NAMES: Readonly<Record<string, Partial<MetadataIds>>> = {
  gemini: { modelsDev: 'google', genaiPrices: 'google' },
  vertex: { modelsDev: 'google-vertex', genaiPrices: 'google' },
  xai: { genaiPrices: 'x-ai' },
  'kimi-coding': { modelsDev: 'moonshotai', genaiPrices: 'moonshotai' },
  'kimi-coding-cn': { modelsDev: 'moonshotai-cn', genaiPrices: 'moonshotai' },
  'minimax-cn': { genaiPrices: 'minimax' },
  bedrock: { modelsDev: 'amazon-bedrock', genaiPrices: 'aws' },
  'azure-foundry': { modelsDev: 'azure', genaiPrices: 'azure' },
  copilot: { modelsDev: 'github-copilot', genaiPrices: 'github-copilot' },
  together: { modelsDev: 'togetherai' },
  fireworks: { modelsDev: 'fireworks-ai' },
  'ai-gateway': { modelsDev: 'vercel' },
  'opencode-zen': { modelsDev: 'opencode' },
  'opencode-free': { modelsDev: 'opencode' },
  'alibaba-coding-plan': { modelsDev: 'alibaba' },
}

/** The names of a provider of the catalogue at the sources of metadata. */
export function metadataIds(provider: string): MetadataIds {
  return { modelsDev: provider, genaiPrices: provider, ...OTHER_NAMES[provider] }
}
