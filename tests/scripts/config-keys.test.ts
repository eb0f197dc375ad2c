// A key of config.yaml that nothing reads would be accepted and do nothing.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CONFIG, toField } from '../../packages/config/src/keys/index.js'

type Field = ReturnType<typeof toField>

const root = join(import.meta.dirname, '../..')
/** What describes keys, and what compares settings without knowing what they do. */
const NO_READERS =
  /\.test\.ts$|\/generated\/|\/__fixtures__\/|\/testkit\/|config\/src\/(?:keys\/|misplaced-keys|strictest)/
const READERS = globSync('{packages,apps}/{*,platforms/*}/src/**/*.ts', { cwd: root })
  .filter((file) => !NO_READERS.test(file))
  .map((file) => new Set(readFileSync(join(root, file), 'utf8').match(/[A-Za-z_]\w*/g)))

const BY_PLATFORM: ReadonlySet<string> = new Set(['platform_toolsets', 'platform_hints'])

function leaves(field: Field, path: readonly string[]): readonly (readonly string[])[] {
  if (field.type === 'record' && field.of.type === 'section') return leaves(field.of, path)
  // These are looked up by where a session speaks.
  if (field.type !== 'section' || BY_PLATFORM.has(path[0] ?? '')) return [path]
  return Object.entries(field.fields).flatMap(([name, inner]) => leaves(inner, [...path, name]))
}

/** Whether some file names the key together with a section that it stands in. */
function isRead(path: readonly string[]): boolean {
  const key = path.at(-1)!
  const sections = path.slice(0, -1)
  return READERS.some((words) => words.has(key) && (sections.length === 0 || sections.some((name) => words.has(name))))
}

it('lists no key that nothing reads', () => {
  const all = leaves(toField(CONFIG), [])
  expect(all.length).toBeGreaterThan(200)
  expect(all.filter((path) => !isRead(path)).map((path) => path.join('.'))).toEqual([])
})
