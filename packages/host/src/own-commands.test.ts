// Commands that config.yaml adds, how the agent speaks, and what git sees.
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { open, stage, type } from './__fixtures__/commands-stage.js'

const OWN = `
personalities: {formal: 'Address the reader as Sir or Madam.', brief: {tone: dry}}
display: {personality: formal}
quick_commands:
  where: {command: 'pwd; exit 3'}
  up: {type: alias, target: 'Bring everything up to date, please.', description: update all}
  name: {type: alias, target: /title}
  lap: {type: alias, target: /pool}
  pool: {type: alias, target: /lap}
  help: {command: 'true'}
  Bad: {command: 'true'}
  empty: {type: alias}
`

it('runs commands of the own configuration, lets them stand for others, and leaves out what it cannot have', async () => {
  const { server, turns, folder, enter } = await stage(() => '', OWN)
  const { runtime, host } = await enter()
  const { handle } = open({ runtime, host }, server.baseUrl)
  expect(await type(runtime, handle, '/where')).toBe(`${folder}\n[exit 3]`)
  expect(turns).toHaveLength(0)
  await type(runtime, handle, '/up now')
  expect(turns[0]!.body.messages.at(-1)!.content).toBe('Bring everything up to date, please. now')
  await type(runtime, handle, '/name the boat')
  expect((await (await runtime.storage()).sessions.get(handle.id))?.title).toBe('the boat')
  await expect(type(runtime, handle, '/lap')).rejects.toThrow('/pool stands for /lap. Unknown command /lap.')
  const commands = runtime.extensions.list('command').map(({ owner, item }) => `${owner} ${item.name}`)
  expect(commands.filter((name) => name.startsWith('quick-commands'))).toHaveLength(5)
  expect(commands).toContain('session-commands help')
})

it('speaks as configured from the first request on, and otherwise from a next message on, with the same prefix', async () => {
  const { server, turns, enter } = await stage(() => '', OWN)
  const { runtime, host } = await enter()
  const { handle } = open({ runtime, host }, server.baseUrl)
  await handle.send('One.').result
  expect(turns[0]!.body.messages[0]!.content).toContain('How you speak:\nAddress the reader as Sir or Madam.')
  await expect(type(runtime, handle, '/personality baroque')).rejects.toThrow('There are: helpful, concise')
  await expect(type(runtime, handle, '/personality constructor')).rejects.toThrow('no personality "constructor"')
  await type(runtime, handle, '/personality brief')
  await handle.send('Two.').result
  await type(runtime, handle, '/personality none')
  await handle.send('Three.').result
  const [first, second, third] = turns.map(({ body }) => body.messages.map((message) => JSON.stringify(message)))
  expect(second!.slice(0, first!.length)).toEqual(first)
  expect(third!.slice(0, second!.length)).toEqual(second)
  expect(second!.at(-1)).toContain('Tone: dry')
  expect(third!.at(-1)).toMatch(/without any personality.*Three\./)
})

it('shows what git sees as changed, and runs nothing that the repository names', async () => {
  const { server, folder, enter } = await stage(() => '')
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' })
  git('init', '-q')
  await writeFile(join(folder, 'a.txt'), 'one\n')
  await writeFile(join(folder, '.gitattributes'), '*.txt diff=evil\n')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x')
  git('config', 'diff.evil.command', 'touch ran; true')
  git('config', 'diff.evil.textconv', 'touch ran; cat')
  git('config', 'core.fsmonitor', 'touch ran; true')
  await writeFile(join(folder, 'a.txt'), 'two\n')
  await writeFile(join(folder, 'new.txt'), 'new\n')
  const { runtime, host } = await enter()
  const { handle } = open({ runtime, host }, server.baseUrl)
  const all = await type(runtime, handle, '/diff')
  expect(all).toMatch(/^diff --git [\s\S]*-one\n\+two\nnew: /)
  expect(all).toContain('new: new.txt')
  expect(await type(runtime, handle, '/diff staged')).toBe('Nothing is changed.')
  expect(await type(runtime, handle, '/diff all --stat a.txt')).toMatch(/a\.txt \| 2 /)
  expect(execFileSync('ls', [folder]).toString()).not.toContain('ran')
})
