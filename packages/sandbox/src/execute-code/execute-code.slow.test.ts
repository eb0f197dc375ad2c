import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { codeScene, isAlive, pythonMissing } from './__fixtures__/code-scene.js'

const failed = (text: string) => ({ content: [{ type: 'text', text }] as const, isError: true })

needs(pythonMissing)('a program', () => {
  it.each([
    [
      'python',
      'from hermes_tools import read_file, search\nprint(read_file("a.txt", offset=3)["args"])\nprint(search("x")["tool"])',
    ],
    [
      'javascript',
      'import { read_file, search } from "hermes_tools"\nconsole.log((await read_file({ path: "a.txt", offset: 3 })).args)\nconsole.log((await search("x")).tool)',
    ],
  ] as const)('of %s calls tools and gives what it prints', async (language, code) => {
    const { run, calls, progress, leftovers } = await codeScene()
    const result = await run(language, code)
    expect(result).toMatchObject({ status: 'success', errors: '', toolCallsMade: 2, fullOutputPath: null, note: null })
    expect(result.output).toMatch(/path.*a\.txt.*offset.*3.*\nsearch\n$/)
    expect(calls).toEqual([
      ['read_file', { path: 'a.txt', offset: 3 }],
      ['search', { pattern: 'x' }],
    ])
    expect(progress).toEqual(['1/1 calls', '2/2 calls'])
    expect(await leftovers()).toEqual([])
  })

  it('gets functions for what it may call in this session and for nothing else', async () => {
    const { python } = await codeScene()
    const { output } = await python('import hermes_tools\nprint([n for n in dir(hermes_tools) if "_" != n[0]])')
    expect(output).toContain("'read_file', 'search', 'search_files',")
    expect(output).not.toMatch(/vision_analyze|execute_code|web_search/)
  })

  it('gets a function for each tool, whatever its parameters are called', async () => {
    const { python } = await codeScene()
    const { output } = await python(
      'from hermes_tools import read_file\nprint(read_file("a", more="b", _more="c", offset=1)["args"])',
    )
    expect(output).toBe("{'path': 'a', 'offset': 1, 'more': 'b', '_more': 'c'}\n")
  })

  it('sees lines of a file without their numbers', async () => {
    const data = { content: '9|nine\n10|te|n\n11|' }
    const { python } = await codeScene({ answer: () => ({ content: [], data, isError: false }) })
    const { output } = await python('from hermes_tools import read_file\nprint(repr(read_file("a")["content"]))')
    expect(output).toBe("'nine\\nte|n\\n'\n")
  })

  it.each([[[{ type: 'web', name: 'example.com' }]], [undefined]] as const)(
    'says where text from outside came from that a tool brought (%j)',
    async (sources) => {
      const content = [{ type: 'text', text: 'page', origin: 'external', ...(sources ? { sources } : {}) }] as const
      const { python } = await codeScene({ answer: () => ({ content, isError: false }) })
      const result = await python('from hermes_tools import read_file\nprint(read_file("a"))')
      expect(result).toMatchObject({ output: 'page\n', sources: sources ?? null })
    },
  )

  it('sees no secret among its variables', async () => {
    const { python, javascript } = await codeScene()
    const code = 'import os, json; print(json.dumps(dict(os.environ)))'
    const { output } = await python(code)
    expect(Object.keys(JSON.parse(output))).toEqual(expect.arrayContaining(['PATH', 'HOME', 'HERMES_RPC_SOCKET']))
    expect(output + (await javascript('console.log(process.env)')).output).not.toMatch(/secret|FOO/)
  })

  it('talks over a socket that only its user can open', async () => {
    const { python } = await codeScene()
    const { output } = await python(
      'import os, stat\ns = os.environ["HERMES_RPC_SOCKET"]\nprint(oct(os.stat(s).st_mode & 0o777), oct(os.stat(os.path.dirname(s)).st_mode & 0o777))',
    )
    expect(output).toBe('0o600 0o700\n')
  })

  it('keeps apart the calls that threads and promises make at once', async () => {
    let running = 0
    let most = 0
    const { python, javascript } = await codeScene({
      answer: async (_, args) => {
        most = Math.max(most, ++running)
        while (most < 4) await setImmediate()
        running--
        return { content: [], data: args, isError: false }
      },
    })
    const threads = await python(
      'from concurrent.futures import ThreadPoolExecutor\nfrom hermes_tools import read_file\nwith ThreadPoolExecutor(8) as pool:\n  print([r["path"] for r in pool.map(lambda n: read_file(str(n)), range(20))])',
    )
    expect(threads.output).toBe(`[${Array.from({ length: 20 }, (_, at) => `'${at}'`).join(', ')}]\n`)
    most = 0
    const promises = await javascript(
      'import { read_file } from "hermes_tools"\nconst all = await Promise.all([...Array(20).keys()].map((n) => read_file(String(n))))\nconsole.log(all.map((r) => r.path).join())',
    )
    expect(promises.output).toBe(`${[...Array(20).keys()].join()}\n`)
  })
})

