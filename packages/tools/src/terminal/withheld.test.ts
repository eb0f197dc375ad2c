import { expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createTerminalTool } from '../index.js'

it('says once that a variable a command names was withheld', async () => {
  const { environment } = await temporaryEnvironment({
    env: { PATH: '/usr/bin:/bin', DATABASE_URL: 'postgres://ada:x@db/x', MY_PAT: 'abcdefgh' },
    withholds: (name) => name !== 'PATH',
  })
  const context = createToolContext({ environment })
  const run = async (command: string) => (await call(createTerminalTool(), { command }, context)).text
  expect(await run('echo "<$DATABASE_URL>"')).toMatch(
    /^<>\n\[DATABASE_URL looks like .*env_passthrough: \[DATABASE_URL\]/,
  )
  expect(await run('echo "<$DATABASE_URL>"')).toBe('<>')
  expect(await run('echo MY_PATH')).toBe('MY_PATH')
})
