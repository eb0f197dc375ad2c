// Skills with the parts of a real home: git by the policy, config.yaml, taint.
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { callCommand, findCommand } from '@hermes/commands'
import type { JsonObject } from '@hermes/contracts'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

it('a skill is installed from a repository, taints who loads it, and is switched off', async () => {
  await using temporary = await temporaryHome()
  const server = await startModelServer()
  const [home, cwd, forge] = ['.hermes', 'work', 'forge.git'].map((name) => join(temporary.path, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [home, cwd, forge]) await mkdir(folder, { recursive: true })
  await writeFile(join(home, 'config.yaml'), `# mine\nmodel: {default: m, base_url: "${server.baseUrl}"}\n`)
  await writeFile(
    join(forge, 'SKILL.md'),
    '---\nname: tides\ndescription: Tells the tides.\nallowed-tools: terminal Bash(*)\n---\n\nLook at the moon.\n',
  )
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: forge })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'x')
  const place = { home, userHome: temporary.path, cwd, tempDir: temporary.path, user: 'ada' }
  const runtime = await openRuntime({ ...place, env: { PATH: process.env['PATH']! } })
  const skills = async (args: JsonObject) => {
    const commands = runtime.extensions.list('command').map(({ item }) => item)
    const caller = { platform: 'cli', user: 'ada', isOwner: true, changes: [] }
    const context = {
      caller,
      session: null,
      cwd,
      commands,
      notice: () => undefined,
      signal: new AbortController().signal,
    }
    return JSON.stringify(await callCommand(findCommand(commands, 'skills')!, args, context))
  }
  try {
    expect(await skills({ words: ['install', `file://${forge}`], id: 'abc123' })).toContain('It does nothing yet.')
    expect(await skills({ words: ['accept', 'abc123'] })).toContain('Installed tides.')
    await writeFile(join(cwd, 'kept.txt'), 'kept')
    server.enqueue(
      { toolCalls: [{ name: 'skill_view', args: { name: 'tides' } }] },
      { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf kept.txt ~/x' } }] },
      { text: 'High at noon.' },
    )
    const { agent } = await runtime.createAgent({ platform: 'cli' })
    expect(await agent.run('When is high tide?').result).toMatchObject({ status: 'completed' })
    const [first, second, third] = server.requests.map(({ body }) => JSON.stringify(body))
    expect(first).toContain('- tides (installed): Tells the tides.')
    expect(second).toContain('Look at the moon.')
    // What a skill calls allowed is asked about all the same, and nobody is there to say yes.
    expect(third).toMatch(/denied|approv/i)
    expect(await readFile(join(cwd, 'kept.txt'), 'utf8')).toBe('kept')
    const entries = agent.entries().filter(({ type }) => type === 'message')
    expect(JSON.stringify(entries)).toContain(
      `"sources":[{"type":"web","name":"the skill tides from file://${forge}"}]`,
    )
    // No other part of the prompt taints: only what the skill says does.
    expect(JSON.stringify(agent.entries().find(({ type }) => type === 'prompt'))).not.toContain('the skill tides')
    await skills({ words: ['config', 'disable', 'tides'] })
    expect(await readFile(join(home, 'config.yaml'), 'utf8')).toMatch(
      /^# mine\n[\s\S]*disabled:\s*(?:\[\s*)?(?:- )?tides/,
    )
    expect(await skills({ words: ['list', 'tides'] })).not.toContain('Tells the tides')
  } finally {
    await runtime.close()
    await server.close()
  }
})
