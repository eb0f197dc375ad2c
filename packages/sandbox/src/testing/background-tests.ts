import { describe, expect } from 'vitest'
import { type Backend, harness } from './harness.js'
import { testPermit } from './permit.js'

/** Background processes. */
export function backgroundTests({ shared, create, it }: Backend): void {
  describe('background processes', () => {
    it('start at once, with the directory and variables of the shell, and keep their output', async () => {
      const { environment, run, start } = await shared()
      await run('mkdir in; cd in; export NAME=kept')
      const background = await start('echo "$NAME $EXTRA"; pwd; echo err >&2; read line; exit 3', {
        env: { EXTRA: 'more' },
      })
      expect(background.info()).toMatchObject({ cwd: environment.cwd(), status: 'running', endedAtMs: null })
      expect(background.info().id).toMatch(/^proc_[0-9a-f]{8}$/)
      background.closeInput()
      expect(await background.wait()).toMatchObject({ status: 'exited', exitCode: 3, signal: null })
      expect(background.output()).toBe(`kept more\n${environment.cwd()}\nerr\n`)
      expect(environment.processes().map((one) => one.info().id)).toContain(background.info().id)
    })

    it('read what is written to them until their input is closed', async () => {
      const { start } = await shared()
      const background = await start('while read -r line; do echo "got $line"; done; echo end')
      expect(background.write('one\n')).toBe(true)
      expect(background.write('two\n')).toBe(true)
      background.closeInput()
      await background.wait()
      expect(background.output()).toBe('got one\ngot two\nend\n')
      expect(background.write('three\n')).toBe(false)
    })

    it('tell who observes them what they write from then on, and how they end, once', async () => {
      const { start } = await shared()
      const background = await start('echo early; read line; echo "got $line"; exit 3')
      while (!background.output().includes('early')) await new Promise((resolve) => setTimeout(resolve, 10))
      const heard: string[] = []
      const ends: unknown[] = []
      const ended = new Promise<void>((resolve) => {
        background.observe({
          onOutput: (text) => heard.push(text),
          onExit: (info) => {
            ends.push(info.exitCode)
            resolve()
          },
        })
      })
      const stop = background.observe({ onExit: () => ends.push('stopped') })
      stop()
      background.write('it\n')
      await ended
      expect([heard.join(''), ends]).toEqual(['got it\n', [3]])
      const late = await new Promise((resolve) => background.observe({ onExit: resolve }))
      expect(late).toMatchObject({ status: 'exited', exitCode: 3 })
    })

    it('run on a pseudo-terminal where there is one, and say so where there is none', async () => {
      const { environment, start } = await shared()
      const before = environment.processes()
      const starting = start('test -t 0 && test -t 1 && echo terminal; read line; echo "got $line"', { pty: true })
      if (!environment.capabilities.pty) {
        await expect(starting).rejects.toMatchObject({ code: 'environment.no_pty' })
        expect(environment.processes()).toEqual(before)
        return
      }
      const background = await starting
      expect(background.info().pty).toBe(true)
      background.write('it\r')
      expect(await background.wait()).toMatchObject({ status: 'exited', exitCode: 0 })
      expect(background.output()).toMatch(/terminal\r\n[\s\S]*got it\r\n/)
      expect(background.write('more')).toBe(false)
    })

    it('are waited for no longer than asked', async () => {
      const { start } = await shared()
      const background = await start('sleep 60')
      expect(await background.wait({ timeoutMs: 20 })).toBeNull()
      const controller = new AbortController()
      const waiting = background.wait({ signal: controller.signal })
      controller.abort()
      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
      expect(background.info().status).toBe('running')
    })

    it('are killed with all their children', async () => {
      const { start, run, gone } = await shared()
      const background = await start('sleep 60 & echo $! > child; wait')
      const { output } = await run('while [ ! -s child ]; do sleep 0.02; done; cat child')
      await background.kill()
      expect(background.info()).toMatchObject({ status: 'exited' })
      expect(await gone(output.trim())).toBe(true)
      await background.kill()
    })

    it('keep only the newest 200,000 characters', async () => {
      const { start } = await shared()
      const background = await start('i=0; while [ $i -lt 30000 ]; do echo "line $i"; i=$((i+1)); done')
      await background.wait()
      const output = background.output()
      expect(output).toHaveLength(200_000)
      expect(output.endsWith('line 29998\nline 29999\n')).toBe(true)
    })

    it('end with the environment', async () => {
      const first = await harness(create)
      const second = await harness(create)
      const background = await first.start('sleep 60')
      const pid = String(background.info().pid)
      // A machine of its own counts its own processes: there the number may be another one's.
      const { output } = await second.run(
        `test ! -d /proc/self || grep -s sleep /proc/${pid}/cmdline >&2 && echo shared`,
      )
      await first.environment.close()
      if (output.includes('shared')) expect(await second.gone(pid)).toBe(true)
      expect(background.info().status).not.toBe('running')
    })

    it('outlive the environment when they are to be kept', async () => {
      const first = await harness(create)
      const background = await first.start('sleep 60')
      await first.environment.close({ keepProcesses: true })
      expect(background.info().status).toBe('running')
      await background.kill()
      expect(background.info().status).toBe('exited')
    })

    it('need a permit for just that command', async () => {
      const { environment } = await shared()
      const before = environment.processes()
      const permit = testPermit({
        type: 'spawn',
        command: 'true',
        cwd: environment.cwd(),
        backend: environment.backend,
      })
      await expect(environment.spawn(permit, 'false')).rejects.toMatchObject({ code: 'policy.permit_mismatch' })
      expect(environment.processes()).toEqual(before)
    })
  })
}
