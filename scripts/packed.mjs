// node scripts/packed.mjs: packs every public package and uses the tarballs as a stranger would, under Node 22 and 24.
// Prints one line per check. Expects nothing but the workspace; builds first.
// Exit codes: 0 all good, 1 a check failed, 2 for an option, as it has none.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { startServer } from '../bench/model-server.mjs'
import { build } from './build.mjs'
import { tryImage } from './image.mjs'
import { readOptions } from './options.mjs'
import {
  cleanEnvironment,
  installTarballs,
  measureInstall,
  nodeFolder,
  packAll,
  publicPackages,
  run,
} from './packing.mjs'
import { problemsOfTarball } from './publishable.mjs'

readOptions(import.meta.filename)

const MAX_CLI_BYTES = 55_000_000
const MAX_CLI_PACKAGES = 25
const TYPES_UNDER = '22'
const root = resolve(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'hermes-packed-'))
const failures = []

try {
  if (await check('build', buildAll)) await checkAll()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
console.log(failures.length === 0 ? 'packed: all good' : `packed: ${failures.length} failed: ${failures.join('; ')}`)
process.exit(failures.length === 0 ? 0 : 1)

function buildAll() {
  if (!build(root)) throw new Error('its output is above')
  return true
}

async function checkAll() {
  const packages = publicPackages()
  const tarballs = await check('pack', () => packAll(packages, scratch))
  if (!tarballs) return
  for (const { name } of packages) await check(`the tarball of ${name}`, () => lint(tarballs.get(name)))

  const nodes = { 24: dirname(process.execPath), 22: nodeFolder('^22.22') }
  for (const [major, path] of Object.entries(nodes)) {
    await check(`every export imports under Node ${major}`, () => importEverything({ packages, tarballs, path, major }))
    await check(`README examples under Node ${major}`, () => quickStart({ tarballs, path, major }))
    await check(`the CLI under Node ${major}`, () => useCli({ tarballs, path, major }))
    await check(`the ACP server alone under Node ${major}`, () => useAcp({ tarballs, path, major }))
    await check(`the gateway alone under Node ${major}`, () => useGateway({ tarballs, path, major }))
  }
  await check('the image runs as two users, and a run outlives its container', () => useImage(tarballs, nodes[24]))
  await check('extensions and plugins work in the packed CLI, gateway and ACP server', () =>
    useExtensions(tarballs, nodes[24]),
  )
  await check('the CLI says which Node it needs under Node 20', () => refuseOldNode(tarballs, nodeFolder('^20')))
}

async function check(title, body) {
  const startedMs = Date.now()
  try {
    const result = await body()
    console.log(`ok   ${title} (${Date.now() - startedMs} ms)`)
    return result
  } catch (error) {
    console.log(`FAIL ${title}\n     ${error.message.replaceAll('\n', '\n     ')}`)
    failures.push(title)
    return null
  }
}

async function lint(tarball) {
  const problems = problemsOfTarball(tarball)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const buffer = readFileSync(tarball)
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength) },
  })
  if (messages.length > 0)
    throw new Error(messages.map((message) => formatMessage(message, pkg, { color: false })).join('\n'))
}

