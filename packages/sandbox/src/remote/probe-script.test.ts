import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { parseShellState } from '../shell/shell-state.js'
import { parseProbe, probeScript } from './probe-script.js'

/** What a side with this `.profile` says of itself. */
async function probed(profile: string, loginSeconds = 8) {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'hermes-probe-')))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  await writeFile(join(home, '.profile'), profile)
  const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home }
  const requested = promisify(execFile)('/bin/sh', ['-c', probeScript('.', true, loginSeconds)], {
    env,
    encoding: 'buffer',
  })
  const side = parseProbe((await requested).stdout)
  return { side, home, state: side && parseShellState(side.state, {}) }
}

it('finds what the start-up files of the other side set', async () => {
  const { state, home } = await probed('export COLOUR=blue; PATH="$HOME/bin:$PATH"; echo greeting')
  expect(state).toMatchObject({ cwd: home, env: { COLOUR: 'blue' } })
  expect(state?.env['PATH']).toMatch(new RegExp(`^${home}/bin:`))
})

it.each([
  ['end the shell', 'export COLOUR=blue; exit 3'],
  ['become another program', 'exec true'],
  ['never end', 'export COLOUR=blue; while :; do sleep 0.1; done'],
])('goes on without start-up files that %s', async (_, profile) => {
  const { side, state, home } = await probed(profile, 1)
  expect(side).toMatchObject({ home, shell: expect.stringContaining('sh') })
  expect(state?.cwd).toBe(home)
  expect(state?.env).not.toHaveProperty('COLOUR')
})
