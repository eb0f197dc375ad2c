import { describe, expect, it } from 'vitest'
import { createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createTerminalTool } from '../index.js'
import { isolationNote } from './outside.js'

const capabilities = { background: true, pty: false, isolated: true, outside: true }

const resolve = (path: string) => path

describe('terminal, where commands are isolated', () => {
  it('plans those outside that are known to need it or that the model asks for, and no others', async () => {
    const support = { why: () => null, failed: () => undefined }
    const { environment } = await temporaryEnvironment({ isolation: { support } })
    const context = createToolContext({ environment })
    const plannedOutside = (command: string, more: { readonly outside?: boolean } = {}) =>
      createTerminalTool().actions?.({ command, background: false, ...more }, context)
    const common = { type: 'spawn', cwd: environment.cwd(), backend: 'local' }
    expect(plannedOutside('git status')).toEqual([{ ...common, command: 'git status' }])
    expect(plannedOutside('git push')).toEqual([{ ...common, command: 'git push', outside: true }])
    expect(plannedOutside('echo x > ./x')).toEqual([{ ...common, command: 'echo x > ./x' }])
    expect(plannedOutside('echo x > /srv/x')).toEqual([{ ...common, command: 'echo x > /srv/x', outside: true }])
    expect(plannedOutside('git push', { outside: false })).toEqual([{ ...common, command: 'git push' }])
    expect(plannedOutside('make deploy', { outside: true })).toEqual([
      { ...common, command: 'make deploy', outside: true },
    ])
  })

  it('plans nothing of the kind where they are not, whatever the model asks for', async () => {
    const support = { why: () => 'there is no way to', failed: () => undefined }
    const { environment } = await temporaryEnvironment({ isolation: { support, required: false } })
    const context = createToolContext({ environment })
    const args = { command: 'git push', background: false, outside: true }
    expect(createTerminalTool().actions?.(args, context)).toEqual([
      { type: 'spawn', command: 'git push', cwd: environment.cwd(), backend: 'local' },
    ])
  })

  it.each([
    ["touch: cannot touch '/etc/x': Read-only file system", 'cannot write outside the workspace'],
    ['npm error code EROFS', 'cannot write outside the workspace'],
    ["OSError: [Errno 30] Read-only file system: '/home/ada/.local'", 'cannot write outside the workspace'],
    ['git@example.com: Permission denied (publickey).', 'cannot see keys'],
    ['Host key verification failed.', 'cannot see keys'],
    ["fatal: could not read Username for 'https://example.com': terminal prompts disabled", 'cannot see keys'],
    ['cat: /home/ada/.aws/credentials: No such file or directory', 'cannot see keys'],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', 'cannot reach services'],
    ['error: gpg failed to sign the data', 'cannot see keys'],
    [
      'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file',
      'cannot reach services',
    ],
    ['connection to server on socket "/tmp/.s.PGSQL.5432" failed: Connection refused', 'cannot reach the socket'],
    ["Can't connect to local MySQL server through socket '/tmp/mysql.sock' (111)", 'cannot reach the socket'],
    ['Could not connect to Redis at /tmp/redis.sock: Connection refused', 'cannot reach the socket'],
    ['Error: connect ECONNREFUSED /tmp/s.sock', 'cannot reach the socket'],
    ["bwrap: Can't chdir to /home/ada/.hermes/x: No such file or directory", 'cannot see this folder'],
  ])('says of a failure with "%s" that isolation is to blame, and how to go on', (output, text) => {
    const result = { output, exitCode: 1 }
    expect(isolationNote(result, { resolve, capabilities })).toMatch(
      new RegExp(
        `^\\[isolated commands ${text}.*\\. If this one has to, run it again with outside=true: the user is asked\\.\\]$`,
      ),
    )
    expect(isolationNote(result, { resolve, capabilities: { ...capabilities, outside: false } })).toBeNull()
    expect(isolationNote({ ...result, exitCode: 0 }, { resolve, capabilities })).toBeNull()
  })

  it('says nothing about other failures, and blames a closed network only when it is', () => {
    const failed = (output: string) => ({ output, exitCode: 1 })
    expect(isolationNote(failed('http://127.0.0.1/: Connection refused'), { resolve, capabilities })).toBeNull()
    const unmounted = failed("bwrap: Can't create file at /home/ada/.x.lock: Read-only file system")
    expect(isolationNote(unmounted, { resolve, capabilities })).toBeNull()
    expect(isolationNote(failed('2 tests failed'), { resolve, capabilities })).toBeNull()
    const unknown = failed('curl: (6) Could not resolve host: example.com')
    expect(isolationNote(unknown, { resolve, capabilities })).toBeNull()
    expect(isolationNote(unknown, { resolve, capabilities: { ...capabilities, offline: true } })).toContain(
      'cannot reach the network',
    )
  })
})

describe('terminal, where the network is off after text from outside was read', () => {
  it('plans commands without it then, but for those that are known to need it, and says how a failure can ask', async () => {
    const support = { why: () => null, failed: () => undefined }
    const { environment } = await temporaryEnvironment({ isolation: { support, network: 'ask' } })
    const planned = async (command: string, isTainted: boolean, more: { readonly outside?: boolean } = {}) => {
      const context = { ...createToolContext({ environment }), isTainted }
      const actions = await createTerminalTool().actions?.({ command, background: false, ...more }, context)
      return actions?.map((action) => (action.type === 'spawn' ? (action.network ?? 'as it is') : ''))
    }
    expect(await planned('node build.js', false)).toEqual(['as it is'])
    expect(await planned('node build.js', true)).toEqual(['off'])
    expect(await planned('npm ci && npm test', true)).toEqual(['on'])
    expect(await planned('curl https://example.com', true)).toEqual(['on'])
    expect(await planned('node build.js', true, { outside: true })).toEqual(['as it is'])
    const failed = { exitCode: 1, output: 'getaddrinfo ENOTFOUND example.com' }
    expect(isolationNote(failed, { resolve, capabilities }, { network: 'off' })).toContain('cannot reach the network')
    expect(isolationNote(failed, { resolve, capabilities }, { network: 'on' })).toBeNull()
  })
})
