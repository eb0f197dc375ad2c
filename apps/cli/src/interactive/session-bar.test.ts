import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createStyle } from '../render/style.js'
import { gitBranch } from './git-branch.js'
import { type BarField, drawBar, type SessionBar } from './session-bar.js'

const style = createStyle({ colors: false })
const BAR: SessionBar = {
  ...{
    model: 'claude-opus',
    contextTokens: 24_000,
    contextWindow: 200_000,
    cost: { calls: 2, knownCostUsd: 0.314, unpricedCalls: 0 },
    modes: ['plan', 'yolo'],
  },
  ...{ title: 'Garden', folder: '~/work', branch: 'main' },
}
const bar = (columns: number, change: Partial<SessionBar> = {}) => drawBar({ ...BAR, ...change }, { columns, style })

describe('the bar', () => {
  it('tells as much as three widths have room for', () => {
    expect(bar(120)).toBe('╰ claude-opus · 12% of 200k · $0.31 · plan, yolo · Garden · ~/work · main')
    expect(bar(80)).toBe('╰ claude-opus · 12% of 200k · $0.31 · plan, yolo · ~/work')
    expect(bar(44)).toBe('╰ claude-opus · 12% of 200k · plan, yolo')
    expect(bar(23)).toBeNull()
    expect(bar(24)).toHaveLength(23)
  })

  it('leaves out what nobody knows, and never says that something unpriced is free', () => {
    const unknown = { contextTokens: null, cost: null, modes: [], title: null, branch: null }
    expect(bar(120, unknown)).toBe('╰ claude-opus · ~/work')
    const costing = (calls: number, unpricedCalls: number, knownCostUsd: number) =>
      bar(120, { cost: { calls, unpricedCalls, knownCostUsd }, contextWindow: null, modes: [] })
    expect(costing(2, 2, 0)).toContain(' · 24k tokens · cost unknown · ')
    expect(costing(2, 1, 0.5)).toContain(' · ≥ $0.50 · ')
    expect(costing(2, 0, 0.0042)).toContain(' · $0.0042 · ')
    expect(costing(2, 0, 0)).toContain(' · $0.00 · ')
    expect(costing(0, 0, 0)).toBe('╰ claude-opus · 24k tokens · Garden · ~/work · main')
  })

  it('tells what is wanted of it, and no more', () => {
    const barOf = (fields: readonly BarField[]) => drawBar(BAR, { columns: 120, style, fields })
    expect(barOf(['branch', 'modes', 'model'])).toBe('╰ claude-opus · plan, yolo · main')
    expect(barOf(['modes', 'cost'])).toBe('╰ $0.31 · plan, yolo')
    expect(barOf(['modes'])).toBe('╰ plan, yolo')
  })

  it('makes modes stand out', () => {
    const marked = { ...style, notice: (text: string) => `<${text}>` }
    expect(drawBar(BAR, { columns: 80, style: marked })).toContain('$0.31 · <plan, yolo> · ~')
    expect(drawBar(BAR, { columns: 80, style: marked, fields: ['modes', 'folder'] })).toBe('╰ <plan, yolo> · ~/work')
  })

  it('shows nothing that a terminal would obey', () => {
    expect(bar(200, { title: 'a\u001B]0;x\u0007b\nc', folder: '/\u001B[2Jx', branch: '\u202Ey' })).toContain(
      'ab c · /x · \\u202ey',
    )
  })
})

describe('gitBranch', () => {
  it('finds the branch from below, that of a worktree, and a commit', () => {
    const root = mkdtempSync(join(tmpdir(), 'hermes-branch-'))
    mkdirSync(join(root, '.git/worktrees/w'), { recursive: true })
    mkdirSync(join(root, 'a/b'), { recursive: true })
    mkdirSync(join(root, 'w'))
    writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/feature/x\n')
    writeFileSync(join(root, 'w/.git'), `gitdir: ../.git/worktrees/w\n`)
    writeFileSync(join(root, '.git/worktrees/w/HEAD'), `${'ab'.repeat(20)}\n`)
    expect(gitBranch(join(root, 'a/b'))).toBe('feature/x')
    expect(gitBranch(join(root, 'w'))).toBe('abababab')
    writeFileSync(join(root, 'w/.git'), 'gitdir: nowhere')
    expect(gitBranch(join(root, 'w'))).toBeNull()
    expect(gitBranch('relative')).toBeNull()
  })
})
