// What is offered while a line is being typed.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()
const sent = () => JSON.stringify(scene.server.requests.map(({ body }) => body.messages.at(-1)))

async function open(columns: number): Promise<Terminal> {
  const terminal = await openTerminal(['--base-url', scene.server.baseUrl, '-m', 'test'], { ...scene, columns })
  await terminal.shows('/help for help')
  return terminal
}

needs('tmux', hasTmux)('completion at the keyboard', () => {
  it('lists commands with what they do as soon as a slash is typed, and runs the one that Enter takes', async () => {
    await using terminal = await open(80)
    await terminal.type('/')
    await terminal.shows(/ {2}\/branch.*go on in a copy.* in all/s)
    await terminal.type('ses')
    const menu = await terminal.shows(/❯ \/sessions \[LIMIT\].* {2}the newest sessions/)
    expect(menu).not.toContain('/branch')
    await terminal.press('Enter')
    await terminal.shows('No sessions yet.')
    await terminal.type('/reasoning ')
    await terminal.shows(/ {2}minimal\n {2}low/)
    await terminal.press('Down', 'Down', 'Enter')
    await terminal.press('Enter')
    await terminal.shows(/thinks with low effort/)
  })

  it('offers files by some of their letters, without those that are ignored, attaches the one taken, and with Escape sends what was typed', async () => {
    scene.server.setHandler(() => ({ text: 'Seen.' }))
    await mkdir(join(scene.cwd, 'src/editor'), { recursive: true })
    await mkdir(join(scene.cwd, 'out'), { recursive: true })
    await writeFile(join(scene.cwd, '.gitignore'), 'out\n')
    await writeFile(join(scene.cwd, 'src/editor/layout.ts'), 'rows and columns')
    await writeFile(join(scene.cwd, 'out/layout.js'), 'built')
    await writeFile(join(scene.cwd, 'bob.md'), '')
    await using terminal = await open(50)
    await terminal.type('read @edlay')
    expect(await terminal.shows('❯ src/editor/layout.ts')).not.toContain('layout.js')
    await terminal.press('Tab')
    await terminal.shows('> read @file:src/editor/layout.ts')
    await terminal.type('please')
    await terminal.press('Enter')
    await terminal.shows('Seen.')
    expect(sent()).toMatch(/read @file:src\/editor\/layout.ts please.*rows and columns/)
    await terminal.type('ask @bo')
    await terminal.shows('❯ bob.md')
    await terminal.press('Escape')
    await expect.poll(terminal.screen).not.toContain('bob.md')
    await terminal.press('Enter')
    await terminal.shows(/Seen\.[\s\S]*Seen\./)
    expect(sent()).toContain('ask @bo"')
  })
})
