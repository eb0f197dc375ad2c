import { expect, it } from 'vitest'
import { shownAddress, toTransportError } from './transport-error.js'

it.each([
  ['https://api.example.com/v1', 'https://api.example.com/v1'],
  ['https://api.example.com/v1?key=abcdef', 'https://api.example.com/v1'],
  ['https://ada:hunter22@api.example.com/v1#x', 'https://api.example.com/v1'],
  ['ada:hunter22@no address?key=x', 'no address'],
  ['//ada:hunter22@no address?key=x', '//no address'],
])('shows %s as %s', (address, shown) => {
  expect(shownAddress(address)).toBe(shown)
})

const target = { provider: 'custom', baseUrl: 'https://ada:hunter22@api.example.com/v1?key=abcdef12', model: 'm' }

it.each([
  Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
  Object.assign(new Error('500 cannot reach https://u:hunter22@x.example/v1?key=abcdef12'), { status: 500 }),
  Object.assign(new Error('401 bad key in ?api_key=abcdef12&x=1'), { status: 401 }),
  Object.assign(new Error('404 nothing'), { status: 404 }),
])('names no key of an address in an error: %s', (error) => {
  expect(toTransportError(error, target).message).not.toMatch(/hunter22|abcdef12/)
})