/** Imports each declared export in one process, and lets the compiler find its declarations, which are the same under any Node. */
function importEverything({ packages, tarballs, path, major }) {
  const directory = join(scratch, `all-${major}`)
  const names = packages.map(({ name }) => name)
  // Public suites take their test runner as an optional peer, which npm leaves to the person who runs them.
  const extra = Object.assign(
    { '@types/node': '^24' },
    ...packages.map(({ manifest }) => manifest.peerDependencies ?? {}),
  )
  installTarballs({ directory, names, tarballs, extra, path })
  const specifiers = packages.flatMap(({ name, manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter((subpath) => !subpath.endsWith('.json'))
      .map((subpath) => name + subpath.slice(1)),
  )
  if (specifiers.length === 0) throw new Error('no package declares an export')
  writeFileSync(join(directory, 'all.mjs'), specifiers.map((specifier) => `await import('${specifier}')\n`).join(''))
  run('node', ['all.mjs'], { cwd: directory, path })
  if (major !== TYPES_UNDER) return

  writeFileSync(
    join(directory, 'all.mts'),
    specifiers.map((specifier, at) => `import '${specifier}'\nexport type * as n${at} from '${specifier}'\n`).join(''),
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--noUncheckedSideEffectImports',
  ]
  run(process.execPath, [compiler, ...options, 'all.mts'], { cwd: directory })
}

/** Runs the examples of the READMEs where nothing but agent-core was installed. */
async function quickStart({ tarballs, path, major }) {
  const directory = join(scratch, `agent-core-${major}`)
  installTarballs({ directory, names: ['@hermes/agent-core'], tarballs, path })
  await runExample(readExample('packages/agent-core/README.md', '// quickstart'), { directory, path })
  const example = readExample('README.md', "from '@hermes/agent-core'")
  // It asks OpenAI itself; here the same program asks the scripted server.
  const local = example.replace("provider: 'openai',", '$& baseUrl: process.env.OPENAI_BASE_URL,')
  if (local === example) throw new Error("the example of README.md has no provider: 'openai' to give another address")
  await runExample(local, { directory, path })
  const databases = measureInstall(directory).packages.filter((name) => /sqlite|kysely|\/pg$|pglite/.test(name))
  if (databases.length > 0) throw new Error(`it installed a database: ${databases.join(', ')}`)
}

/** The first ```js block of a README that contains `mark`. */
function readExample(readme, mark) {
  const file = join(root, readme)
  const blocks = existsSync(file) ? [...readFileSync(file, 'utf8').matchAll(/```js\n([\s\S]*?)```/g)] : []
  const example = blocks.map((match) => match[1]).find((code) => code.includes(mark))
  if (!example) throw new Error(`${readme} has no \`\`\`js block with ${mark}`)
  return example
}

/** Runs an example against a scripted server: it has to call its tool and to print the answer. */
async function runExample(example, { directory, path }) {
  writeFileSync(join(directory, 'example.mjs'), example)
  const server = await startServer()
  try {
    await server.script({ turns: 1, text: 'Said by the scripted server.' })
    const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'x' }
    const { code, stdout, stderr } = await start('node', ['example.mjs'], { cwd: directory, path, env })
    if (code !== 0) throw new Error(`exit ${code}\n${stderr}\n${example}`)
    if (!stdout.includes('Said by the scripted server.'))
      throw new Error(`the answer is missing in its output: ${stdout}${stderr}\n${example}`)
    const requests = await server.requests()
    if (!requests.at(-1).body.includes('"role":"tool"')) throw new Error(`no tool was called by\n${example}`)
  } finally {
    server.close()
  }
}

function useCli({ tarballs, path, major }) {
  const directory = installCli(tarballs, path, major)
  const { packages, bytes } = measureInstall(directory)
  console.log(`     installed: ${(bytes / 1e6).toFixed(1)} MB, ${packages.length} packages`)
  if (bytes > MAX_CLI_BYTES) throw new Error(`more than ${MAX_CLI_BYTES / 1e6} MB`)
  if (packages.length > MAX_CLI_PACKAGES)
    throw new Error(`more than ${MAX_CLI_PACKAGES} packages:\n${packages.join('\n')}`)
  const home = { HERMES_HOME: join(scratch, `home-${major}`) }
  const version = run('npx', ['--no', '@hermes/cli', '--version'], { cwd: directory, path, env: home })
  if (!/^\S*\d+\.\d+\.\d+/.test(version)) throw new Error(`--version printed ${JSON.stringify(version)}`)
  const demo = run('npx', ['--no', '@hermes/cli', 'demo'], { cwd: directory, path, env: home })
  if (!demo.includes('all tests pass\nThe demo project is fixed.')) throw new Error(`no passing test in: ${demo}`)
}

/** Greets the server and leaves: one line of the protocol comes back, nothing else. */
function useAcp({ tarballs, path, major }) {
  const directory = installApp('@hermes/acp', { tarballs, path, label: major })
  const greeting = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } })
  const script = `printf '%s\\n' '${greeting}' | npx --no @hermes/acp`
  const output = run('sh', ['-c', script], { cwd: directory, path, env: { HERMES_HOME: join(scratch, 'acp-home') } })
  const { result } = JSON.parse(output)
  if (result?.agentInfo?.name !== 'hermes') throw new Error(`it answered ${output}`)
}

