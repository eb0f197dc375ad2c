import { expect, it } from 'vitest'
import { EDIT_CORPUS } from './__fixtures__/edit-corpus.js'
import type { EditCase } from './__fixtures__/edit-table.js'
import { applyEdit } from './apply-edit.js'

const MEANT = 0.95

async function judge(edit: EditCase): Promise<'as meant' | 'not applied' | 'wrong'> {
  const outcome = await applyEdit(edit.file, { oldString: edit.old, newString: edit.new, replaceAll: false })
  if (outcome.type === 'edited') return outcome.text === edit.expect ? 'as meant' : 'wrong'
  return typeof edit.expect === 'object' && edit.expect.refused === outcome.type ? 'as meant' : 'not applied'
}

it(`applies at least 95 % of ${EDIT_CORPUS.length} edits as meant, and none of them wrongly`, async () => {
  const judged = await Promise.all(EDIT_CORPUS.map(async (edit) => ({ name: edit.name, verdict: await judge(edit) })))
  const named = (wanted: string) => judged.filter(({ verdict }) => verdict === wanted).map(({ name }) => name)
  expect(EDIT_CORPUS.length).toBeGreaterThanOrEqual(200)
  expect(named('wrong')).toEqual([])
  const share = named('as meant').length / judged.length
  expect(share, `not applied: ${named('not applied').join('; ')}`).toBeGreaterThanOrEqual(MEANT)
})
