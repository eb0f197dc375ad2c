import { describe, expect, it } from 'vitest'
import { EDIT_CASES, type EditCase } from './__fixtures__/edit-table.js'
import { applyEdit } from './apply-edit.js'

const MEANT = 0.95

async function judge(edit: EditCase): Promise<'as meant' | 'not applied' | 'wrong'> {
  const outcome = await applyEdit(edit.file, {
    oldString: edit.old,
    newString: edit.new,
    replaceAll: edit.all ?? false,
  })
  if (outcome.type === 'edited') return outcome.text === edit.expect ? 'as meant' : 'wrong'
  return typeof edit.expect === 'object' && edit.expect.refused === outcome.type ? 'as meant' : 'not applied'
}

describe.each(Object.entries(EDIT_CASES))('edits of the table: %s', (_, cases) => {
  it.each(cases)('$name', async (edit) => {
    const { file, old, new: newString, all } = edit
    const outcome = await applyEdit(file, { oldString: old, newString, replaceAll: all ?? false })
    const come = outcome.type === 'edited' ? outcome.text : { refused: outcome.type }
    expect(come).toEqual(edit.expect)
  })
})

it('applies at least 95 % of the table as meant and nothing wrongly', async () => {
  const cases = Object.values(EDIT_CASES).flat()
  const judged = await Promise.all(cases.map(judge))
  expect(cases.length).toBeGreaterThanOrEqual(60)
  expect(judged.filter((verdict) => verdict === 'wrong')).toEqual([])
  expect(judged.filter((verdict) => verdict === 'as meant').length / cases.length).toBeGreaterThanOrEqual(MEANT)
})
