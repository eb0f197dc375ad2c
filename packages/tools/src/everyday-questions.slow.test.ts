// How often everyday work asks where commands are isolated and nobody wrote a rule: the policy as it is by default, the tool, real programs.
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Action } from '@hermes/contracts/policy'
import { createPolicy } from '@hermes/safety'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { EVERYDAY_COMMANDS, LACKING_PROGRAMS } from '@hermes/testkit/isolation-corpus'
import { expect, it, onTestFinished } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from './__fixtures__/test-context.js'
import { TOOLCHAINS } from './__fixtures__/toolchains.js'
import { createTerminalTool } from './index.js'

/** `rm -r` of a folder that was made just before. */
const MOST_QUESTIONS = 1
/** Programs of the machine that the home directory of the test does not have. */
const RUSTUP_HOME = process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup')

/** A home with a workspace, toolchains on its `PATH`, and what is asked while commands run there: each question is answered with yes, once. */
async function scene() {
  const root = await realpath((await temporaryEnvironment()).folder)
  const home = join(root, 'home')
  const [cwd, temp] = [join(home, 'work'), join(root, 'temp')]
  for (const folder of [cwd, temp]) await mkdir(folder, { recursive: true })
  for (const [program, part] of TOOLCHAINS) {
    for (const path of [program, part]) await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, part), 'echo works')
    await writeFile(join(home, program), `#!/bin/sh\n. '${join(home, part)}'\n`, { mode: 0o755 })
  }
  const PATH = [...TOOLCHAINS.map(([program]) => dirname(join(home, program))), '/usr/local/bin:/usr/bin:/bin'].join(
    ':',
  )
  const { environment } = await temporaryEnvironment({
    ...{ cwd, home, temp: [temp], env: { PATH, HOME: home, TMPDIR: temp, RUSTUP_HOME }, isolation: { network: 'ask' } },
  })
  const policy = createPolicy({ mode: 'ask', home: join(home, '.hermes'), userHome: home, workspace: [cwd] })
  const requested: string[] = []
  let command = ''
  policy.listen('*', (id, { rule }) => {
    requested.push(`${command}: ${rule}`)
    void policy.answer(id, 'once')
  })
  const { writable } = environment.capabilities
  const subject = {
    ...({
      sessionId: 's',
      platform: 'cli',
      agentPath: ['root'],
      origin: 'model',
      tainted: false,
      workspace: cwd,
    } as const),
    ...(writable ? { writable } : {}),
  }
  const permit = async (action: Action) => {
    const decision = await policy.decide(action, subject)
    const settled = decision.type === 'ask' ? await policy.settled(decision.approvalId) : decision
    if (settled.type === 'allow') return settled.permit
    throw new Error(`${command} is refused: ${settled.type === 'deny' ? settled.rule : settled.type}`)
  }
  const context = { ...createToolContext({ environment }), permit }
  const run = async (text: string) => {
    command = text
    return (await call(createTerminalTool(), { command: text }, context)).text
  }
  return { home, requested, run }
}

needs((await probeIsolation()) ?? missingPrograms('git'))('isolated, by default', () => {
  it(`${EVERYDAY_COMMANDS.length} everyday commands work, and no more than ${MOST_QUESTIONS} asks`, async () => {
    const server = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const { requested, run } = await scene()
    const lacks = (await run(LACKING_PROGRAMS)).split('\n').filter((name) => /^[a-z\d]+$/.test(name))
    const commands = EVERYDAY_COMMANDS.filter(
      (command) => !lacks.some((name) => new RegExp(`(^|[\\s(])${name} `).test(command)),
    )
    expect(commands.length).toBeGreaterThanOrEqual(40)
    const failed: string[] = []
    for (const one of commands) {
      const answer = await run(one.replaceAll('PORT', String(port)).replaceAll('NODE', dirname(process.execPath)))
      if (/\[exit \d|\[isolated commands/.test(answer)) failed.push(`${one}\n${answer}`)
    }
    expect(failed).toEqual([])
    expect(requested.length, requested.join('\n')).toBeLessThanOrEqual(MOST_QUESTIONS)
  })

  it(`none of ${TOOLCHAINS.length} toolchains in the home directory asks, by its name or its path`, async () => {
    const { home, requested, run } = await scene()
    for (const [program] of TOOLCHAINS) {
      const name = program.slice(program.lastIndexOf('/') + 1)
      expect(await run(`${name} build && ${join(home, program)} --version`)).toBe('works\nworks')
    }
    expect(requested).toEqual([])
  })
})
