import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { type Backend, harness } from './harness.js'
import { testPermit } from './permit.js'

/** How many children this process has, ended ones that nobody collected among them; 0 where that cannot be seen. */
function childProcesses(): number {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').length
  } catch {
    return 0
  }
}

/** Foreground commands. */
export function execTests({ shared, create, it }: Backend): void {
  describe('exec', () => {
    it('gives output of both streams in order, and the exit code as a value', async () => {
      const { run, environment } = await shared()
      const result = await run('echo one; echo two >&2; echo three; exit 3')
      expect(result).toMatchObject({
        exitCode: 3,
        signal: null,
        timedOut: false,
        canceled: false,
        output: 'one\ntwo\nthree\n',
        outputBytes: 14,
        fullOutputPath: null,
        cwd: environment.cwd(),
      })
    })

    it('keeps directory and exported variables from one command to the next', async () => {
      const { run, environment } = await shared()
      const start = environment.cwd()
      await run(`mkdir inner; cd inner; export NAME="it's \\"so\\" \\$x"; export LINES_OF='a\nb'; local_only=1`)
      const { output } = await run('echo "$NAME|$LINES_OF|$local_only"; pwd')
      expect(output).toBe(`it's "so" $x|a\nb|\n${start}/inner\n`)
      expect(environment.cwd()).toBe(`${start}/inner`)
      await run('unset NAME; cd -')
      expect((await run(`echo "[\${NAME-none}]"; pwd`)).output).toBe(`[none]\n${start}\n`)
    })

    it('keeps no function, alias or remembered program for the next command', async () => {
      const { run } = await shared()
      await run('ls() { echo changed; }; export -f ls; alias ls="echo changed"; hash -p /bin/echo ls; true')
      const { output, exitCode } = await run('type ls; ls -d .')
      expect(exitCode).toBe(0)
      expect(output.trim().split('\n').at(-1)).toBe('.')
      expect(output).not.toContain('changed')
    })

    it('keeps state when the command calls exit or fails under set -e', async () => {
      const { run, environment } = await shared()
      const start = environment.cwd()
      await run('mkdir a; cd a; exit 4')
      expect(environment.cwd()).toBe(`${start}/a`)
      expect((await run('set -e; cd ..; false; cd /')).exitCode).toBe(1)
      expect(environment.cwd()).toBe(start)
    })

    it('runs elsewhere and with more variables for one command only', async () => {
      const { run, environment } = await shared()
      const start = environment.cwd()
      await run('mkdir other; export KEPT=1 OVER=old')
      const inside = await run('pwd; echo $KEPT$OVER$EXTRA', {
        cwd: `${start}/other`,
        env: { EXTRA: 'x', OVER: 'new' },
      })
      expect(inside.output).toBe(`${start}/other\n1newx\n`)
      expect((await run('pwd; echo $KEPT$OVER$EXTRA')).output).toBe(`${start}\n1old\n`)
    })

    it('leaves the shell as it was after a command beside it', async () => {
      const { run, environment } = await shared()
      const start = environment.cwd()
      await run('export NAME=kept')
      expect((await run('echo "$NAME"; cd /; export NAME=lost', { aside: true })).output).toBe('kept\n')
      expect((await run('echo "$NAME"; pwd')).output).toBe(`kept\n${start}\n`)
    })

    it('reports broken quoting as a failed command', async () => {
      const { run } = await shared()
      const result = await run('echo "never closed')
      expect(result.exitCode).not.toBe(0)
      expect(result.output).not.toBe('')
      // Busybox counts no lines where it reads what eval is given.
      expect(result.output).not.toMatch(/line (?:[2-9]|\d\d)/)
      expect((await run('echo fine')).output).toBe('fine\n')
    })

    it('keeps on running after a variable that is too long for the system was exported, and says that it is gone', async () => {
      const { run } = await harness(create)
      await run('export BIG=here SMALL=kept')
      const long = 'x'.repeat(1_000)
      const grow = `i=0; BIG=; while [ $i -lt 300 ]; do BIG=\${BIG}${long}; i=$((i+1)); done; echo grown`
      expect((await run(grow)).output).toMatch(/^grown\n\[BIG is too long [^\n]*\]\n$/)
      expect((await run('echo "[$BIG$SMALL]"; /bin/true && echo runs')).output).toBe('[kept]\nruns\n')
    })

    it('refuses a command with a null character', async () => {
      const { run, start } = await shared()
      const refused = { code: 'environment.invalid_command' }
      await expect(run('echo a\0b')).rejects.toMatchObject(refused)
      await expect(start('echo a\0b')).rejects.toMatchObject(refused)
    })

    it('says of a command that it is too long for the system, in the background too', async () => {
      const { run, start } = await shared()
      const refused = { code: 'environment.command_too_long' }
      await expect(run(`: ${'x'.repeat(200_000)}`)).rejects.toMatchObject(refused)
      await expect(start(`: ${'x'.repeat(200_000)}`)).rejects.toMatchObject(refused)
      expect((await run('echo fine')).output).toBe('fine\n')
    })

    it('gives end of file, or the text given, on standard input', async () => {
      const { run } = await shared()
      expect((await run('cat; echo end')).output).toBe('end\n')
      expect((await run('cat; echo end', { stdin: 'some\ntext\n' })).output).toBe('some\ntext\nend\n')
    })

    it('passes a megabyte of input, and bytes that are no text', async () => {
      const { run } = await shared()
      const stdin = 'no end of line '.repeat(70_000)
      expect((await run('wc -c', { stdin })).output.trim()).toBe(String(stdin.length))
      expect(await run('printf "a\\000b\\377"')).toMatchObject({ output: 'a\0b\ufffd', outputBytes: 4 })
    })

    it('leaves neither processes nor open handles behind, however many commands ran', async () => {
      const { run } = await shared()
      const handles = () => process.getActiveResourcesInfo().length
      await run('true')
      const [before, children] = [handles(), childProcesses()]
      for (let count = 0; count < 20; count++) await run('echo out; echo err >&2; exit 1', { timeoutMs: 60_000 })
      // What ended is collected by the event loop.
      while (handles() > before || childProcesses() > children) await new Promise((resolve) => setImmediate(resolve))
      expect(childProcesses()).toBeLessThanOrEqual(children)
    })

    it('lets output be opened by name', async () => {
      const { run } = await shared()
      expect((await run('echo a > /dev/stdout; echo b | tee /dev/stderr > /dev/null')).output).toBe('a\nb\n')
    })

    it('keeps head and tail of long output and all of it in a file', async () => {
      const { run } = await shared()
      const result = await run(
        'echo first; i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done; echo last',
        {
          maxOutputBytes: 1_000,
        },
      )
      expect(result.output.length).toBeLessThan(1_100)
      expect(result.output).toMatch(/^first\nline 0\n/)
      expect(result.output).toMatch(/line 1999\nlast\n$/)
      expect(String(result.outputBytes)).toBe((await run(`wc -c < '${result.fullOutputPath}'`)).output.trim())
    })

    it('shows output as it comes, in the same order', async () => {
      const { run } = await shared()
      const seen: string[] = []
      const result = await run('for i in 1 2 3; do echo $i; done; printf "\\303"; sleep 0.05; printf "\\251"', {
        onOutput: (text) => seen.push(text),
      })
      expect(seen.join('')).toBe('1\n2\n3\né')
      expect(result.output).toBe('1\n2\n3\né')
    })

    it('does not wait for processes left in the background', async () => {
      const { run, gone } = await shared()
      const result = await run('sleep 60 & echo $!', { timeoutMs: 20_000 })
      expect(result).toMatchObject({ exitCode: 0, timedOut: false })
      await run(`kill ${result.output.trim()}`)
      expect(await gone(result.output.trim())).toBe(true)
    })

    it('goes on as a background process once nobody waits, or is waited for all the same', async () => {
      const { run, environment, gone } = await shared()
      const start = environment.cwd()
      const controller = new AbortController()
      let shown = ''
      const onOutput = (text: string) => {
        shown += text
        if (shown.includes('one\n')) controller.abort()
      }
      const command = 'cd /; echo one; while [ ! -e "$OLDPWD/go" ]; do sleep 0.02; done; echo two; sleep 0.2; exit 3'
      const yieldSignal = controller.signal
      const running = run(command, { yieldSignal, onOutput, timeoutMs: 20_000 })
      while (!shown.includes('one\n')) await new Promise((resolve) => setTimeout(resolve, 10))
      await run('touch go')
      const result = await running
      if (!result.process) {
        expect(result).toMatchObject({ exitCode: 3, output: 'one\ntwo\n' })
        return
      }
      expect(result).toMatchObject({ exitCode: null, canceled: false, timedOut: false, output: 'one\n', cwd: start })
      expect(result.process.info()).toMatchObject({ command, cwd: start })
      expect(environment.processes().map((process) => process.info().id)).toEqual([result.process.info().id])
      expect(await result.process.wait()).toMatchObject({ status: 'exited', exitCode: 3 })
      expect(result.process.output()).toBe('one\ntwo\n')
      const second = new AbortController()
      const listener = (text: string) => text.includes('\n') && second.abort()
      const { process, output } = await run('echo $$; sleep 60', { yieldSignal: second.signal, onOutput: listener })
      expect(process!.write('x')).toBe(false)
      await process!.kill()
      expect(await gone(output.trim())).toBe(true)
      expect(environment.cwd()).toBe(start)
    })

    it('ends the whole tree at the time limit and leaves the shell as it was', async () => {
      const { run, gone, environment } = await shared()
      const start = environment.cwd()
      const result = await run('cd /; export X=1; sleep 60 & echo $!; sh -c "sleep 61; true"', { timeoutMs: 300 })
      expect(result).toMatchObject({ exitCode: 124, timedOut: true, canceled: false, cwd: start })
      expect(await gone(result.output.trim())).toBe(true)
      expect((await run('echo "$PWD $X"')).output).toBe(`${start} \n`)
    })

    it('ends what ignores SIGTERM', async () => {
      const { run, gone } = await shared()
      const result = await run(`trap '' TERM; echo $$; while :; do sleep 0.1; done`, { timeoutMs: 200 })
      expect(result).toMatchObject({ exitCode: 124, timedOut: true })
      // A shell whose child is killed a moment before it may still say "Killed".
      expect(await gone(result.output.split('\n')[0] ?? '')).toBe(true)
    })

    it('cancels on abort, and does not start when aborted before', async () => {
      const { run, gone } = await shared()
      const controller = new AbortController()
      const onOutput = () => controller.abort()
      const result = await run('echo $$; sleep 60', { signal: controller.signal, onOutput })
      expect(result).toMatchObject({ exitCode: 130, canceled: true, timedOut: false })
      expect(await gone(result.output.trim())).toBe(true)
      const never = await run('touch made', { signal: controller.signal })
      expect(never).toMatchObject({ exitCode: 130, canceled: true, output: '' })
      expect((await run('ls')).output).toBe('')
    })

    it('ends on abort what ignores SIGTERM, deep in the tree, before it answers', async () => {
      const { run, gone } = await shared()
      const controller = new AbortController()
      let shown = ''
      const onOutput = (text: string) => {
        shown += text
        if (shown.split('\n').length > 3) controller.abort()
      }
      const stubborn = `trap '' TERM INT HUP; echo $$; while :; do sleep 0.1; done`
      const command = `(sh -c "${stubborn.replaceAll('$', '\\$')}") & sh -c "${stubborn.replaceAll('$', '\\$')}" & ${stubborn}`
      const result = await run(command, { signal: controller.signal, onOutput, timeoutMs: 60_000 })
      expect(result).toMatchObject({ exitCode: 130, canceled: true })
      const pids = shown.match(/^\d+$/gm) ?? []
      expect(pids).toHaveLength(3)
      for (const pid of pids) expect(await gone(pid)).toBe(true)
    })

    it("passes a program's own 130 and 124 through", async () => {
      const { run } = await shared()
      expect(await run('exit 130')).toMatchObject({ exitCode: 130, canceled: false })
      expect(await run('exit 124')).toMatchObject({ exitCode: 124, timedOut: false })
    })

    it('goes on in the nearest directory when its own was deleted, and says so', async () => {
      const { run, environment } = await harness(create)
      const start = environment.cwd()
      await run('mkdir -p a/b; cd a/b; rm -r ../../a')
      const result = await run('pwd')
      expect(result.output).toContain(`${start}/a/b`)
      expect(result.output.endsWith(`\n${start}\n`)).toBe(true)
      expect((await run('pwd')).output).toBe(`${start}\n`)
    })

    it('refuses to run in a directory that is not there', async () => {
      const { run, environment } = await shared()
      await expect(run('true', { cwd: `${environment.cwd()}/none` })).rejects.toMatchObject({
        code: 'environment.not_found',
      })
    })

    it('uses up the permit, and runs nothing with the wrong one', async () => {
      const { environment, run } = await shared()
      const { backend } = environment
      const permit = testPermit({ type: 'spawn', command: 'echo yes', cwd: environment.cwd(), backend })
      expect((await environment.exec(permit, 'echo yes')).output).toBe('yes\n')
      await expect(environment.exec(permit, 'echo yes')).rejects.toMatchObject({ code: 'policy.permit_used' })
      const other = testPermit({ type: 'spawn', command: 'echo yes', cwd: environment.cwd(), backend })
      await expect(environment.exec(other, 'touch made')).rejects.toMatchObject({ code: 'policy.permit_mismatch' })
      expect((await run('ls')).output).toBe('')
    })

    it('refuses commands once closed', async () => {
      const { environment, run } = await harness(create)
      await environment.close()
      await expect(run('true')).rejects.toMatchObject({ code: 'environment.closed' })
    })
  })
}
