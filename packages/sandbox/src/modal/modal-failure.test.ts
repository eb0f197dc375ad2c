import { expect, it } from 'vitest'
import { modalFailure } from './modal-failure.js'

const WORDS = { service: 'Modal', credentials: 'the token', sandbox: 'the sandbox' }
const grpc = (code: number, details: string) => Object.assign(new Error(`/path CODE: ${details}`), { code, details })
const named = (name: string, message: string) => Object.assign(new Error(message), { name })

it.each([
  [grpc(16, 'Token is wrong.'), true, 'auth_failed', 'Modal refuses the login. Check the token.'],
  [
    grpc(8, 'Workspace limit exceeded'),
    false,
    'quota_exceeded',
    'Modal gives no more: Workspace limit exceeded. Stop what is not needed, or raise the limit.',
  ],
  [grpc(8, 'slow down'), false, 'rate_limited', 'Modal has had too many requests for now; try again in a while.'],
  [
    grpc(5, 'No such task'),
    true,
    'sandbox_gone',
    'the sandbox is gone: No such task. The next command opens another one.',
  ],
  [grpc(5, 'No such image'), false, 'not_found', 'Modal does not know what was asked for: No such image.'],
  [grpc(14, 'overloaded'), true, 'service_unavailable', 'Modal has trouble (503): overloaded. Try again in a while.'],
  [
    grpc(14, 'No connection established. Last error: Error: connect ECONNREFUSED. Resolution note: '),
    true,
    'unreachable',
    'Modal cannot be reached: connect ECONNREFUSED. Check the network.',
  ],
  [grpc(12, 'not known'), true, 'service_unavailable', 'Modal has trouble (500): not known. Try again in a while.'],
  [
    named('ConflictError', 'it has finished'),
    true,
    'sandbox_gone',
    'the sandbox is gone: it has finished. The next command opens another one.',
  ],
  [named('InvalidError', 'a bad name'), true, 'refused', 'Modal refused: a bad name.'],
  [
    new TypeError('fetch failed', { cause: new Error('ECONNRESET') }),
    true,
    'unreachable',
    'Modal cannot be reached: ECONNRESET. Check the network.',
  ],
])('says in one line what %s means', (error, isOfSandbox, code, line) => {
  expect(modalFailure(error, WORDS, isOfSandbox)).toMatchObject({ code: `environment.${code}`, message: line })
})
