import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readServers } from './read-servers.js'

it('reads a program and an address, with what holds where nothing is said', () => {
  const { servers, problems } = readServers({
    files: { command: 'npx', args: ['-y', 'files', 3], env: { ROOT: '/srv', N: 7 } },
    remote: { url: 'https://far.example/mcp', headers: { 'X-Team': 'a' }, transport: 'sse', timeout: 5 },
  })
  expect(problems).toEqual([])
  expect(servers).toMatchObject([
    {
      name: 'files',
      address: { type: 'stdio', argv: ['npx', '-y', 'files', '3'], env: { ROOT: '/srv', N: '7' }, isIsolated: false },
      isEnabled: true,
      timeoutMs: 300_000,
      connectTimeoutMs: 60_000,
      trust: 'full',
      protocol: 'auto',
    },
    { name: 'remote', address: { type: 'http', url: 'https://far.example/mcp', isSse: true }, timeoutMs: 5_000 },
  ])
})

it('names what is wrong by its place, and keeps the other servers', () => {
  const wrong = {
    '': { command: 'a' },
    args: { command: 'a', args: 'b' },
    cwd: { command: 'a', cwd: 'relative' },
    late: { command: 'a', timeout: -1 },
    address: { url: 'ftp://a' },
    list: [],
    trust: { command: 'a', trust: 'some' },
    alone: { url: 'https://a', oauth: { grant: 'client_credentials', client_id: 'a' } },
    secret: { url: 'https://a', oauth: { client_id: 'a', client_secret: 'b' } },
    issuer: { url: 'https://a', oauth: { issuer: 'login' } },
    good: { command: 'a' },
  }
  const { servers, problems } = readServers(wrong)
  expect(servers.map(({ name }) => name)).toEqual(['good'])
  expect(problems.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
    ': a server is named in at most 40 letters, digits, dots, dashes and underscores.',
    'args.args: it must be a list of texts.',
    'cwd.cwd: it must be an absolute path.',
    'late.timeout: it must be a number above 0.',
    'address.url: it must be an http or https address.',
    'list: it must be a map with a command or an url.',
    'trust.trust: it can be full or untrusted.',
    'alone.oauth: with grant client_credentials it needs client_id, and client_secret or private_key.',
    'secret.oauth.issuer: it is needed with a secret or key: the authorization server that it is for.',
    'issuer.oauth.issuer: it must be the address of an authorization server.',
  ])
})

it('throws for nothing that a file may hold', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readServers(value)
      readServers({ one: value, two: { command: value }, three: { url: 'http://a', headers: value, tools: value } })
    }),
  )
})
