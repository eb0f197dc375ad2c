import { HermesError } from '@hermes/contracts'
import { expect, it } from 'vitest'
import { fileError } from './file-error.js'

it.each([
  ['EACCES', 'environment.permission', /permissions/],
  ['EROFS', 'environment.read_only', /read-only/],
  ['ENOSPC', 'environment.no_space', /disk is full/],
  ['EIO', 'environment.io', /EIO/],
])('turns %s into %s with a line to act on', (system, code, reason) => {
  const cause = Object.assign(new Error('raw'), { code: system })
  const error = fileError(cause, 'write', '/x/y')
  expect(error).toMatchObject({ code, cause, details: { path: '/x/y', system } })
  expect(error.message).toMatch(/^Cannot write \/x\/y: /)
  expect(error.message).toMatch(reason)
})

it('passes errors of ours through', () => {
  const error = new HermesError('x', { code: 'environment.changed' })
  expect(fileError(error, 'write', '/x')).toBe(error)
})
