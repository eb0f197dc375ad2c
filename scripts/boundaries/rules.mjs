// The architecture as data: who may import whom, and who may touch the outside world.

/** Row of each package, by folder name. A package imports lower rows only. */
const ROWS = {
  contracts: 0,
  registry: 0,
  safety: 1,
  transports: 2,
  'credential-pool': 2,
  compression: 2,
  memory: 2,
  storage: 2,
  sandbox: 2,
  checkpoints: 2,
  skills: 2,
  mcp: 2,
  plugins: 2,
  scheduler: 2,
  browser: 2,
  config: 2,
  models: 3,
  tools: 3,
  'agent-core': 4,
  runtime: 5,
  commands: 5,
  cli: 6,
  gateway: 6,
  acp: 6,
}

/** Imports allowed although the rows say no. `typesOnly` and `dynamicOnly` narrow them. */
const EXCEPTIONS = [
  { from: 'registry', to: 'contracts', typesOnly: true },
  { from: 'cli', to: 'gateway', dynamicOnly: true },
  { from: 'cli', to: 'acp', dynamicOnly: true },
]

/** Packages that may import less than their row allows. */
const ONLY = { 'agent-core': ['contracts', 'registry', 'safety', 'models'] }

/** Test-only packages: any test may import them, no other file may. */
const TEST_ONLY = ['testkit']

/** Native, optional or slow to load: a root entry reaches them by `await import()` only. */
const HEAVY = [
  'better-sqlite3',
  'kysely',
  'node-pty',
  'openai',
  'pg',
  'playwright',
  'playwright-core',
  '@anthropic-ai/*',
  '@aws-sdk/*',
  '@electric-sql/*',
  '@modelcontextprotocol/*',
  '@pydantic/genai-prices',
]

/** What starts processes or opens connections. */
const SINK_MODULES = [
  'node:child_process',
  'node:cluster',
  'node:dgram',
  'node:http',
  'node:http2',
  'node:https',
  'node:net',
  'node:tls',
]

/** Where a sink or a global may be used, why, and who answers for it. An entry nobody uses is reported. */
const ALLOWED = [
  {
    files: ['packages/sandbox/src/**'],
    uses: ['node:child_process', 'node:net'],
    owner: 'sandbox',
    reason: 'commands are started here, each against a permit',
  },
  {
    files: ['packages/safety/src/url/*-fetch.ts'],
    uses: ['fetch', 'node:http', 'node:https'],
    owner: 'safety',
    reason: 'the guarded ways out',
  },
  {
    files: ['packages/transports/src/wires/*-client.ts', 'packages/transports/src/wires/*/*-client.ts'],
    uses: ['fetch'],
    owner: 'transports',
    reason: 'default of an SDK client embedded without a runtime; it is pinned to its base URL',
  },
  {
    files: ['packages/transports/src/recording/*.ts'],
    uses: ['node:http', 'fetch'],
    owner: 'transports',
    reason: 'serves a recording on loopback, and records what the given or global fetch brings',
  },
  {
    files: ['packages/credential-pool/src/oauth/loopback.ts'],
    uses: ['node:http'],
    owner: 'credential-pool',
    reason: 'waits on loopback for the redirect of a login that the person started',
  },
  {
    files: ['packages/testkit/src/**'],
    uses: ['node:child_process', 'node:http', 'node:net', 'fetch'],
    owner: 'testkit',
    reason: 'real servers and processes for tests; never published',
  },
  {
    files: ['packages/testkit/src/needs.ts'],
    uses: ['process.env'],
    owner: 'testkit',
    reason: 'HERMES_TEST_REQUIRE turns skipped tests into failures',
  },
  {
    files: ['apps/cli/src/commands/demo.ts'],
    uses: ['node:child_process'],
    owner: 'cli',
    reason: "shows the demo project's test before and after; the command is fixed",
  },
]

export const RULES = {
  rows: ROWS,
  exceptions: EXCEPTIONS,
  only: ONLY,
  testOnly: TEST_ONLY,
  heavy: HEAVY,
  sinkModules: SINK_MODULES,
  allowed: ALLOWED,
}
