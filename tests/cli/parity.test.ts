// What docs/parity.json calls "here" is there in the command as people get it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene({ isShared: true })
const page = readFileSync(join(import.meta.dirname, '../../docs/parity.md'), 'utf8')

/** The names of a section that are here. */
function here(section: string): readonly string[] {
  const [, text = ''] = page.split(`## ${section}\n`)
  return [...text.split('\n## ')[0]!.matchAll(/^\| `([^`]+)` \| here \|$/gm)].map(([, name]) => name!)
}

const help = async (...words: readonly string[]) => {
  const { exitCode, stdout } = await runCli([...words, '--help'], scene)
  expect([words, exitCode]).toEqual([words, 0])
  return stdout
}
const lists = (text: string, name: string) => new RegExp(`^ +${name}(?:[ |<[]|$)`, 'm').test(text)

it('every command that is here says what it does', async () => {
  const commands = here('Commands')
  expect(commands.length).toBeGreaterThan(50)
  const all = await help()
  const tops = [...new Set(commands.map((name) => name.split(' ')[0]!))]
  expect(tops.filter((name) => !lists(all, name))).toEqual([])
  for (const top of tops) {
    const below = commands.flatMap((name) => (name.startsWith(`${top} `) ? [name.slice(top.length + 1)] : []))
    if (below.length === 0) continue
    const text = await help(top)
    expect([top, below.filter((name) => !lists(text, name))]).toEqual([top, []])
  }
}, 60_000)

it('every flag that is here is taken', async () => {
  const flags = here('Flags')
  expect(flags.length).toBeGreaterThan(10)
  const text = `${await help()}\n${await help('chat')}`
  expect(flags.filter((flag) => !new RegExp(`(?:^|[ ,])${flag}(?=[ ,\n])`, 'm').test(text))).toEqual([])
})
