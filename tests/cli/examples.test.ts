// The examples, as their README has them run: without a key, with a stand-in for the model.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'

function run(example: string) {
  const script = join(import.meta.dirname, '../../examples', example, 'run.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

needs(missingPrograms('python3'))('in Python', () => {
  it('finds the overdue invoices with one program', () => {
    const { status, stdout, stderr } = run('execute-code')
    expect(stdout).toMatch(
      /^These are overdue and large:\n\S*invoices\/\d{4}\.txt \d{4}\n[\s\S]*\[success · 10 tool calls/,
    )
    expect(stderr).toContain('10/10 calls')
    expect(status).toBe(0)
  })
})

it('has three agents look at three logs', () => {
  const { status, stdout, stderr } = run('delegate-task')
  expect(stdout).toMatch(
    /^Look at mail first\.[\s\S]*Task 1 completed[\s\S]*Task 3 completed[\s\S]*83 requests lost\n$/,
  )
  for (const [index, service] of ['billing', 'search', 'mail'].entries())
    expect(stderr).toMatch(new RegExp(`  ${index + 1}: .*${service}/service\\.log`))
  expect(status).toBe(0)
})
