import { expect, it } from 'vitest'
import { serverEntries } from './mcp-servers.js'

it('makes entries of what an editor gives, whichever way its servers are reached', () => {
  const entries = serverEntries([
    { name: 'My Files ✓', command: '/bin/files', args: ['-x'], env: [{ name: 'ROOT', value: '/srv' }] },
    { type: 'http', name: 'remote', url: 'https://far.example/mcp', headers: [{ name: 'X-Key', value: 'k' }] },
    { type: 'sse', name: 'old', url: 'https://old.example/sse', headers: [] },
  ])
  expect(entries).toEqual({
    My_Files_: { command: '/bin/files', args: ['-x'], env: { ROOT: '/srv' } },
    remote: { url: 'https://far.example/mcp', transport: 'http', headers: { 'X-Key': 'k' } },
    old: { url: 'https://old.example/sse', transport: 'sse', headers: {} },
  })
})
