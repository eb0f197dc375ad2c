// What hermes doctor says of servers that cannot start.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

it('names what keeps a server from starting, and what to do', async () => {
  await using home = await temporaryHome()
  // Still at it when its time is over.
  await mkdir(join(home.path, 'slow'))
  const slow = join(home.path, 'slow', 'npx')
  await writeFile(slow, '#!/bin/sh\necho started >> "$0.starts"\nexec sleep 600\n', { mode: 0o755 })
  const older = { command: process.execPath, args: ['--input-type=module', '-e', "import { none } from 'node:fs'"] }
  const offline = {
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_fetch_retries: '0',
    npm_config_cache: join(home.path, 'npm'),
    npm_config_update_notifier: 'false',
  }
  const servers = {
    missing: { command: 'no-such-server' },
    offline: { command: 'npx', args: ['-y', 'no-such-package-of-hermes'], env: offline },
    slow: { command: slow, args: ['-y', 'tea'], connect_timeout: 6 },
    unset: { command: 'tea', env: { KEY: '${TEA_KEY}' } },
    older,
  }
  const config = { model: { default: 'm', base_url: 'http://127.0.0.1:9' }, mcp_servers: servers }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((one) => one.startsWith('/usr'))
  const env = { PATH: path.join(delimiter), HOME: home.path }
  const world = { env, cwd: home.path, user: 'ada', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  try {
    const { item } = runtime.extensions.list('check').find((one) => one.item.name === 'mcp')!
    const found = await item.run({ isOffline: false, signal: new AbortController().signal })
    expect(found.map(({ level, text }) => `${level} ${text}`)).toEqual([
      'fail The MCP server missing cannot be used: its program no-such-server was not found; install it, or write its whole path. It output: sh: 2: exec: no-such-server: not found.',
      expect.stringMatching(
        /^fail The MCP server offline cannot be used: it ended with exit code 1\. It output: npm error .*127\.0\.0\.1:9/,
      ),
      `fail The MCP server slow cannot be used: it did not answer within 6 s; npx may still be fetching its package. Raise connect_timeout of its entry, or install the package first.`,
      expect.stringMatching(/^fail The MCP server older cannot be used: .*SyntaxError: .* \(Node\.js v/),
    ])
    // It was not taken for one that does not know the newest protocol, and started anew.
    expect(await readFile(`${slow}.starts`, 'utf8')).toBe('started\n')
    expect(runtime.problems).toEqual([
      expect.stringContaining('${TEA_KEY} is not set, so the server is not used. Put it into .env of the home.'),
    ])
  } finally {
    await runtime.close()
  }
}, 60_000)
