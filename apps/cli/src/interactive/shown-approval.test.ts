import type { Action, ApprovalQuestion } from '@hermes/contracts/policy'
import { createPolicy } from '@hermes/safety'
import { expect, it } from 'vitest'
import { describeApproval } from './shown-approval.js'

const spawn = { type: 'spawn', cwd: '/home/ada/shop', backend: 'local' } as const

/** What the policy asks about an action. */
async function questionOn(action: Action, agentPath: readonly string[] = ['root']): Promise<ApprovalQuestion> {
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada' })
  policy.listen('s', () => undefined)
  const subject = { sessionId: 's', platform: 'cli', agentPath, origin: 'model', tainted: false } as const
  const decision = await policy.decide(action, subject)
  if (decision.type !== 'ask') throw new Error(`expected a question, not ${decision.type}`)
  return decision.question
}

it('has the command a statement a line, then why it is asked and what a lasting yes would write', async () => {
  const question = await questionOn({ ...spawn, command: 'cd dist && rm -rf build; git status' })
  expect(describeApproval(question, '/home/ada/shop')).toEqual({
    title: 'Run this?',
    block: ['cd dist &&', 'rm -rf build;', 'git status'],
    notes: ['It deletes folders with everything in them.', `"always" writes the rule: ${question.grant}`],
  })
})

it('names who asks and where it runs, and shows the words of a program as they are', async () => {
  const question = await questionOn({ ...spawn, command: 'rm', argv: ['rm', '-rf', 'a b'], backend: 'docker' }, [
    'root',
    'task-1',
  ])
  expect(describeApproval(question, '/home/ada')).toMatchObject({
    title: 'A helper (task-1) asks: Run this in /home/ada/shop (docker)?',
    block: ["rm -rf 'a b'"],
  })
})

it('has no block for what is no command, and says all of what an older version asked', async () => {
  const question = await questionOn({ type: 'write', operation: 'write', path: '/home/ada/.bashrc', backend: 'local' })
  const { title, block, notes } = describeApproval(question, '/home/ada')
  expect([title, block]).toEqual(['Write /home/ada/.bashrc?', []])
  expect(notes[0]).toMatch(/^[A-Z].*\.$/)
  const { reason: _, ...older } = question
  expect(describeApproval(older, '/home/ada')).toMatchObject({
    title: 'Allow this?',
    notes: [question.summary, expect.anything()],
  })
})
