import { access, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { commandLines, missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { codeFolderIn } from '../local/code-folder.js'
import { createLocalEnvironment } from '../local/local-environment.js'
import { testPermit } from '../testing/permit.js'
import { codeScene } from './__fixtures__/code-scene.js'

needs(missingPrograms('bwrap', 'python3'))('an isolated program', () => {
  /** A place that isolated programs may not write: not below a temporary folder, as this checkout may be. */
  async function outside() {
    const folder = await mkdtemp(join(userInfo().homedir, '.hermes-outside-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  it.each([
    [
      'python',
      'print(read_file("a")["tool"])\nopen("made", "w").write("x")\ntry: open("OUT", "w")\nexcept OSError as e: print(e.strerror)',
      'from hermes_tools import read_file\n',
    ],
    [
      'javascript',
      'import { writeFileSync } from "node:fs"\nconsole.log((await read_file("a")).tool)\nwriteFileSync("made", "x")\ntry { writeFileSync("OUT", "x") } catch (e) { console.log(e.message) }',
      'import { read_file } from "hermes_tools"\n',
    ],
  ] as const)('of %s calls tools without a network, and writes the workspace only', async (language, code, imports) => {
    const { run, directory } = await codeScene({ isolation: { network: false } })
    const folder = await outside()
    for (const keep of [false, true]) {
      const result = await run(language, imports + code.replace('OUT', join(folder, 'out')), { keep })
      expect(result).toMatchObject({ status: 'success', output: expect.stringMatching(/^read_file\n.*ead-only/) })
    }
    await access(join(directory, 'made'))
    await expect(access(join(folder, 'out'))).rejects.toThrow('ENOENT')
  })

  it('finds no credentials', async () => {
    const { python, directory } = await codeScene({ isolation: {} })
    await mkdir(join(directory, '.ssh'))
    await writeFile(join(directory, '.ssh', 'id_rsa'), 'PRIVATE')
    const { output } = await python(`import os\nprint(os.path.exists("${directory}/.ssh/id_rsa"))`)
    expect(output).toBe('False\n')
  })

  it('reaches the tools of no other session, nor does a command, also of one that begins later', async () => {
    const { python, tempDir, directory } = await codeScene({ isolation: {} })
    const plain = await codeScene({ tempDir })
    const environment = createLocalEnvironment({
      ...{ cwd: directory, home: directory, outputDir: join(directory, 'out'), env: { PATH: '/usr/bin:/bin' } },
      ...{ temp: [tempDir], isolation: {} },
    })
    onTestFinished(() => environment.close())
    const all = codeFolderIn(tempDir)
    const look = `echo on; until [ -e ${tempDir}/now ]; do sleep 0.05; done; ls ${all}/*/rpc.sock; true`
    const isOn = Promise.withResolvers<void>()
    const permit = testPermit({ type: 'spawn', command: look, cwd: directory, backend: 'local' })
    const command = environment.exec(permit, look, { onOutput: () => isOn.resolve() })
    await isOn.promise
    await plain.python('x = 1', { keep: true })
    const [theirs = '', ...others] = await readdir(all)
    expect(others).toEqual([])
    const socket = join(all, theirs, 'rpc.sock')
    await access(socket)
    const { output } = await python(`import os\nprint(os.path.exists("${socket}"))`)
    expect(output).toBe('False\n')
    await writeFile(join(tempDir, 'now'), '')
    expect((await command).output).toMatch(/^on\nls: cannot access /)
  })

  it('ends with all it started', async () => {
    const { python } = await codeScene({ isolation: {} })
    const stop = new AbortController()
    const result = await python(
      'import subprocess\nfrom hermes_tools import read_file\nsubprocess.Popen(["sleep", "7654"])\nprint("on", flush=True)\nread_file("now")\nwhile True: pass',
      { signal: stop.signal, progress: () => stop.abort() },
    )
    expect(result).toMatchObject({ status: 'interrupted', output: 'on\n' })
    expect(commandLines().filter((line) => line.includes('sleep 7654'))).toEqual([])
  })
})
