import type { HermesConfig, loadConfig } from '@hermes/config'
import type { RuntimeOptions } from '../runtime.js'

type Loaded = Pick<Awaited<ReturnType<typeof loadConfig>>, 'config' | 'own'>

/** What was loaded, as the way Hermes was started has it: the flags of {@link RuntimeOptions}, or their variables. Nothing is loosened by it. */
export function startedWith<L extends Loaded>(
  loaded: L,
  options: Pick<RuntimeOptions, 'safe' | 'ignoreRules' | 'maxCostUsd' | 'env'>,
): L {
  const { ignoreRules, maxCostUsd, env } = options
  const ignores = isSafe(options) || ignoreRules === true || env['HERMES_IGNORE_RULES'] === '1'
  let { config, own } = loaded
  if (ignores) config = withoutRules(config)
  if (isSafe(options)) [config, own] = [withoutParts(config), []]
  if (maxCostUsd !== undefined) config = withinCost(config, maxCostUsd)
  return { ...loaded, config, own }
}

/** Without instructions of the project, SOUL.md and what is remembered. */
function withoutRules(config: HermesConfig): HermesConfig {
  const memory = { ...config.memory, memory_enabled: false, user_profile_enabled: false, provider: '' }
  return { ...config, context_file_max_chars: 0, memory } as HermesConfig
}

/** Without code and servers of others; MCP servers are among the keys of parts. */
function withoutParts(config: HermesConfig): HermesConfig {
  return {
    ...config,
    extensions: [],
    hooks: {},
    hook_files: [],
    context: { ...config.context, engine: 'compressor' },
  } as HermesConfig
}

function withinCost(config: HermesConfig, usd: number): HermesConfig {
  const { turn } = config.budget
  return { ...config, budget: { ...config.budget, turn: { ...turn, usd: Math.min(usd, turn?.usd ?? usd) } } }
}

/** Whether nothing of others is to run. */
export function isSafe({ safe, env }: Pick<RuntimeOptions, 'safe' | 'env'>): boolean {
  return safe === true || env['HERMES_SAFE_MODE'] === '1'
}
