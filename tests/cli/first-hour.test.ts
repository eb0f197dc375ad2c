// What a newcomer types first, and which session is gone on with.
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()
const model = () => ['--base-url', scene.server.baseUrl, '-m', 'm']
const hermes = (...args: readonly string[]) => runCli(args, scene)
const hermesIn = (cwd: string, ...args: readonly string[]) => runCli(args, { ...scene, cwd })

it('asks what stands on the line, options before or after it', async () => {
  const requested = () => JSON.stringify(scene.server.requests.at(-1)!.body.messages.at(-1))
  scene.server.setHandler(() => ({ text: 'An agent.' }))
  for (const args of [
    [...model(), 'what is this project?'],
    ['what is this', 'project?', ...model()],
    ['chat', ...model(), 'what is this project?'],
    [...model(), '--', 'what', 'is', 'this', 'project?'],
    [...model(), 'chat', '-q', 'what is this project?'],
  ]) {
    expect(await hermes(...args)).toMatchObject({ exitCode: 0, stdout: 'An agent.\n', stderr: '' })
    expect(requested()).toContain('what is this project?')
  }
})

describe('-c', () => {
  it('goes on with the newest session of the folder or its repository, and names the newest elsewhere', async () => {
    const [mine, inside, other] = ['mine', 'mine/src', 'other'].map((name) => join(scene.cwd, name)) as [
      string,
      string,
      string,
    ]
    for (const folder of [inside, other]) await mkdir(folder, { recursive: true })
    execFileSync('git', ['init', '--quiet', mine])
    scene.server.setHandler(({ body }) => ({ text: `of ${body.messages.length}` }))
    await hermesIn(mine, 'chat', '-q', 'First here.', ...model())
    expect((await hermesIn(inside, '-c', '-q', 'And?', ...model())).stdout).toBe('of 4\n')
    await hermesIn(other, 'chat', '-q', 'Elsewhere.', ...model())
    expect((await hermesIn(mine, '-c', '-q', 'On.', ...model())).stdout).toBe('of 6\n')
    const nowhere = await hermes('-c', '-q', 'On.', ...model())
    expect(nowhere).toMatchObject({ exitCode: 2, stdout: '' })
    expect(nowhere.stderr).toMatch(
      /^hermes: There is no session of this folder to continue\. The newest is \S+ .*in .*\/mine: hermes -c --any goes on with it\.\n$/,
    )
    expect((await hermes('-c', '--any', '-q', 'On.', ...model())).stdout).toBe('of 8\n')
  })
})

it('takes a title for the session called so, and not for its fork', async () => {
  scene.server.setHandler(() => ({ text: 'Fine.' }))
  await hermes('chat', '-q', 'Begin.', ...model())
  await hermes('sessions', 'rename', 'latest', 'My Session')
  const fork = (await hermes('sessions', 'fork', 'My Session')).stdout.trim()
  await hermes('sessions', 'fork', 'My Session')
  await hermes('sessions', 'tag', 'My Session', 'kept')
  const tagged = await hermes('sessions', 'list', '--tag', 'kept', '--json')
  expect(
    tagged.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).title),
  ).toEqual(['My Session'])
  expect((await hermes('sessions', 'list', '--tag', 'lost')).stderr).toBe('No sessions with the tag lost.\n')
  expect((await hermes('sessions', 'delete', 'My Session', '--yes')).exitCode).toBe(0)
  expect((await hermes('sessions', 'show', fork)).exitCode).toBe(0)
  const several = await hermes('sessions', 'delete', 'My Session', '--yes')
  expect(several).toMatchObject({ exitCode: 2, stdout: '' })
  expect(several.stderr).toMatch(
    /"My Session" fits several sessions: .*\(My Session #\d\), .*\(My Session #\d\)\. Give/,
  )
})

needs(hasTmux ? null : 'not installed: tmux')('hermes without a model, in a terminal', () => {
  it('goes into setup, and from there into the conversation', async () => {
    scene.server.setHandler(() => ({ text: 'ready' }))
    await using terminal = await openTerminal([], { ...scene, columns: 80, titles: true })
    await terminal.shows('No model is set up.')
    await terminal.shows('Another server')
    await terminal.press('Up', 'Enter')
    await terminal.shows('Its address')
    await terminal.type(scene.server.baseUrl)
    await terminal.press('Enter')
    await terminal.shows('Does it want a key?')
    await terminal.type('n')
    await terminal.shows('Which model?')
    await terminal.type('mine')
    await terminal.press('Enter')
    await terminal.shows('Hermes with mine')
    await terminal.type('Hello.')
    await terminal.press('Enter')
    await terminal.shows(/Hello\.[\s\S]*ready/)
  })
})

it('needs the same Node on every page', async () => {
  const root = resolve(import.meta.dirname, '../..')
  const pages = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md']
  for (const folder of ['apps', 'packages'])
    for (const name of await readdir(join(root, folder))) pages.push(`${folder}/${name}/README.md`)
  const texts = await Promise.all(pages.map((page) => readFile(join(root, page), 'utf8').catch(() => '')))
  const named = texts.flatMap((text) =>
    [...text.matchAll(/Node (\d[\d.]*) (?:or|and) newer/g)].map((match) => match[1]),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(new Set(named)).toEqual(new Set(['22.22']))
})
