import { expect, it } from 'vitest'
import { sshFailure } from './ssh-errors.js'

it.each([
  [
    '@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@\nHost key verification failed.',
    'host_key_changed',
  ],
  [
    'No ED25519 host key is known for [127.0.0.1]:22 and you have requested strict checking.\nHost key verification failed.',
    'host_key_unknown',
  ],
  ['ada@host: Permission denied (publickey).', 'auth_failed'],
  ['ssh: connect to host x port 22: Connection refused', 'connection_refused'],
  ['ssh: connect to host x port 22: Connection timed out', 'connect_timeout'],
  ['Connection timed out during banner exchange', 'connect_timeout'],
  ['ssh: Could not resolve hostname x: Name or service not known', 'unknown_host'],
  ['ssh: connect to host x port 22: No route to host', 'unreachable'],
  ['/home/ada/.ssh/config: line 3: Bad configuration option: nope', 'bad_ssh_config'],
  ['client_loop: send disconnect: Broken pipe', 'connection_lost'],
  ['', 'connection_lost'],
])('says in one line what %j means', (stderr, code) => {
  const failure = sshFailure('ada@host', 255, stderr)
  expect(failure.code).toBe(`environment.${code}`)
  expect(failure.message).toMatch(/^[A-Za-z][^\n]+\.$/)
  expect(failure.message).toContain('ada@host')
})
