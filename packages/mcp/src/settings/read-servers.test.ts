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

it('leaves a server out for a slip of the pen that may have been a bound', () => {
  const url = 'https://a'
  const wrong = {
    tools: { url, tools: { exlude: ['delete_*'] } },
    tool: { url, tool: { exclude: ['delete_*'] } },
    trust: { url, trst: 'untrusted' },
    sampling: { url, sampling: { max_rmp: 1 } },
    elicitation: { url, elicitation: { enabeld: false } },
    oauth: { url, oauth: { isuer: 'https://login' } },
    words: { url, sampling: 'no' },
    stays: { url, timout: 3, sampling: { max_tool_rounds: 5 } },
  }
  const { servers, problems } = readServers(wrong)
  expect(servers.map(({ name }) => name)).toEqual(['stays'])
  const why = 'The server is not used, since it may be meant as a bound.'
  expect(problems.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
    `tools.tools.exlude: it is not a known key; exclude is one. ${why}`,
    `tool.tool: it is not a known key; tools is one. ${why}`,
    `trust.trst: it is not a known key; trust is one. ${why}`,
    `sampling.sampling.max_rmp: it is not a known key; max_rpm is one. ${why}`,
    `elicitation.elicitation.enabeld: it is not a known key; enabled is one. ${why}`,
    `oauth.oauth.isuer: it is not a known key; issuer is one. ${why}`,
    'words.sampling: it must be a map.',
    'stays.timout: it is not a known key and has no effect; timeout is one.',
    'stays.sampling.max_tool_rounds: it has no effect; no model is given tools by a server.',
  ])
})

it('uses no server with a variable that is not set, wherever it stands', () => {
  const ref = (name: string) => `\${${name}}`
  const oauth = { client_id: 'a', issuer: 'https://login' }
  const { servers, problems } = readServers({
    secret: { url: 'https://a', oauth: { ...oauth, client_secret: ref('NO_SECRET') } },
    key: { url: 'https://a', oauth: { ...oauth, private_key: ref('NO_KEY') } },
    args: { command: 'a', args: ['b', ref('env:NO_ARG')] },
    cwd: { command: 'a', cwd: `/${ref('NO_FOLDER')}` },
  })
  expect(servers).toEqual([])
  expect(problems.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
    expect.stringContaining('secret.oauth.client_secret: ${NO_SECRET} is not set, so the server is not used.'),
    expect.stringContaining('key.oauth.private_key: ${NO_KEY} is not set'),
    expect.stringContaining('args.args.1: ${NO_ARG} is not set'),
    expect.stringContaining('cwd.cwd: ${NO_FOLDER} is not set'),
  ])
})

it('knows the folders that editors have variables for', () => {
  const ref = (name: string) => `\${${name}}`
  const entry = {
    command: `${ref('userHome')}/bin/files`,
    args: [`${ref('workspaceFolder')}/src`, ref('workspaceFolderBasename')],
    cwd: ref('workspaceFolder'),
  }
  const folders = { userHome: '/home/ada', workspace: '/srv/tea' }
  expect(readServers({ files: entry }, { folders })).toMatchObject({
    servers: [{ address: { argv: ['/home/ada/bin/files', '/srv/tea/src', 'tea'], cwd: '/srv/tea' } }],
    problems: [],
  })
})

it('knows a server by what is written, whatever token it is given', () => {
  const one = (token: string, more: object = {}, written?: unknown) =>
    readServers({ a: { command: 'a', args: ['--key', token], env: { TOKEN: token }, ...more } }, { written })
      .servers[0]!.identity
  const written = { a: { command: 'a', args: ['--key', '${TOKEN}'], env: { TOKEN: '${TOKEN}' } } }
  expect(one('first', {}, written)).toBe(one('second', {}, written))
  expect(one('first')).not.toBe(one('second'))
  expect(one('first', { env: { TOKEN: 'x' } })).toBe(one('first', { env: { TOKEN: 'y' } }))
  expect(one('first', { env: {} })).not.toBe(one('first'))
  expect(one('first', { command: 'b' })).not.toBe(one('first'))
})

it('throws for nothing that a file may hold', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readServers(value)
      readServers({ one: value, two: { command: value }, three: { url: 'http://a', headers: value, tools: value } })
    }),
  )
})