/** Starts the server, asks it something as any program would, and stops it. */
function useGateway({ tarballs, path, major }) {
  const directory = installApp('@hermes/gateway', { tarballs, path, label: major })
  const flags = '--port 0 --allow-loopback-without-key --base-url http://127.0.0.1:9/v1 -m none'
  const script = `node node_modules/.bin/hermes-gateway ${flags} > out & until grep -q http: out; do kill -0 $!; done
curl -sf "$(grep -o 'http:[^ ]*' out)/models" && kill $! && wait $!`
  const output = run('sh', ['-ec', script], {
    cwd: directory,
    path,
    env: { HERMES_HOME: join(scratch, 'gateway-home') },
  })
  if (JSON.parse(output).data[0]?.id !== 'hermes-agent') throw new Error(`it answered ${output}`)
}

/** The end-to-end tests of extensions and plugins that are written against the types of `@hermes/contracts/extension` alone, with the installed CLI. */
function useExtensions(tarballs, path) {
  const directory = installCli(tarballs, path, 'extension')
  const env = { HERMES_TEST_CLI: join(directory, 'node_modules/@hermes/cli/dist/bin.js') }
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const tests = ['tests/entry-points/extension.test.ts', 'tests/cli/plugins.test.ts']
  run(process.execPath, [vitest, 'run', ...tests], { cwd: root, env })
}

async function useImage(tarballs, path) {
  const missing = await tryImage({ directory: installCli(tarballs, path, 'image'), node: join(path, 'node') })
  if (missing === null) return
  if (process.env.HERMES_TEST_REQUIRE) throw new Error(missing)
  console.log(`     skipped: ${missing}`)
}

function installCli(tarballs, path, label) {
  return installApp('@hermes/cli', { tarballs, path, label })
}

function installApp(name, { tarballs, path, label }) {
  const app = tarballs.get(name)
  if (!app) throw new Error(`${name} does not exist`)
  const directory = join(scratch, `${name.split('/')[1]}-${label}`)
  // Only its own tarball: whatever else of ours it needs must be bundled into it.
  installTarballs({ directory, names: [name], tarballs: new Map([[name, app]]), path })
  return directory
}

async function refuseOldNode(tarballs, path) {
  const directory = installCli(tarballs, dirname(process.execPath), 'old')
  const bin = join(directory, 'node_modules/.bin/hermes')
  const { code, stdout, stderr } = await start(join(path, 'node'), [bin, '--version'], { cwd: directory, path })
  if (code === 0) throw new Error('it ran')
  const lines = stderr.trimEnd().split('\n')
  if (stdout !== '' || lines.length !== 1 || !/Node.*22\.22/.test(lines[0]))
    throw new Error(`not one clear line: ${stdout}${stderr}`)
}

/** Unlike `run`, leaves this process free to serve, and takes any exit code. */
async function start(command, args, { cwd, path, env }) {
  mkdirSync(cwd, { recursive: true })
  const child = spawn(command, args, {
    cwd,
    env: { ...cleanEnvironment(path), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  const closed = new Promise((settle) => child.on('close', settle))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { stdout, stderr, code }
}
