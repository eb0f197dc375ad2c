import { expect, it } from 'vitest'
import { nearestName } from './nearest-name.js'

const NAMES = ['agents', 'status', 'help', 'mode', 'model', '--yolo', 'moa']

it.each([
  ['stauts', 'status'],
  ['STATUS', 'status'],
  ['hlep', 'help'],
  ['halp', 'help'],
  ['mdoe', 'mode'],
  ['modl', 'mode'],
  ['modle', 'model'],
  ['agentss', 'agents'],
  ['--yoolo', '--yolo'],
  ['moe', 'mode'],
])('takes %j for a typing error of %j', (word, meant) => {
  expect(nearestName(word, NAMES)).toBe(meant)
})

it.each(['stuff', 'frobnicate', 'he', 'x', '', '--foo', 'satsut', 'a'.repeat(100_000)])(
  'takes %j for no typing error',
  (word) => {
    expect(nearestName(word, NAMES)).toBeNull()
  },
)

it('counts the nearest, however they are sorted', () => {
  expect(nearestName('stauts', ['staats', 'stouts', 'status'])).toBe('status')
  expect(nearestName('stats', ['stots', 'stets'])).toBe('stots')
  expect(nearestName('modell', ['mode', 'model'])).toBe('model')
  expect(nearestName('model', [])).toBeNull()
})
