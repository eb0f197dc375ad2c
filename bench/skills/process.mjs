// node process.mjs '{"rounds":7,"count":500}': measures in this process what it takes to know that many skills, and prints samples as JSON.
// Processor time: what else the machine does must not decide.
const { openSkills } = await import('../../packages/skills/src/index.ts')
const { silentLogger, systemClock } = await import('../../packages/contracts/src/index.ts')
const { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } = await import('node:fs')
const { createHash } = await import('node:crypto')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
const { writeSkills } = await import('./write-skills.mjs')

const VIEWS = 50
const { rounds, count } = JSON.parse(process.argv[2])
const root = mkdtempSync(join(tmpdir(), 'hermes-bench-'))
const directory = join(root, 'skills')
writeSkills(directory, count)
writeSkills(join(root, 'source'), 1)

const home = (round) => ({
  directory,
  pendingDirectory: join(root, 'pending'),
  bundlesDirectory: join(root, 'bundles'),
  cacheFile: join(root, `cache-${round}/index.json`),
  userHome: join(root, 'user'),
  cwd: root,
  settings: {
    external_dirs: [],
    disabled: [],
    write_approval: false,
    project_discovery: true,
    look_back: true,
    trusted_sources: [],
    packs: {},
  },
  curator: { enabled: true, interval_hours: 168, stale_after_days: 14, archive_after_days: 30 },
  learnt: { often: async () => [], list: async () => [], undo: async () => null },
  ask: async () => '{}',
  isSafe: false,
  os: 'linux',
  ofPlugins: async () => [],
  trust: { isTrusted: async () => true },
  hasVariable: () => false,
  redact: (text) => text,
  setDisabled: async () => undefined,
  run: async () => ({ exitCode: 1, stdout: '', stderr: '' }),
  fetch: async () => {
    throw new Error('nothing is fetched here')
  },
  clock: systemClock,
  logger: silentLogger,
})

async function cost(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** What the extension registers. */
function setUp(skills) {
  const [tools, commands] = [new Map(), new Map()]
  const add = (map) => (item) => {
    map.set(item.name, item)
    return { dispose: () => map.delete(item.name) }
  }
  const close = skills.extension.setup({
    tools: { add: add(tools) },
    commands: { add: add(commands) },
    hooks: { on: () => undefined },
    doctor: { check: () => undefined },
  })
  return { tools, commands, close }
}

async function views() {
  const { tools, commands, close } = setUp(openSkills(home('views')))
  const context = { cwd: root, signal: new AbortController().signal, notice: () => undefined }
  const typed = (words) => commands.get('skills').run({ words, force: true }, context)
  const shown = JSON.stringify(await typed(['install', join(root, 'source/skill-0')]))
  await typed(['accept', /accept ([0-9a-f]+)/.exec(shown)[1]])
  const kept = new Map()
  const scratch = (key, make) => kept.get(key) ?? kept.set(key, make()).get(key)
  const call = { state: { scratch }, environment: { root, cwd: () => root } }
  const view = async () => {
    const result = await tools.get('skill_view').execute({ name: 'bench-0' }, call)
    if (!JSON.stringify(result).includes('Step 1')) throw new Error('the skill was not shown')
  }
  await view()
  const samples = []
  for (let round = 0; round < rounds; round++)
    samples.push(
      (await cost(async () => {
        for (let n = 0; n < VIEWS; n++) await view()
      })) / VIEWS,
    )
  await close()
  return samples
}

/** The same files, and nothing but what has to be done with each. */
const bare = {
  cold: () => readdirSync(directory).map((name) => readFileSync(join(directory, name, 'SKILL.md'))),
  warm: () => readdirSync(directory).map((name) => statSync(join(directory, name, 'SKILL.md'))),
  view: () =>
    createHash('sha256')
      .update(readFileSync(join(root, 'source/skill-0/SKILL.md')))
      .digest('hex'),
}

// Folders that changed just now are looked into again.
await new Promise((resolve) => setTimeout(resolve, 2_500))
const samples = { cold: [], warm: [], view: [], floor: { cold: [], warm: [], view: [] } }
mkdirSync(join(root, 'user'))
for (let round = -1; round < rounds; round++) {
  const skills = openSkills(home(round))
  const look = () => skills.section({ cwd: root, windowTokens: 200_000 })
  const [cold, warm] = [await cost(look), await cost(look)]
  const floors = { cold: await cost(bare.cold), warm: await cost(bare.warm), view: await cost(bare.view) }
  // The first round loads what reads YAML.
  if (round < 0) continue
  samples.cold.push(cold)
  samples.warm.push(warm)
  for (const [name, ms] of Object.entries(floors)) samples.floor[name].push(ms)
}
samples.view = await views()
rmSync(root, { recursive: true, force: true })
process.stdout.write(JSON.stringify(samples))
