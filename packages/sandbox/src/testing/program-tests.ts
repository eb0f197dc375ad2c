import { text } from 'node:stream/consumers'
import { type ProgramRequest, programLine, type RunningProgram } from '@hermes/contracts/environment'
import { describe, expect } from 'vitest'
import { type Backend, type Harness, harness } from './harness.js'
import { testPermit } from './permit.js'

/** Programs that are spoken to, where the backend has them. */
export function programTests({ shared, create, it }: Backend): void {
  describe('programs', () => {
    it('get bytes as they are and give them back, until their input is closed', async () => {
      const { speak } = await programs(shared)
      const program = await speak?.(['cat'])
      if (!program) return
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256))
      const back = collect(program)
      program.stdin.end(bytes)
      expect((await back).equals(bytes)).toBe(true)
      expect(await program.ended).toEqual({ exitCode: 0, signal: null })
      expect(await text(program.stderr)).toBe('')
    })

    it('get their arguments verbatim, the directory and variables of the shell, and three streams', async () => {
      const { speak, run, environment } = await programs(shared)
      await run('mkdir "a folder"; cd "a folder"; export NAME=kept')
      const script = 'printf "<%s>" "$@"; echo "$NAME $EXTRA"; pwd; echo problem >&2; exit 3'
      const words = ['a b', "$HOME 'x' `y`", '', '*', '-n', 'line\nbreak', 'ü']
      const program = await speak?.(['sh', '-c', script, 'sh', ...words], { env: { EXTRA: 'more' } })
      if (!program) return
      expect(await text(program.stdout)).toBe(
        `${words.map((word) => `<${word}>`).join('')}kept more\n${environment.cwd()}\n`,
      )
      expect(await text(program.stderr)).toBe('problem\n')
      expect(await program.ended).toEqual({ exitCode: 3, signal: null })
    })

    it('answer while their input is open, and go on when only that is closed', async () => {
      const { speak } = await programs(shared)
      const program = await speak?.(['sh', '-c', 'read line; echo "got $line"; cat >&2; sleep 0.2; echo end'])
      if (!program) return
      program.stdin.write('it\n')
      const [first] = (await program.stdout[Symbol.asyncIterator]().next()).value.toString().split('\n')
      expect(first).toBe('got it')
      program.stdin.end('rest')
      expect(await text(program.stderr)).toBe('rest')
      expect((await program.ended).exitCode).toBe(0)
    })

    it('are killed with all they started', async () => {
      const { speak, run, gone } = await programs(shared)
      const program = await speak?.(['sh', '-c', 'sleep 60 & echo $! > child; wait; exit 7'])
      if (!program) return
      const { output } = await run('while [ ! -s child ]; do sleep 0.02; done; cat child')
      await program.kill()
      expect((await program.ended).exitCode).not.toBe(0)
      expect(await gone(output.trim())).toBe(true)
      await program.kill()
    })

    it('leave nothing of their group behind', async () => {
      const { speak, gone } = await programs(shared)
      const program = await speak?.(['sh', '-c', 'sleep 60 >/dev/null 2>&1 & echo $!'])
      if (!program) return
      const pid = await text(program.stdout)
      expect((await program.ended).exitCode).toBe(0)
      expect(await gone(pid.trim())).toBe(true)
    })

    it('end with the environment, which may keep background processes', async () => {
      const { speak, environment } = await programs(() => harness(create))
      const program = await speak?.(['cat'])
      if (!program) return
      await environment.close({ keepProcesses: true })
      expect((await program.ended).exitCode).not.toBe(0)
    })

    it('are not left behind by an environment that is closed while they start', async () => {
      const { speak, environment } = await programs(() => harness(create))
      if (!speak) return
      const refused = expect(speak(['sleep', '60'])).rejects.toThrow()
      await environment.close()
      await refused
    })

    it('say when they or their directory are not there, and need a permit for just that line', async () => {
      const { speak, environment } = await programs(shared)
      const program = await speak?.(['no-such-program-here', 'a'])
      if (!program) return
      expect(await text(program.stderr)).toContain('no-such-program-here')
      expect((await program.ended).exitCode).toBe(127)
      await expect(speak!(['true'], { cwd: '/no/such/folder' })).rejects.toMatchObject({
        code: 'environment.not_found',
      })
      const { backend } = environment
      const permit = testPermit({ type: 'spawn', command: 'true', cwd: environment.cwd(), backend })
      const starting = environment.startProgram!(permit, { argv: ['false'] })
      await expect(starting).rejects.toMatchObject({ code: 'policy.permit_mismatch' })
    })
  })
}

type Speak = (argv: ProgramRequest['argv'], options?: Omit<ProgramRequest, 'argv'>) => Promise<RunningProgram>

async function programs(open: () => Promise<Harness>): Promise<Harness & { readonly speak: Speak | undefined }> {
  const made = await open()
  const { backend, startProgram, cwd } = made.environment
  const speak: Speak = (argv, options = {}) => {
    const at = options.cwd ?? cwd.call(made.environment)
    const permit = testPermit({ type: 'spawn', command: programLine(argv), cwd: at, backend })
    return startProgram!(permit, { argv, ...options })
  }
  return { ...made, speak: startProgram ? speak : undefined }
}

async function collect({ stdout }: RunningProgram): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stdout) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
