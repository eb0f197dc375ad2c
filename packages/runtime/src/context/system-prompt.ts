import type { ExtensionRegistry, PlatformHint, SystemPrompt } from '@hermes/agent-core'
import { buildSystemPrompt, MOST_PROMPT_TOKENS } from '@hermes/agent-core'
import type { HermesConfig } from '@hermes/config'
import type { Clock } from '@hermes/contracts'
import { errorLine } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { PromptSection, PromptSectionContext } from '@hermes/contracts/extension'
import type { MemorySection } from '@hermes/memory'
import type { HomeSkills } from '@hermes/skills'
import type { HomeMemory } from '../memory/home-memory.js'
import { findContextFile, readSoul } from './context-files.js'

const SHARE_OF_WINDOW = 0.25
const USUAL_WINDOW_TOKENS = 200_000
const NOTHING_REMEMBERED: MemorySection = { text: '', problems: [], isUnconfirmed: false }

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
  /** Missing for one that cannot load any. */
  readonly skills?: Pick<HomeSkills, 'section'>
  readonly instructions: string | undefined
  readonly extensions: Pick<ExtensionRegistry, 'list'>
  readonly clock: Clock
  readonly config: Pick<HermesConfig, 'agent' | 'context_file_max_chars' | 'model'>
  /** How to speak on a platform. */
  readonly hintOf: (platform: string) => PlatformHint
}

/** The system text of a new session, read from the home, the project and the environment as they are now. */
export async function openSystemPrompt(facts: SystemPromptFacts): Promise<SystemPrompt> {
  const { soul, cwd, environment, memory, skills, platform, config } = facts
  const { context_length: window } = config.model
  const maxChars = config.context_file_max_chars
  const own = { maxBytes: config.agent.extension_prompt_bytes, clock: facts.clock }
  const [identity, project, probe, remembered, listed, added] = await Promise.all([
    typeof soul === 'string' ? null : readSoul(soul.path, maxChars),
    findContextFile({ cwd, maxChars }),
    environment.probe(),
    memory?.section() ?? NOTHING_REMEMBERED,
    skills?.section({ cwd, windowTokens: window ?? USUAL_WINDOW_TOKENS }),
    renderPromptSections(facts.extensions, { platform, cwd, model: facts.model }, own),
  ])
  const named = typeof soul === 'string' ? { text: soul, path: 'built in, for children' } : identity?.file
  const prompt = buildSystemPrompt({
    ...(named ? { identity: named.text, identitySource: named.path ?? 'SOUL.md' } : {}),
    ...(platform === null ? {} : { platform, platformHint: facts.hintOf(platform) }),
    environment: probe,
    environmentHint: config.agent.environment_hint,
    model: facts.model,
    contextFiles: project.file ? [project.file] : [],
    ...(listed ? { skills: listed.text, skillsSource: listed.source, skillsSources: listed.sources } : {}),
    memory: remembered.text,
    memorySources: [{ type: 'note', name: 'an unconfirmed note in memory', isMarked: remembered.isUnconfirmed }],
    extensions: added.sections,
    ...(facts.instructions === undefined ? {} : { instructions: facts.instructions }),
    // A window nobody stated is large enough, and looking it up would hold the first request up.
    maxTokens: window === undefined ? MOST_PROMPT_TOKENS : Math.min(MOST_PROMPT_TOKENS, window * SHARE_OF_WINDOW),
  })
  const problems = [
    ...(identity?.problems ?? []),
    ...project.problems,
    ...remembered.problems,
    ...(listed?.problems ?? []),
    ...added.problems,
    ...(prompt.problems ?? []),
  ]
  return problems.length === 0 ? prompt : { ...prompt, problems }
}

const RENDER_WITHIN_MS = 30_000
const BETWEEN = '\n\n'

/** Texts for the system text, and what was left out of it. */
interface RenderedSections {
  readonly sections: readonly { readonly source: string; readonly text: string }[]
  readonly problems: readonly string[]
}

/** Renders what extensions add to the system text of one session, at most `maxBytes` together; the first ones have their place first. */
async function renderPromptSections(
  registry: Pick<ExtensionRegistry, 'list'>,
  context: PromptSectionContext,
  { maxBytes, clock }: { readonly maxBytes: number; readonly clock: Clock },
): Promise<RenderedSections> {
  const registered = registry.list('section').toSorted(({ item: a }, { item: b }) => (a.order ?? 0) - (b.order ?? 0))
  const texts = await Promise.allSettled(registered.map(({ item }) => withinTime(item, context, clock)))
  const sections: { source: string; text: string }[] = []
  const problems: string[] = []
  let left = maxBytes
  for (const [index, { owner, item }] of registered.entries()) {
    const source = `${item.name} of the extension ${owner}`
    const rendered = texts[index]!
    if (rendered.status === 'rejected') problems.push(`${source} is left out: ${errorLine(rendered.reason)}`)
    else if (rendered.value !== undefined && rendered.value.trim() !== '') {
      const room = Math.max(0, left - (sections.length > 0 ? BETWEEN.length : 0))
      const text = cutToBytes(rendered.value.trim(), Math.min(room, item.maxBytes ?? room))
      if (text.length < rendered.value.trim().length)
        problems.push(`${source} was cut to ${Buffer.byteLength(text)} bytes.`)
      if (text === '') continue
      sections.push({ source, text })
      left = room - Buffer.byteLength(text)
    }
  }
  return { sections, problems }
}

async function withinTime({ render }: PromptSection, context: PromptSectionContext, clock: Clock) {
  const ended = new AbortController()
  const late = clock.sleep(RENDER_WITHIN_MS, ended.signal).then(() => {
    throw new Error(`it took longer than ${RENDER_WITHIN_MS} ms.`)
  })
  try {
    const text: unknown = await Promise.race([render(context), late])
    if (text === undefined || typeof text === 'string') return text
    throw new TypeError('it is no text.')
  } finally {
    late.catch(() => undefined)
    ended.abort()
  }
}

/** The beginning of a text, cut between two characters. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
}
