import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { CLI, runCli, runCliProcess } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

/** Notes every file that a process loads, and what it has of Node itself as it connects for the first time. */
const NOTE_LOADS = `
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { Socket } from 'node:net'
const { connect } = Socket.prototype
Socket.prototype.connect = function (...to) {
  appendFileSync(process.env.LOADED, process.moduleLoadList.join('\\n') + '\\n')
  Socket.prototype.connect = connect
  return connect.apply(this, to)
}
registerHooks({
  load: (url, context, next) => {
    appendFileSync(process.env.LOADED, url + '\\n')
    return next(url, context)
  },
})`

/** What Node brings and no start needs. */
const OF_NODE =
  /^NativeModule (?:internal\/deps\/undici\/undici|assert|child_process|dns|https|perf_hooks|tls|worker_threads|zlib)$/

it('loads no zod, nothing of playwright, and no YAML but with its script, on the way to a first request and to check or change the configuration', async () => {
  await mkdir(scene.home, { recursive: true })
  await writeFile(join(scene.home, 'config.yaml'), 'agent: { max_turns: 9 }\n')
  scene.server.setHandler(() => ({ text: 'Hello.' }))
  const loaded = join(scene.folder, 'loaded')
  const preload = `--import=data:text/javascript,${encodeURIComponent(NOTE_LOADS)}`
  const env = { NODE_OPTIONS: preload, LOADED: loaded }
  for (const args of [
    ['chat', '-q', 'Hi.', '--base-url', scene.server.baseUrl, '-m', 'test'],
    ['config', 'set', 'agent.max_turns', '7'],
    ['config', 'check'],
  ]) {
    await writeFile(loaded, '')
    expect(await runCli(args, { ...scene, env })).toMatchObject({ exitCode: 0 })
    const lines = (await readFile(loaded, 'utf8')).split('\n')
    const files = lines.filter((url) => url.startsWith('file:'))
    expect(files.length).toBeGreaterThan(3)
    // It comes with the first page.
    expect(files.filter((url) => url.includes('playwright'))).toEqual([])
    // What a start needs is a script, which is no module.
    const scripts = (await readdir(dirname(CLI))).filter((name) => name.endsWith('.script.js'))
    expect(scripts.length).toBeGreaterThan(0)
    const sources = [...scripts.map((name) => join(dirname(CLI), name)), ...files.map((url) => fileURLToPath(url))]
    for (const file of sources) expect(await readFile(file, 'utf8'), file).not.toMatch(/_zod\.def|\bZodType\b/)
    for (const url of files) expect(await readFile(fileURLToPath(url), 'utf8'), url).not.toContain('yaml.alias')
    // Its client of HTTP loads as soon as somebody so much as names `Response`, and takes 20 ms.
    expect(lines.includes('NativeModule http')).toBe(args[0] === 'chat')
    expect(lines.filter((line) => OF_NODE.test(line))).toEqual([])
  }
})

it('keeps what V8 compiled of a start in the home, and runs nothing of it that is damaged or that others could have written', async () => {
  const env = { NODE_COMPILE_CACHE: '' }
  await mkdir(scene.home, { recursive: true })
  const ask = async () => {
    const result = await runCliProcess(['config', 'get', 'agent.max_turns'], { ...scene, env })
    expect(result).toMatchObject({ exitCode: 0, stderr: '' })
    return keptIn(join(scene.home, 'cache/code'))
  }
  const [file, bytes] = await ask()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const isUntouched = async () => {
    await utimes(file, 1, 1)
    await ask()
    return (await stat(file)).mtimeMs === 1_000
  }
  // Nothing is wrong with it, so it stays.
  expect(await isUntouched()).toBe(true)
  for (const damaged of [
    bytes.subarray(0, 100),
    Buffer.concat([bytes.subarray(0, 5_000), Buffer.alloc(bytes.length - 5_000)]),
  ]) {
    await writeFile(file, damaged)
    expect(await isUntouched()).toBe(false)
    expect((await keptIn(join(scene.home, 'cache/code')))[1].length).toBeGreaterThan(200_000)
  }
  await chmod(file, 0o666)
  expect(await isUntouched()).toBe(false)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await chmod(join(scene.home, 'cache/code'), 0o777)
  await rm(file)
  await expect(ask()).rejects.toThrow('length')
})

it('keeps nothing where there is no home yet', async () => {
  const env = { NODE_COMPILE_CACHE: '', HERMES_HOME: join(scene.folder, 'none') }
  expect(await runCliProcess(['config', 'get', 'agent.max_turns'], { ...scene, env })).toMatchObject({ exitCode: 0 })
  await expect(stat(join(scene.folder, 'none/cache/code'))).rejects.toThrow('ENOENT')
})

async function keptIn(folder: string): Promise<readonly [string, Buffer]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) =>
    /hermes-command-start-\w+\.script\.js\.bin$/.test(name),
  )
  expect(names).toHaveLength(1)
  const file = join(folder, names[0]!)
  return [file, await readFile(file)]
}

it('reads YAML in the head of a skill that is written, and in a file that the model writes', async () => {
  const file = join(scene.home, 'skills/tides/SKILL.md')
  expect(await runCli(['skills', 'create', 'tides', 'Tells', 'the', 'tides'], scene)).toMatchObject({
    exitCode: 0,
    stdout: `Made ${file}. Write into it what to do: hermes skills edit tides\n`,
  })
  await mkdir(join(scene.home, 'skills/moon'), { recursive: true })
  await writeFile(
    join(scene.home, 'skills/moon/SKILL.md'),
    '---\nname: moon\ndescription: >-\n  Tells: the\n  moon.\n---\nLook up.',
  )
  expect((await runCli(['skills', 'list', 'moon'], scene)).stdout).toContain('Tells: the moon.')
  scene.server.enqueue(
    { toolCalls: [{ name: 'write_file', args: { path: 'a.yaml', content: 'a: [1' } }] },
    { text: 'Done.' },
  )
  await runCli(['chat', '-q', 'Write it.', '--yolo', '--base-url', scene.server.baseUrl, '-m', 'test'], scene)
  expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toMatch(/Flow sequence [^"]*line 1/)
})
