import { buildSystemPrompt, type ExtensionRegistry, MOST_PROMPT_TOKENS, type SystemPrompt } from '@hermes/agent-core'
import type { HermesConfig } from '@hermes/config'
import type { Clock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { MemorySection } from '@hermes/memory'
import { renderPromptSections } from '../extensions/prompt-sections.js'
import type { HomeMemory } from '../memory/home-memory.js'
import { findContextFile, readSoul } from './context-files.js'

const SHARE_OF_WINDOW = 0.25
const NOTHING_REMEMBERED: MemorySection = { text: '', problems: [] }

/** What the system text of a session is made of. */
interface SystemPromptFacts {
  readonly cwd: string
  /** Who the agent is: a text, or the file that says it. */
  readonly soul: string | { readonly path: string }
  /** `null` for one that speaks to no person. */
  readonly platform: string | null
  readonly environment: Environment
  readonly model: string
  readonly memory: HomeMemory | null
  readonly instructions: string | undefined
  readonly extensions: Pick<ExtensionRegistry, 'list'>
  readonly clock: Clock
  readonly config: Pick<HermesConfig, 'agent' | 'context_file_max_chars' | 'model' | 'platform_hints'>
}

/** The system text of a new session, read from the home, the project and the environment as they are now. */
export async function openSystemPrompt(facts: SystemPromptFacts): Promise<SystemPrompt> {
  const { soul, cwd, environment, memory, platform, config } = facts
  const maxChars = config.context_file_max_chars
  const own = { maxBytes: config.agent.extension_prompt_bytes, clock: facts.clock }
  const [identity, project, probe, remembered, added] = await Promise.all([
    typeof soul === 'string' ? null : readSoul(soul.path, maxChars),
    findContextFile({ cwd, maxChars }),
    environment.probe(),
    memory?.section() ?? NOTHING_REMEMBERED,
    renderPromptSections(facts.extensions, { platform, cwd, model: facts.model }, own),
  ])
  const named = typeof soul === 'string' ? { text: soul, path: 'built in, for children' } : identity?.file
  const { context_length: window } = config.model
  const prompt = buildSystemPrompt({
    ...(named ? { identity: named.text, identitySource: named.path ?? 'SOUL.md' } : {}),
    ...(platform === null ? {} : { platform, platformHint: config.platform_hints[platform] ?? {} }),
    environment: probe,
    environmentHint: config.agent.environment_hint,
    model: facts.model,
    contextFiles: project.file ? [project.file] : [],
    memory: remembered.text,
    extensions: added.sections,
    ...(facts.instructions === undefined ? {} : { instructions: facts.instructions }),
    // A window nobody stated is large enough, and looking it up would hold the first request up.
    maxTokens: window === undefined ? MOST_PROMPT_TOKENS : Math.min(MOST_PROMPT_TOKENS, window * SHARE_OF_WINDOW),
  })
  const problems = [
    ...(identity?.problems ?? []),
    ...project.problems,
    ...remembered.problems,
    ...added.problems,
    ...(prompt.problems ?? []),
  ]
  return problems.length === 0 ? prompt : { ...prompt, problems }
}
