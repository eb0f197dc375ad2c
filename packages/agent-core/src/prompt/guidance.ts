/** One piece of advice for models that need it, and who they are. */
interface Guidance {
  readonly name: 'tool use' | 'model'
  readonly source: string
  readonly models: RegExp
  readonly text: string
}

/** What some families of models have to be told; the others do it by themselves. @see 001 section 12.5 */
const GUIDANCE: readonly Guidance[] = Object.freeze([
  {
    name: 'tool use',
    source: 'built in, for models that announce instead of acting',
    models: /gpt|codex|gemini|gemma|grok|glm|qwen|deepseek|llama|mistral/i,
    text: `Act through tools; do not describe what you are about to do and stop. Work until the task is done and checked, or you are
blocked; then say what was done and what you saw. Never state as done what no tool result shows.`,
  },
  {
    name: 'model',
    source: 'built in, for GPT and Codex',
    models: /gpt|codex/i,
    text: `Work out sums, hashes, dates and the state of this system with a tool, never from memory. Where a request has one obvious
reading, act on it instead of asking.`,
  },
  {
    name: 'model',
    source: 'built in, for Gemini and Gemma',
    models: /gemini|gemma/i,
    text: `Give tools absolute paths. See whether a library is part of the project before you use it. Give commands the flags that keep
them from asking questions.`,
  },
])

/** The advice for a model, in the order of the system text; empty for most. */
export function guidanceFor(model: string): readonly Pick<Guidance, 'name' | 'source' | 'text'>[] {
  return GUIDANCE.filter(({ models }) => models.test(model))
}

/**
 * What a model that takes over a session has to be told because the system text was made for another one; `null` when it is in there
 * already. The system text stays as it is for the sake of the cache, so this goes into the next message of the user.
 */
export function guidanceAfterSwitch(model: string, system: string): string | null {
  const missing = guidanceFor(model).filter(({ text }) => !system.includes(text))
  return missing.length === 0 ? null : missing.map(({ text }) => text).join('\n\n')
}
