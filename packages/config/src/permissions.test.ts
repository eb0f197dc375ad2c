import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendPermission, homeLayout, loadPermissions, removePermission } from './index.js'

let home = ''
let file = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
  file = homeLayout(home).permissions
})
afterEach(() => rm(home, { recursive: true }))

describe('loadPermissions', () => {
  it('gives the rules in the order of the file, and none where there is no file', async () => {
    expect(await loadPermissions({ home })).toMatchObject({ rules: {}, problems: [] })
    await writeFile(file, '"*": ask\nterminal(git push*): deny\nfile.read: allow\n')
    const { rules, problems, sourceOf } = await loadPermissions({ home })
    expect(sourceOf('file.read')).toBe(`${file}:3:1`)
    expect(sourceOf('constructor')).toBeUndefined()
    expect(Object.entries(rules)).toEqual([
      ['*', 'ask'],
      ['terminal(git push*)', 'deny'],
      ['file.read', 'allow'],
    ])
    expect(problems).toEqual([])
  })

  it('asks where it cannot read what a rule decides, for it may have been meant to deny, and says where that is', async () => {
    await writeFile(file, 'a: allow\nb: Deny\nc: {d: allow}\n')
    const { rules, problems, unread } = await loadPermissions({ home })
    expect(rules).toEqual({ a: 'allow', b: 'ask', c: 'ask' })
    expect(unread).toEqual(['b', 'c'])
    expect(problems.map(({ message }) => message)).toEqual([
      `${file}:2:4: "b" must be allow, ask or deny, found the text "Deny". Until it is fixed, this asks.`,
      `${file}:3:4: "c" must be allow, ask or deny, found a map. Until it is fixed, this asks.`,
    ])
  })

  it('asks for everything that a broken file does not deny', async () => {
    await writeFile(file, 'a: deny\nb: allow\nb: allow\n')
    const { rules, problems } = await loadPermissions({ home })
    expect(rules).toEqual({ '*': 'ask', a: 'deny' })
    expect(problems).toMatchObject([{ line: 3, message: expect.stringContaining('every action asks') }])
  })
})

describe('appendPermission', () => {
  it('adds at the end, moves a rule that is there to it, and keeps comments', async () => {
    await writeFile(file, '# mine\nb: allow\n# about a\na: ask # why\nc: ask\n')
    await appendPermission({ home, pattern: 'terminal(npm run: "x")', decision: 'allow' })
    await appendPermission({ home, pattern: 'a', decision: 'deny' })
    expect(await readFile(file, 'utf8')).toMatch(/^# mine\nb: allow\nc: ask\n.*allow\n# about a\na: deny # why\n$/)
    const { rules } = await loadPermissions({ home })
    expect(Object.entries(rules).slice(2)).toEqual([
      ['terminal(npm run: "x")', 'allow'],
      ['a', 'deny'],
    ])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('is undone by removePermission, which says whether there was such a rule', async () => {
    await writeFile(file, '# mine\nb: allow\na: ask\n')
    expect(await removePermission({ home, pattern: 'a' })).toBe(true)
    expect(await removePermission({ home, pattern: 'a' })).toBe(false)
    expect(await readFile(file, 'utf8')).toBe('# mine\nb: allow\n')
  })

  it('starts a file', async () => {
    await appendPermission({ home, pattern: '*', decision: 'ask' })
    expect(await loadPermissions({ home })).toMatchObject({ rules: { '*': 'ask' }, problems: [] })
  })

  it('does not touch a broken file', async () => {
    await writeFile(file, 'a: {\n')
    const attempt = appendPermission({ home, pattern: 'b', decision: 'allow' })
    await expect(attempt).rejects.toMatchObject({ code: 'config.broken', message: expect.stringContaining(`${file}:`) })
    expect(await readFile(file, 'utf8')).toBe('a: {\n')
  })
})
