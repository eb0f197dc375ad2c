// Command lines as the policy judges them where nothing holds a command: harm that is visible asks, everyday work does not.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPolicy } from '@hermes/safety'
import { expect, it } from 'vitest'
import { KNOWN_HOLES } from './known-holes.js'

interface Corpus {
  readonly scene: { readonly cwd: string; readonly userHome: string; readonly hermesHome: string }
  readonly harmful: readonly { readonly line: string; readonly harm: string }[]
  readonly everyday: readonly { readonly line: string }[]
}
const corpus = JSON.parse(readFileSync(join(import.meta.dirname, 'commands.json'), 'utf8')) as Corpus
const { cwd, userHome, hermesHome } = corpus.scene

async function allowed(lines: readonly { readonly line: string }[]): Promise<readonly string[]> {
  const policy = createPolicy({ mode: 'ask', home: hermesHome, userHome, workspace: [cwd] })
  policy.listen('*', () => {})
  const found: string[] = []
  for (const [index, { line }] of lines.entries()) {
    const subject = {
      sessionId: `s${index}`,
      platform: 'cli',
      agentPath: ['root'],
      origin: 'model',
      tainted: false,
      toolName: 'terminal',
      workspace: cwd,
    } as const
    const decision = await policy.decide({ type: 'spawn', command: line, cwd, backend: 'local' }, subject)
    if (decision.type === 'allow') found.push(line)
  }
  return found
}

it('a line whose harm is visible asks or is refused', async () => {
  expect(await allowed(corpus.harmful)).toEqual(KNOWN_HOLES.harmful)
})

it('of everyday lines at most one in fifty asks', async () => {
  const unasked = new Set(await allowed(corpus.everyday))
  const requested = corpus.everyday.map(({ line }) => line).filter((line) => !unasked.has(line))
  expect(requested.length, requested.join('\n')).toBeLessThanOrEqual(corpus.everyday.length * 0.02)
})
