import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defaultConfig } from '@hermes/config'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createStyle } from '../render/style.js'
import { openDisplay } from './display.js'
import { formatTime } from './format-time.js'

const OURS = `description: my own\ncolors: {accent: '#0a141e', ui_warn: bright-yellow, ui_error: no-colour, banner_title: red}
branding: {prompt_symbol: '❯'}\n`

async function open(change: object = {}, files: Readonly<Record<string, string>> = {}) {
  const home = await temporaryHome()
  onTestFinished(() => home.remove())
  const folder = join(home.path, 'skins')
  await mkdir(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return openDisplay({ ...defaultConfig().display, ...change }, folder)
}

it("paints in the colours of a skin, one's own too, and says what of its file has no effect", async () => {
  const display = await open({ skin: 'mine' }, { 'mine.yaml': OURS, 'broken.yaml': 'colors: {' })
  const { accent, notice, red, prompt } = createStyle({ colors: true, look: () => display.look() })
  expect([accent('a'), notice('n'), red('r'), prompt]).toEqual([
    ...['\u001b[38;2;10;20;30ma\u001b[39m', '\u001b[93mn\u001b[39m', '\u001b[31mr\u001b[39m', '❯'],
  ])
  expect(display.problems).toEqual([expect.stringMatching(/mine\.yaml: colors\.ui_error is no colour such as/)])
  expect((await display.choices('skin')).values).toEqual(expect.arrayContaining(['default', 'mono', 'mine', 'broken']))
  expect(await display.change('skin', 'broken')).toEqual([
    expect.stringMatching(/broken\.yaml: line 1: /),
    'skin: broken, in this window. display.skin keeps it so.',
  ])
  await display.change('skin', 'mono')
  const mono = createStyle({ colors: true, look: () => display.look() })
  expect([mono.accent('a'), mono.bold('b')]).toEqual(['a', '\u001b[1mb\u001b[22m'])
})

it('names what the configuration has that there is not', async () => {
  const display = await open({
    skin: '../auth',
    status_bar: { fields: ['cost', 'moon', 'git_branch'] },
    show_cost: false,
  })
  expect(display.problems).toEqual([
    'display.skin: there is no skin "../auth"; hermes skin lists those there are.',
    'display.status_bar.fields: the bar has no field "moon".',
  ])
  expect(display.fields).toEqual(['branch'])
})

it('changes what holds in this window, and refuses what there is not', async () => {
  const display = await open()
  expect(display.time(new Date())).toBe('')
  expect(await display.change('busy', 'steer')).toEqual([
    'busy: steer, in this window. display.busy_input_mode keeps it so.',
  ])
  expect(await display.change('statusbar', 'off')).toEqual(['statusbar: off, in this window.'])
  await display.change('timestamps', 'on')
  await display.change('verbose', 'off')
  expect([display.busyMode, display.hasBar, display.calls]).toEqual(['steer', false, 'off'])
  expect(display.time(new Date(2026, 0, 2, 9, 5))).toBe('09:05 ')
  await expect(display.change('skin', 'constructor')).rejects.toThrow(
    'There is no skin "constructor". There are: default,',
  )
})

it('reads aloud rather than draws for whoever wants that', async () => {
  const display = await open({ screen_reader: true })
  expect([display.drawsMarkdown, createStyle({ colors: false, look: () => display.look() }).sign('failed')]).toEqual([
    false,
    'failed:',
  ])
})

it('writes times as strftime does', () => {
  const now = new Date(2026, 10, 24, 0, 7, 9)
  expect(formatTime('%Y-%m-%d %H:%M:%S %I%p %a %b %% %q', now)).toBe('2026-11-24 00:07:09 12AM Tue Nov % %q')
})
