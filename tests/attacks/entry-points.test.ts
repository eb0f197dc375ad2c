// The same course through every door, and what is particular to one: twenty classes of holes that agents like this one had.
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { courseOf, FEWER, HELD, JUDGED, LOOKED_AT, RELOADED } from './entry-points/course.js'
import { tryEditor, tryFailures, tryGateway, tryKeylessGateway } from './entry-points/entry-point-tries.js'
import { ENTRY_POINTS, runEntryPoint } from './entry-points/run-entry-points.js'
import { KNOWN_HOLES } from './known-holes.js'

const hold = (group: string, open: Readonly<Record<string, string>>) => {
  const known = KNOWN_HOLES.entryPoints
    .filter((id) => id.startsWith(`${group}: `))
    .map((id) => id.slice(group.length + 2))
  expect(Object.keys(open).sort(), JSON.stringify(open, null, 2)).toEqual(known.sort())
}

it('has three tries of each of the twenty classes, and one at every door, or says why not', () => {
  const looked = Object.entries(LOOKED_AT).flatMap(([name, tries]) => tries.map(() => ({ class: name })))
  const steps = [...HELD, ...JUDGED, ...RELOADED.steps].filter(({ makes }) => makes === undefined)
  const classes = Array.from({ length: 20 }, (_, index) => String(index + 1).padStart(2, '0'))
  const withFewerThan = (least: number, all: readonly { readonly class: string }[]) => {
    const tries = Map.groupBy(all, (one) => one.class.slice(0, 2))
    return classes.filter((one) => (tries.get(one)?.length ?? 0) < least)
  }
  expect(withFewerThan(3, [...steps, ...looked])).toEqual(Object.keys(FEWER).sort())
  expect(withFewerThan(1, [...courseOf(steps, false), ...looked])).toEqual(Object.keys(FEWER).sort())
})

needs(missingPrograms('bwrap', 'git', 'curl'))('every door', () => {
  it.each(ENTRY_POINTS)(
    '%s lets nothing through where commands are isolated',
    async (entryPoint) => hold(`${entryPoint} held`, await runEntryPoint(entryPoint, true)),
    120_000,
  )
  it.each(ENTRY_POINTS)(
    '%s lets nothing through where the policy is alone',
    async (entryPoint) => hold(`${entryPoint} judged`, await runEntryPoint(entryPoint, false)),
    120_000,
  )

  it(
    'a gateway holds against clients, histories and rules that change',
    async () => hold('gateway', await tryGateway()),
    60_000,
  )
  it(
    'a gateway without a key holds against pages and commands',
    async () => hold('keyless', await tryKeylessGateway()),
    60_000,
  )
  it('an answer in an editor covers what was shown', async () => hold('editor', await tryEditor()), 60_000)
  it('a part that fails allows nothing', async () => hold('failures', await tryFailures()), 60_000)
})
