import { estimateTokens } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import { guidanceAfterSwitch } from './guidance.js'
import { LAYER_TOKENS } from './layers.js'
import { buildSystemPrompt } from './system-prompt.js'

const environment = {
  backend: 'docker',
  os: 'Linux 6.1',
  user: 'root',
  home: '/root',
  cwd: '/workspace',
  shell: '/bin/bash',
}
const all = {
  identity: 'You are Ada.',
  identitySource: '/home/me/.hermes/SOUL.md',
  platform: 'cli',
  environment,
  model: 'gpt-5',
  skills: 'SKILLS\n- pdf: fills forms',
  contextFiles: [{ name: 'AGENTS.md', path: '/w/AGENTS.md', text: 'Use tabs.\n' }],
  memory: 'MEMORY\nlikes tea',
  instructions: 'Answer in verse.',
}

describe('buildSystemPrompt', () => {
  it('puts every layer in its place and knows where it came from', () => {
    const { text, layers, problems } = buildSystemPrompt(all)
    expect(layers.map(({ name, source }) => `${name}: ${source}`)).toEqual([
      'identity: /home/me/.hermes/SOUL.md',
      'platform: built in, for cli',
      'environment: asked from docker',
      'tool use: built in, for models that announce instead of acting',
      'model: built in, for GPT and Codex',
      'ways of working: built in',
      'skills: skills',
      'project: /w/AGENTS.md',
      'memory: memories',
      'instructions: given by the program',
    ])
    expect(text).toBe(layers.map((layer) => layer.text).join('\n\n'))
    expect(text).toContain('All tools act inside this docker environment')
    expect(problems).toBeUndefined()
  })

  it('says of surface and machine what a person adds or puts in place', () => {
    const text = (options: object) =>
      buildSystemPrompt({ ...all, ...options }).layers.flatMap(({ name, source, text }) =>
        name === 'platform' || source.startsWith('agent.') ? [`${source}: ${text}`] : [],
      )
    const [builtIn] = text({})
    expect(builtIn).toMatch(/^built in, for cli: You speak through a terminal/)
    expect(text({ platformHint: { append: 'Rhyme.' }, environmentHint: 'A rented machine.' })).toEqual([
      builtIn!.replace('built in, for cli', 'platform_hints.cli').concat('\nRhyme.'),
      'agent.environment_hint: A rented machine.',
    ])
    expect(text({ platformHint: { replace: 'Speak Latin.' } })).toEqual(['platform_hints.cli: Speak Latin.'])
    expect(text({ platform: 'acp' })).toEqual([expect.stringMatching(/^built in, for acp: .*path:line/)])
  })

  it('is the same whatever time it is', () => {
    expect(buildSystemPrompt(all)).toEqual(buildSystemPrompt(all))
    expect(buildSystemPrompt(all).text).not.toMatch(/20\d\d-|\d\d:\d\d/)
  })

  it('leaves out what is not there', () => {
    expect(buildSystemPrompt().layers.map(({ name }) => name)).toEqual(['identity', 'ways of working'])
  })

  it('cuts a layer to its budget, keeps its head and tail, and says so', () => {
    const memory = `first fact\n${'a fact about something\n'.repeat(2_000)}last fact`
    const { layers, problems } = buildSystemPrompt({ ...all, memory })
    const cut = layers.find(({ name }) => name === 'memory')!
    expect(estimateTokens(cut.text)).toBeLessThanOrEqual(LAYER_TOKENS.memory)
    expect(cut.text).toMatch(/^first fact\n[\s\S]*characters left out[\s\S]*last fact$/)
    expect(problems).toEqual([expect.stringMatching(/^memories was cut to about 3000 of its \d+ tokens/)])
  })

  it('takes from memory first and from the project last when all together are too much', () => {
    const long = (name: string) => `${name} ${'word '.repeat(4_000)}`
    const memory = `MEMORY ${'word '.repeat(1_500)}`
    const options = { ...all, memory, skills: `SKILLS ${'word '.repeat(1_500)}` }
    const contextFiles = [{ name: 'AGENTS.md', text: long('PROJECT') }]
    const { layers } = buildSystemPrompt({ ...options, contextFiles, maxTokens: 7_000 })
    const tokens = (name: string) => estimateTokens(layers.find((layer) => layer.name === name)!.text)
    expect(layers.reduce((sum, { text }) => sum + estimateTokens(text), 0)).toBeLessThanOrEqual(7_000)
    expect(tokens('memory')).toBeLessThan(200)
    expect(tokens('project')).toBeGreaterThan(4_900)
    expect(layers.find(({ name }) => name === 'identity')!.text).toBe('You are Ada.')
  })
})

describe('guidanceAfterSwitch', () => {
  it('gives a new model what the prompt of the old one lacks, and nothing on the way back', () => {
    const forClaude = buildSystemPrompt({ ...all, model: 'claude-sonnet-4' }).text
    const forGpt = buildSystemPrompt(all).text
    expect(guidanceAfterSwitch('gpt-5', forClaude)).toMatch(/^Act through tools[\s\S]*never from memory/)
    expect(guidanceAfterSwitch('gemini-3-pro', forGpt)).toMatch(/^Give tools absolute paths/)
    expect(guidanceAfterSwitch('gpt-5', forGpt)).toBeNull()
    expect(guidanceAfterSwitch('claude-sonnet-4', forClaude)).toBeNull()
  })
})
