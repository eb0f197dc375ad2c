import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { codeScene, isAlive, pythonMissing } from './__fixtures__/code-scene.js'

const kept = { keep: true } as const

needs(pythonMissing)('an interpreter that stays', () => {
  it.each([
    ['python', 'x = 1\nimport json\nprint("set")', 'x += 1\nprint(json.dumps(x))', 'print(x)'],
    [
      'javascript',
      'import { basename } from "node:path"\nlet x = 1\nconst y = 0\nconsole.log("set")',
      'const y = 1\nx += y\nconsole.log(basename("a/" + x))',
      'console.log(x)',
    ],
  ] as const)(
    'keeps the variables of %s from one program to the next, until it is reset',
    async (language, first, second, third) => {
      const { run, leftovers, host } = await codeScene()
      expect(await run(language, first, kept)).toMatchObject({ status: 'success', output: 'set\n', note: null })
      expect((await run(language, second, kept)).output).toBe('2\n')
      expect((await run(language, third, { ...kept, sessionId: 'another' })).status).toBe('error')
      expect((await run(language, third)).status).toBe('error')
      const afresh = await run(language, third, { ...kept, reset: true })
      expect(afresh).toMatchObject({ status: 'error', errors: expect.stringMatching(/x.* is not defined/), note: null })
      await host.close()
      expect(await leftovers()).toEqual([])
    },
  )

  it.each([
    ['python', 'from hermes_tools import read_file\nprint(read_file("a")["tool"])'],
    [
      'javascript',
      'import { read_file as read } from "hermes_tools"\nconsole.log((await read("a")).tool)\nconst os = await import("node:os")',
    ],
  ] as const)('calls tools from %s, counted for each program', async (language, code) => {
    const { run } = await codeScene({ maxCalls: 1 })
    for (let round = 0; round < 2; round++)
      expect(await run(language, code, kept)).toMatchObject({ output: 'read_file\n', toolCallsMade: 1, errors: '' })
  })

  it.each([
    [
      'python',
      [
        ['def f():\n  1/0', 'f()', /^Traceback[\s\S]*<program 2>[\s\S]*ZeroDivisionError/],
        ['pass', 'if :', /SyntaxError/],
        ['pass', 'import sys; sys.exit("no")', /^no$/],
      ],
    ],
    [
      'javascript',
      [
        ['const f = () => null.x', 'f()', /TypeError/],
        ['1', 'const = 1', /SyntaxError/],
        [
          '1',
          'await new Promise((resolve) => setTimeout(() => { setTimeout(resolve); throw new Error("late") }))',
          /late/,
        ],
      ],
    ],
  ] as const)('lives on after programs of %s failed', async (language, programs) => {
    const { run } = await codeScene()
    const print = language === 'python' ? 'print(7)' : 'console.log(7)'
    for (const [first, second, errors] of programs) {
      await run(language, first, kept)
      const result = await run(language, second, kept)
      expect(result, second).toMatchObject({ status: 'error', errors: expect.stringMatching(errors), note: null })
      expect(await run(language, print, kept)).toMatchObject({ status: 'success', output: '7\n' })
    }
  })

  it('is replaced after it ended, and says what that means', async () => {
    const { python } = await codeScene({ timeoutMs: 1_500 })
    const lost = { note: expect.stringContaining('is gone') }
    const first = await python('import os; x = 1; print(os.getpid(), flush=True); os._exit(4)', kept)
    expect(first).toMatchObject({
      status: 'error',
      errors: 'exit 4',
      output: expect.stringMatching(/^\d+\n$/),
      ...lost,
    })
    const second = await python('import os; print(os.getpid(), flush=True)\nwhile True: pass', kept)
    expect(second).toMatchObject({ status: 'timeout', ...lost })
    expect(isAlive(Number(second.output))).toBe(false)
    expect(await python('print(x)', kept)).toMatchObject({ status: 'error' })
  })

  it.each([
    ['python', 'import os\nx = 1', 'print(os.getcwd())'],
    ['javascript', 'let x = 1', 'console.log(process.cwd())'],
  ] as const)('moves where the agent has moved, of %s', async (language, first, second) => {
    const { run, tempDir, directory } = await codeScene()
    await run(language, first, kept)
    expect((await run(language, second, { ...kept, cwd: tempDir })).output).toBe(`${tempDir}\n`)
    expect(await run(language, second, { ...kept, cwd: join(directory, 'gone') })).toMatchObject({ status: 'error' })
    expect(
      (await run(language, `${second}\n${language === 'python' ? 'print(x)' : 'console.log(x)'}`, kept)).output,
    ).toBe(`${directory}\n1\n`)
  })

  it('is the one that goes on where a program forked', async () => {
    const { python } = await codeScene()
    const fork = 'import os\nx = "own"\nif os.fork() == 0: x = "of the fork"\nelse: os.wait()'
    expect(await python(fork, kept)).toMatchObject({ status: 'success', output: '' })
    for (let round = 0; round < 2; round++) expect((await python('print(x)', kept)).output).toBe('own\n')
  })

  it('stays tainted with what an earlier program got from outside', async () => {
    const sources = [{ type: 'web', name: 'example.com' }] as const
    const content = [{ type: 'text', text: 'page', origin: 'external', sources }] as const
    const { python } = await codeScene({ answer: () => ({ content, isError: false }) })
    await python('from hermes_tools import read_file\npage = read_file("a")', kept)
    expect(await python('print(page)', kept)).toMatchObject({ output: 'page\n', sources })
    expect(await python('print(1)')).toMatchObject({ sources: [] })
  })

  it('keeps the outputs of two programs apart', async () => {
    const { python } = await codeScene()
    const shout = 'import sys\nfor _ in range(2000): print("x" * 99)\nprint("e", file=sys.stderr)'
    expect((await python(shout, kept)).output).toMatch(/\[output truncated at 50KB\]$/)
    expect(await python('print("y", end="")', kept)).toMatchObject({ output: 'y', errors: '' })
  })

  it('keeps four at most, the one used longest ago goes first', async () => {
    const { python } = await codeScene()
    for (const sessionId of ['a', 'b', 'c', 'd', 'e']) await python('x = 1', { ...kept, sessionId })
    expect((await python('print(x)', { ...kept, sessionId: 'b' })).status).toBe('success')
    expect((await python('print(x)', { ...kept, sessionId: 'a' })).status).toBe('error')
  })
})
