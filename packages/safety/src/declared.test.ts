import { expect, it } from 'vitest'
import { undeclared } from './declared.js'

it.each([
  [['api.example.com'], 'https://api.example.com/x', true],
  [['api.example.com'], 'https://api.example.com:8443/x', true],
  [['api.example.com:8443'], 'https://api.example.com:8443/x', true],
  [['api.example.com:8443'], 'https://api.example.com/x', false],
  [['*.example.com'], 'https://api.example.com/x', true],
  [['*.example.com'], 'https://a.b.example.com/x', true],
  [['*.example.com'], 'https://example.com/x', false],
  [['*.example.com'], 'https://badexample.com/x', false],
  [['*.example.com'], 'https://api.example.com.evil.test/x', false],
  [[], 'https://api.example.com/x', false],
  [true, 'https://anywhere.test/', true],
  [false, 'https://anywhere.test/', false],
] as const)('a plugin that declared %j and %s', (network, url, isDeclared) => {
  const plugin = { name: 'p', exec: false, network }
  const reason = undeclared({ type: 'fetch', url, method: 'GET' }, plugin)
  expect(reason).toBe(isDeclared ? null : `the plugin p has not declared the host ${new URL(url).host}`)
})