needs(pythonMissing)('the table of errors', () => {
  it.each([
    ['python', 'print("never")\nif :', /line 2\n.*\n.*\nSyntaxError/],
    ['javascript', 'console.log("never")\nconst = 1', /SyntaxError/],
    ['python', 'print("before")\n1/0', /Traceback[\s\S]*line 2[\s\S]*ZeroDivisionError/],
    ['javascript', 'console.log("before")\nnull.x', /TypeError: Cannot read/],
    ['python', 'import sys; sys.exit(3)', /^exit 3$/],
    ['javascript', 'process.abort()', /ended by SIGABRT$/],
    ['python', 'import os; print("before", flush=True); os.kill(os.getpid(), 9)', /ended by SIGKILL$/],
  ] as const)('gives what a failing program of %s wrote: %s', async (language, code, errors) => {
    const { run, leftovers } = await codeScene()
    const result = await run(language, code)
    expect(result).toMatchObject({ status: 'error', errors: expect.stringMatching(errors) })
    expect(result.output).toBe(code.includes('before') ? 'before\n' : '')
    expect(await leftovers()).toEqual([])
  })

  it('hands a failed call to the program, which decides', async () => {
    const { python } = await codeScene({ answer: () => failed('There is no file a.') })
    const result = await python('from hermes_tools import read_file\nprint(read_file("a").get("error"))')
    expect(result).toMatchObject({ status: 'success', output: 'There is no file a.\n' })
  })

  it('names what there is when an unknown or excluded tool is called', async () => {
    const { python, calls } = await codeScene()
    const { output, toolCallsMade } = await python(
      'from hermes_tools import _call\nfor n in ["foo", "vision_analyze", "execute_code"]: print(_call(n, {})["error"])',
    )
    expect(output.split('\n')).toEqual([
      'Unknown tool: foo. Available: read_file, search, search_files, terminal, write_file',
      "Tool 'vision_analyze' is not available in execute_code. Use it as a normal tool call instead.",
      "Tool 'execute_code' is not available in execute_code. Use it as a normal tool call instead.",
      '',
    ])
    expect([calls, toolCallsMade]).toEqual([[], 0])
  })

  it('runs commands in the foreground only, without a terminal', async () => {
    const { python, calls } = await codeScene()
    const { output } = await python(
      'from hermes_tools import terminal\nprint(terminal("x", background=True)["error"])\nterminal("y", timeout=5, pty=True, check_interval=9)',
    )
    expect(output).toMatch(/^Programs cannot leave processes in the background/)
    expect(calls).toEqual([['terminal', { command: 'y', timeout: 5 }]])
  })

  it('ends a program that does not end, after what it wrote, with all it started', async () => {
    const { python, leftovers } = await codeScene({ timeoutMs: 1_000 })
    const result = await python(
      'import subprocess, time\np = subprocess.Popen(["sleep", "600"])\nprint(p.pid)\nwhile True: time.sleep(1)',
    )
    expect(result).toMatchObject({ status: 'timeout', errors: expect.stringContaining('Stopped after 1 s') })
    expect(isAlive(Number(result.output))).toBe(false)
    expect(await leftovers()).toEqual([])
  })

  it('kills a program that ignores SIGTERM', async () => {
    const { python } = await codeScene()
    const stop = new AbortController()
    const result = await python(
      'import os, signal, time\nfrom hermes_tools import read_file\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid())\nread_file("now")\nwhile True: time.sleep(1)',
      { signal: stop.signal, progress: () => stop.abort() },
    )
    expect(result.status).toBe('interrupted')
    expect(isAlive(Number(result.output))).toBe(false)
  })

  it('ends a slow call with the program', async () => {
    const seen: boolean[] = []
    const { python } = await codeScene({
      timeoutMs: 1_000,
      answer: (_, __, signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            seen.push(true)
            reject(signal.reason)
          }),
        ),
    })
    expect(await python('from hermes_tools import terminal\nterminal("make")')).toMatchObject({ status: 'timeout' })
    expect(seen).toEqual([true])
  })

  it('says that it was interrupted, with what there is', async () => {
    const stop = new AbortController()
    const { javascript } = await codeScene()
    const code =
      'import { read_file } from "hermes_tools"\nconsole.log("so far")\nawait read_file("x")\nawait new Promise((resolve) => setTimeout(resolve, 1e6))'
    const result = await javascript(code, { signal: stop.signal, progress: () => stop.abort() })
    expect(result).toMatchObject({ status: 'interrupted', output: 'so far\n', toolCallsMade: 1 })
    await expect(javascript('1', { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })

  it('gives large results whole to the program', async () => {
    const text = 'é'.repeat(2_000_000)
    const { python } = await codeScene({ answer: () => ({ content: [{ type: 'text', text }], isError: false }) })
    const { output } = await python('from hermes_tools import read_file\nprint(len(read_file("page")))')
    expect(output).toBe('2000000\n')
  })

  it('stops answering after the limit of calls', async () => {
    const { python, calls } = await codeScene({ maxCalls: 3 })
    const result = await python(
      'from hermes_tools import read_file\nfor n in range(5): r = read_file(str(n))\nprint(r["error"])',
    )
    expect(result).toMatchObject({ toolCallsMade: 3, output: expect.stringContaining('limit of 3 tool calls') })
    expect(calls).toHaveLength(3)
  })

  it('leaves nothing running where its outputs cannot be kept', async () => {
    const { python, directory, leftovers } = await codeScene()
    await writeFile(join(directory, 'outputs'), 'a file in the way')
    const code = 'import os; open("started", "w")'
    await expect(python(code)).rejects.toThrow('EEXIST')
    await expect(python(code, { keep: true })).rejects.toThrow('EEXIST')
    expect(await leftovers()).toEqual([])
    await expect(readFile(join(directory, 'started'))).rejects.toThrow('ENOENT')
  })

  it('does without Python where there is none', async () => {
    const { python } = await codeScene({ env: { PATH: '/nowhere' } })
    await expect(python('print(1)')).rejects.toMatchObject({ code: 'code.no_python' })
  })
})

needs(pythonMissing)('bad behaviour', () => {
  it('keeps 50 KB of a flood, and says where the rest is', async () => {
    const { python } = await codeScene()
    const result = await python('import sys\nfor _ in range(60): sys.stdout.write("x" * 1_000_000)\nprint("the end")')
    expect(result.status).toBe('success')
    expect(result.output.length).toBeLessThan(51_000)
    expect(result.output).toMatch(/the end\n\n\[output truncated at 50KB\]$/)
    expect((await readFile(result.fullOutputPath!)).length).toBeGreaterThan(50_000_000)
    const noisy = await python('import sys\nsys.stderr.write("e" * 100_000)\nsys.exit(1)')
    expect(noisy.errors.length).toBeLessThan(10_200)
  })

  it('survives bytes that are no text, on both sides', async () => {
    const { python } = await codeScene()
    const result = await python(
      'import sys\nfrom hermes_tools import read_file\nsys.stdout.buffer.write(b"\\xff\\xfe ok\\n")\nprint(read_file("\\ud800")["tool"], "\\ud800")',
    )
    expect(result).toMatchObject({ status: 'success', output: '\ufffd\ufffd ok\nread_file \\ud800\n' })
  })

  it('ends forked children with the program, and serves them while it runs', async () => {
    const { python, calls } = await codeScene()
    const result = await python(
      [
        'import os, sys, time',
        'from hermes_tools import read_file',
        'read_file("parent")',
        'r, w = os.pipe()',
        'if os.fork() == 0:',
        '  read_file("child"); os.write(w, b"done"); time.sleep(600); os._exit(0)',
        'os.read(r, 4)',
        'pids = []',
        'for _ in range(20):',
        '  p = os.fork()',
        '  if p == 0: time.sleep(600); os._exit(0)',
        '  pids.append(p)',
        'print(*pids)',
      ].join('\n'),
    )
    expect(result.status).toBe('success')
    expect(calls.map(([, { path }]) => path)).toEqual(['parent', 'child'])
    expect(
      result.output
        .trim()
        .split(' ')
        .filter((pid) => isAlive(Number(pid))),
    ).toEqual([])
  })

  it('ends a daemon that left its session and keeps its output open', async () => {
    const { python } = await codeScene()
    const result = await python(
      'import subprocess\np = subprocess.Popen(["sleep", "600"], start_new_session=True)\nprint(p.pid)',
    )
    expect(result.status).toBe('success')
    expect(isAlive(Number(result.output))).toBe(false)
  })

  it('answers malformed, oversized and mistyped frames with errors and goes on', async () => {
    const { python, calls } = await codeScene()
    const { output, status } = await python(
      [
        'import json, os, socket',
        'def open_socket():',
        '  s = socket.socket(socket.AF_UNIX); s.connect(os.environ["HERMES_RPC_SOCKET"]); return s, s.makefile("rb")',
        's, f = open_socket()',
        'for line in [b"\\xff{\\n", b"[]\\n", b"null\\n", b"{}\\n", b\'{"tool": 5}\\n\', b\'{"tool": "read_file", "args": []}\\n\']:',
        '  s.sendall(line); print(json.loads(f.readline())["result"]["error"])',
        's.sendall(b\'{"id": [1], "tool": "read_file", "args": {"path": "a"}}\\n\')',
        'print(json.loads(f.readline()))',
        'big, g = open_socket()',
        'try: big.sendall(b"x" * 40_000_000)',
        'except OSError: pass',
        'try: print(g.readline()[:60], g.read())',
        'except OSError: print("closed")',
        's.sendall(b\'{"tool": "read_file", "args": {"path": "unheard"}}\\n\')',
        's.close()',
        'from hermes_tools import read_file',
        'print(read_file("b")["args"])',
      ].join('\n'),
    )
    expect(status).toBe('success')
    const lines = output.split('\n')
    expect(lines.slice(0, 6).every((line) => /^(A call|The arguments)/.test(line))).toBe(true)
    expect(lines[6]).toMatch(/^\{'id': \[1\], 'result'/)
    expect(lines[7]).toMatch(/A call is at most|closed/)
    expect(lines[8]).toBe("{'path': 'b'}")
    expect(calls.map(([, { path }]) => path)).toEqual(['a', 'unheard', 'b'])
  })

  it('answers a call that is nested too deep to be repeated with an error and goes on', async () => {
    const { python } = await codeScene()
    const { output, status } = await python(
      [
        'import json, os, socket',
        's = socket.socket(socket.AF_UNIX); s.connect(os.environ["HERMES_RPC_SOCKET"])',
        'deep = b"[" * 1_000_000 + b"]" * 1_000_000',
        's.sendall(b\'{"tool": "read_file", "id": \' + deep + b"}\\n")',
        'print(json.loads(s.makefile("rb").readline())["result"]["error"])',
        'from hermes_tools import read_file',
        'print(read_file("b")["args"])',
      ].join('\n'),
    )
    expect({ output, status }).toEqual({
      status: 'success',
      output: "The answer cannot be written as JSON: it is nested too deep.\n{'path': 'b'}\n",
    })
  })

  it('is not held up by a program that asks and never listens', async () => {
    const text = 'x'.repeat(1_000_000)
    const { python } = await codeScene({ answer: () => ({ content: [{ type: 'text', text }], isError: false }) })
    const result = await python(
      'import os, socket\ns = socket.socket(socket.AF_UNIX); s.connect(os.environ["HERMES_RPC_SOCKET"])\nfor _ in range(20): s.sendall(b\'{"tool": "read_file"}\\n\')\nprint("gone")',
    )
    expect(result).toMatchObject({ status: 'success', output: 'gone\n' })
  })

  it('raises in the program when the agent is gone', async () => {
    const { python } = await codeScene()
    const result = await python(
      'import os\nimport hermes_tools\nos.environ["HERMES_RPC_SOCKET"] = "/nowhere"\nhermes_tools.read_file("a")',
    )
    expect(result).toMatchObject({ status: 'error', errors: expect.stringContaining('Agent process disconnected') })
  })

  it('holds a program to its memory', async () => {
    const { python, javascript } = await codeScene({ maxMemoryBytes: 128 * 2 ** 20 })
    expect(await python('x = bytearray(10 ** 9)')).toMatchObject({
      status: 'error',
      errors: expect.stringContaining('MemoryError'),
    })
    const greedy = await javascript('const all = []; for (;;) all.push(new Array(1e5).fill({}))')
    expect(greedy).toMatchObject({ status: 'error', errors: expect.stringMatching(/heap out of memory/) })
  })

  it('runs where the agent works and leaves nothing behind', async () => {
    const { python, directory, leftovers } = await codeScene()
    expect((await python('import os; print(os.getcwd()); open("made", "w").write("x")')).output).toBe(`${directory}\n`)
    expect(await readFile(join(directory, 'made'), 'utf8')).toBe('x')
    expect(await leftovers()).toEqual([])
  })
})
