import type { Action, ApprovalChoice, Subject } from '@hermes/contracts/policy'
import { expect, it } from 'vitest'
import { createPolicy } from './index.js'

const cwd = '/home/ada/app'
const subject: Subject = {
  ...{ sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false, workspace: cwd },
}
const run = (command: string): Action => ({ type: 'spawn', command, cwd, backend: 'local' })

/** What a policy without isolation says to commands: the rules it asks by, or what it decides by itself. */
function open() {
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', workspace: [cwd] })
  policy.listen('*', () => undefined)
  const says = async (command: string, answer: ApprovalChoice = 'once', by: Subject = subject) => {
    const decision = await policy.decide(run(command), by)
    if (decision.type !== 'ask') return decision.type
    await policy.answer(decision.approvalId, answer)
    await policy.settled(decision.approvalId)
    return decision.question.rule
  }
  return { policy, says }
}

const RULE = 'unknown-program:mytool ~/Documents'

it('one answer for the session covers an unknown program in a folder, whatever the file', async () => {
  const { policy, says } = open()
  expect(await says('mytool ~/Documents/a.txt', 'session')).toBe(RULE)
  for (const command of [
    'mytool ~/Documents/a.txt',
    'mytool ~/Documents/b.txt',
    'mytool --in=$HOME/Documents/c.txt -v',
  ])
    expect([command, await says(command)]).toEqual([command, 'allow'])
  expect(policy.listGrants('s')).toEqual(['mytool with files in ~/Documents'])
})

it.each([
  ['another program', 'othertool ~/Documents/a.txt', 'unknown-program:othertool ~/Documents'],
  ['another folder', 'mytool ~/Music/a.txt', 'unknown-program:mytool ~/Music'],
  ['both folders at once', 'mytool ~/Documents/a.txt ~/Music/b.txt', 'unknown-program:mytool ~/Music'],
])('such an answer does not cover %s', async (_, command, rule) => {
  const { says } = open()
  await says('mytool ~/Documents/a.txt', 'session')
  expect(await says(command)).toBe(rule)
})

it('an answer for once is used up, and one of a session counts in no other', async () => {
  const { policy, says } = open()
  expect(await says('mytool ~/Documents/a.txt', 'once')).toBe(RULE)
  expect(await says('mytool ~/Documents/a.txt', 'session')).toBe(RULE)
  expect(await says('mytool ~/Documents/a.txt', 'once', { ...subject, sessionId: 'other' })).toBe(RULE)
  policy.revokeGrants('s')
  expect(await says('mytool ~/Documents/a.txt')).toBe(RULE)
})

it('one answer for the session covers what changes files in a folder, and none in another one beside it', async () => {
  const { says } = open()
  expect(await says('cp a.txt ~/Documents/a.txt', 'session')).toBe('write-beyond:~/Documents')
  for (const command of [
    'cp b.txt ~/Documents/b.txt',
    'mv a.txt b.txt ~/Documents/',
    'touch ~/Documents/c ~/Documents/d',
  ])
    expect([command, await says(command)]).toEqual([command, 'allow'])
  for (const command of [
    'tee ~/Documents/a.txt ~/Music/b.txt',
    'touch ~/Documents/a.txt && touch ~/Music/b.txt',
    'mv ~/Music/a.txt ~/Documents/',
    'cat a.txt > ~/Documents/a.txt 2> ~/Music/b.txt',
    'chmod 600 ~/Documents/a.txt ~/Music/b.txt',
  ])
    expect([command, await says(command)]).toEqual([command, 'write-beyond:~/Music'])
})

it('a command that changes more folders than a question shows is granted alone', async () => {
  const { says } = open()
  const many = (first: number) => `touch ${Array.from({ length: 21 }, (_, at) => `~/Music/${first + at}/a`).join(' ')}`
  expect(await says(many(0), 'session')).toBe('write-beyond')
  expect(await says(many(0))).toBe('allow')
  expect(await says(many(1))).toBe('write-beyond')
})
