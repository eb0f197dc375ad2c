import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import { homeFindings } from './home.js'

it('names logins that could not be used for as long as they lie there, also when a process before has said it', async () => {
  await using home = await temporaryHome()
  const auth = join(home.path, 'auth.json')
  await writeFile(auth, '{ "credential_pool": {"openai": [', { mode: 0o600 })
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const open = () => openRuntime({ home: home.path, userHome: home.path, ...world })
  const first = await open()
  expect(first.problems).toEqual([expect.stringContaining(`${auth} could not be used: it is not valid JSON.`)])
  await first.close()
  const second = await open()
  expect(second.problems).toEqual([])
  const findings = await homeFindings({ home: home.path, env: {}, isOffline: true } as never, second)
  await second.close()
  const aside = findings.filter(({ text }) => text.includes('.broken-'))
  expect(aside).toEqual([{ level: 'warn', text: expect.stringMatching(/auth\.json\.broken-.*hermes auth add/) }])
})
