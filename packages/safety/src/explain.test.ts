import type { Action, Subject } from '@hermes/contracts/policy'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EvaluationSettings } from './evaluation-settings.js'
import { explainAction, rulesOfNoTool } from './explain.js'
import { createPolicy } from './index.js'

const run = (command: string): Action => ({ type: 'spawn', command, cwd: '/home/ada/project', backend: 'local' })
const write = (path: string): Action => ({ type: 'write', path, operation: 'write', backend: 'local' })
const subject: Subject = {
  sessionId: 's',
  platform: 'cli',
  agentPath: ['root'],
  origin: 'model',
  tainted: false,
  toolName: 'terminal',
}
const settings = (more: Partial<EvaluationSettings> = {}): EvaluationSettings => ({
  mode: 'ask',
  home: '/home/ada/.hermes',
  userHome: '/home/ada',
  workspace: ['/home/ada/project'],
  ...more,
})
const sourced = (record: Record<string, 'allow' | 'ask' | 'deny'>) =>
  Object.entries(record).map(([pattern, effect], at) => ({ pattern, effect, source: `p.yaml:${at + 1}:1` }))

describe('explainAction', () => {
  it('names the rule that decides with its place, and why each other rule does not', () => {
    const rules = sourced({
      'file.write': 'deny',
      'terminal.*': 'ask',
      'terminal(git *)': 'allow',
      'terminal(npm *)': 'deny',
      'browser.*': 'deny',
      'terminal.* on gateway': 'deny',
      'terminal(git push*)': 'deny',
    })
    const explained = explainAction(run('git push origin'), subject, settings({ rules, allowlist: ['git push *'] }))
    expect(explained).toMatchObject({
      action: 'Run git push origin',
      decision: 'deny',
      rule: 'terminal(git push*)',
      reason: 'The permission rule "terminal(git push*): deny" forbids it.',
      source: 'p.yaml:7:1',
    })
    expect(explained.rules.map(({ pattern, why }) => `${pattern}: ${why}`)).toEqual([
      'terminal(git push *): it matches, but "terminal(git push*): deny" comes later or is stricter',
      'file.write: it is about write, not spawn',
      'terminal.*: it matches, but "terminal(git push*): deny" comes later or is stricter',
      'terminal(git *): it matches, but "terminal(git push*): deny" comes later or is stricter',
      'terminal(npm *): npm * does not match',
      'browser.*: it is about the tool browser.*, not terminal',
      'terminal.* on gateway: it is for gateway, not cli',
      'terminal(git push*): ',
    ])
    expect(explained.steps.filter(({ decides }) => decides)).toEqual([
      { stage: 'rules', says: 'The permission rule "terminal(git push*): deny" forbids it.', decides: true },
    ])
  })

  it.each<[string, Action, Partial<EvaluationSettings>, string]>([
    ['floor', run('rm -rf /'), { mode: 'off' }, 'deny delete-system'],
    ['floor', { type: 'write', operation: 'remove', path: '/home/ada', backend: 'local' }, {}, 'deny delete-system'],
    ['deny-globs', run('x; git push'), { denyGlobs: ['git push*'] }, 'deny deny-glob'],
    ['protected', write('/home/ada/.hermes/auth.json'), { rules: sourced({ '*': 'allow' }) }, 'deny hermes-secrets'],
    ['protected', write('/home/ada/.bashrc'), {}, 'ask shell-startup'],
    ['rules', run('rm -rf x'), { rules: sourced({ '*': 'allow' }) }, 'allow *'],
    ['built-in', run('rm -rf x'), {}, 'ask recursive-delete'],
    ['built-in', run('ls'), {}, 'allow default'],
    ['leave', run('rm -rf x'), { allowlist: ['recursive_delete'] }, 'allow granted'],
    ['mode', run('rm -rf x'), { mode: 'off' }, 'allow mode-off'],
  ])('says that %s decides about %j with %j: %s', (stage, action, more, expected) => {
    const explained = explainAction(action, subject, settings(more))
    expect(explained.steps.find(({ decides }) => decides)?.stage).toBe(stage)
    expect(`${explained.decision} ${explained.rule}`).toBe(expected)
  })

  it('says of allowing rules that match only a part of a command line', () => {
    const rules = sourced({ 'terminal(git push*)': 'allow' })
    const whyOf = (command: string) => explainAction(run(command), subject, settings({ rules })).rules[0]!.why
    expect(whyOf('git push; rm -rf x')).toBe('it allows only a part of the command line')
    expect(whyOf('sudo git push')).toMatch(/^an allowing pattern covers neither wrappers such as sudo/)
  })

  it('says what a policy of the same settings decides', async () => {
    const pattern = fc.constantFrom(
      '*',
      'terminal.*',
      'terminal(git *)',
      'terminal(rm *)',
      'file.write',
      'file.*(src/**)',
    )
    const effect = fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const)
    const rules = fc.uniqueArray(fc.record({ pattern, effect }), { selector: (rule) => rule.pattern })
    const action = fc.constantFrom(
      run('git push -f'),
      run('rm -rf x; git status'),
      run('ls'),
      run('rm -rf /'),
      write('/home/ada/project/src/a'),
      write('/home/ada/.ssh/config'),
    )
    const mode = fc.constantFrom('ask' as const, 'off' as const)
    await fc.assert(
      fc.asyncProperty(rules, action, mode, async (written, wanted, asking) => {
        const options = settings({ rules: written, mode: asking })
        const policy = createPolicy(options)
        policy.listen('*', () => undefined)
        const decision = await policy.decide(wanted, subject)
        expect(explainAction(wanted, subject, options).decision).toBe(decision.type)
      }),
    )
  })
})

it('finds rules about tools that do not exist', () => {
  const rules = sourced({ 'painter.*': 'deny', 'browser.*': 'deny', 'mcp__x__*': 'deny', clarfy: 'ask', '*': 'ask' })
  expect(rulesOfNoTool(settings({ rules }), ['browser_click', 'clarify'])).toEqual(['painter.*', 'clarfy'])
})
