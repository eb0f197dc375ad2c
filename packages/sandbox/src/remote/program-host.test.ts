import { HermesError } from '@hermes/contracts'
import { expect, it } from 'vitest'
import { ProgramHost } from './program-host.js'

/** A way to a side whose every program is the one given. */
class TestHost extends ProgramHost {
  readonly backend = 'far'
  readonly name = 'the remote host'
  readonly isolated = true
  protected override readonly maxReplyBytes = 1_000_000
  readonly #program: string

  constructor(program: string) {
    super()
    this.#program = program
  }

  async connect(): Promise<void> {}
  client() {
    return { program: '/bin/sh', args: ['-c', this.#program], env: { PATH: '/usr/bin:/bin' } }
  }
  failure(): HermesError {
    return new HermesError('It broke.', { code: 'environment.connection_lost' })
  }
  async close(): Promise<void> {}
}

it.each(['cat /dev/zero', 'cat /dev/zero >&2', 'cat /dev/zero & cat'])(
  'cuts off a side that never stops answering: %s',
  async (program) => {
    await expect(new TestHost(program).converse('true', new Uint8Array())).rejects.toMatchObject({
      code: 'environment.too_much_output',
    })
  },
)

it('takes an answer of any sensible size', async () => {
  const { stdout, exitCode } = await new TestHost('head -c 900000 /dev/zero').converse('true', new Uint8Array())
  expect([stdout.length, exitCode]).toEqual([900_000, 0])
})
