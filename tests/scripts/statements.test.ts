import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const SCRIPT = resolve(import.meta.dirname, '../../scripts/statements.mjs')
const OWN = { sqlite: 'SELECT rowid FROM a', postgres: 'SELECT ctid FROM a' }

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hermes-statements-'))
})
afterEach(() => rmSync(root, { recursive: true }))

/** Runs the script over sources of the two dialects, given by their paths, next to a statement that each has for itself. */
function check(files: Record<string, string>) {
  const all = {
    'sqlite/own.ts': `const OWN = '${OWN.sqlite}'`,
    'postgres/own.ts': `const OWN = '${OWN.postgres}'`,
    ...files,
  }
  for (const [name, text] of Object.entries(all)) {
    const file = join(root, 'packages/storage/src', name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, root], { encoding: 'utf8' })
  return { status, lines: stderr.trim().split('\n').filter(Boolean), stdout }
}

it('finds a planted copy, however each dialect writes its parameters, blanks and results', () => {
  const { status, lines } = check({
    'sqlite/deep/a.ts': 'const X = 1\nconst GET = `SELECT key AS name FROM t\n  WHERE id = :id AND kind = ?`',
    'postgres/b.ts': 'export const FIND = \'select key AS "name" from t where id = $1 AND kind = $2::text[]\'',
  })
  expect(status).toBe(1)
  expect(lines).toEqual([
    'packages/storage/src/sqlite/deep/a.ts:2 and packages/storage/src/postgres/b.ts:1 have the same statement: select key as name from t where id = ? and kind = ?',
  ])
})

it('finds a copy with the same names put in, not one with others', () => {
  const update = (name: string) => `const f = (${name}) => \`UPDATE t SET \${${name}} WHERE id = ?\``
  expect(check({ 'sqlite/a.ts': update('set'), 'postgres/a.ts': update('set') }).status).toBe(1)
  expect(check({ 'sqlite/a.ts': update('set'), 'postgres/a.ts': update('other') }).status).toBe(0)
})

it('lets tests, words that are no statement, and what one dialect says twice stand', () => {
  const copy = "const A = 'DELETE FROM t WHERE id = 1'"
  const word = "const NAME = 'sessions'"
  const files = {
    'sqlite/a.ts': `${copy}\n${word}`,
    'sqlite/b.ts': copy,
    'postgres/a.test.ts': copy,
    'postgres/a.ts': word,
  }
  expect(check(files)).toMatchObject({ status: 0, lines: [], stdout: 'statements: 3 and 1, none in both dialects\n' })
})

it('fails where it reads nothing of a dialect', () => {
  expect(check({ 'postgres/own.ts': '' }).status).toBe(2)
})
