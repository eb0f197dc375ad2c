import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { emptyHome } from './empty-home.js'

let home: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'hermes-home-')))
})

afterEach(() => rmSync(home, { recursive: true, force: true }))

it('mounts what is there, takes folders of credentials apart and leaves out what is hidden or written', () => {
  for (const folder of ['notes', 'work', '.aws', '.cargo/bin']) mkdirSync(join(home, folder), { recursive: true })
  for (const file of ['.cargo/credentials.toml', '.gitconfig']) writeFileSync(join(home, file), '')
  symlinkSync('work', join(home, 'current'))
  const { args, folders } = emptyHome(home, [
    { type: 'write', path: join(home, 'work') },
    { type: 'hide', path: join(home, '.aws'), isDirectory: true },
    { type: 'hide', path: join(home, '.cargo/credentials.toml'), isDirectory: false },
  ])
  const bind = (path: string) => `--ro-bind-try ${join(home, path)} ${join(home, path)}`
  expect(folders).toEqual([home, join(home, '.cargo')])
  for (const line of [bind('notes'), bind('.cargo/bin'), bind('.gitconfig'), `--symlink work ${join(home, 'current')}`])
    expect(args.join(' ')).toContain(line)
  for (const line of [bind('work'), bind('.aws'), bind('.cargo'), bind('.cargo/credentials.toml')])
    expect(`${args.join(' ')} `).not.toContain(`${line} `)
})

it('mounts a folder of very many entries as a whole', () => {
  mkdirSync(join(home, '.cargo'))
  for (let file = 0; file < 500; file++) writeFileSync(join(home, '.cargo', `${file}`), '')
  const { args, folders } = emptyHome(home, [])
  expect(folders).toEqual([home])
  expect(args).toEqual(['--tmpfs', home, '--ro-bind-try', join(home, '.cargo'), join(home, '.cargo')])
})

it('changes nothing where commands write the home directory, or where it is the root', () => {
  writeFileSync(join(home, 'notes'), '')
  expect(emptyHome(home, [{ type: 'write', path: home }]).args).toEqual([])
  expect(emptyHome('/', []).args).toEqual([])
})
