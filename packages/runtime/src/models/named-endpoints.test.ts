import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@hermes/config'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { namedEndpoints } from './named-endpoints.js'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function read(yaml: string) {
  await writeFile(join(home, 'config.yaml'), yaml)
  const { config, problems } = await loadConfig({ home, env: {} })
  expect(problems).toEqual([])
  return JSON.parse(JSON.stringify(namedEndpoints(config))) as unknown
}

describe('namedEndpoints', () => {
  it('reads an endpoint with all that can be said of it', async () => {
    const yaml = `
providers:
  lab:
    base_url: https://lab.example/v1
    key_env: LAB_KEY
    api_mode: anthropic_messages
    context_length: 64000
    extra_headers: { x-team: a, x-count: 2 }
    extra_body: { top_k: 1 }
    request_timeout_seconds: 9
    models:
      big: { context_length: 512000, stale_timeout_seconds: 60 }
`
    expect(await read(yaml)).toEqual({
      lab: {
        baseUrl: 'https://lab.example/v1',
        keyEnv: 'LAB_KEY',
        api: 'anthropic-messages',
        model: 'big',
        contextLength: 64_000,
        headers: { 'x-team': 'a', 'x-count': '2' },
        body: { top_k: 1 },
        timeoutMs: 9_000,
        models: { big: { contextLength: 512_000, stallTimeoutMs: 60_000 } },
      },
    })
  })

  it('reads the older list too, and lets a map of the same name count', async () => {
    const yaml = `
custom_providers:
  - { name: old, base_url: http://10.0.0.5:8000/v1, models: [a, b] }
  - { name: lab, base_url: http://wrong/v1 }
  - { base_url: http://nameless/v1 }
providers:
  lab: { base_url: http://right/v1 }
`
    expect(await read(yaml)).toEqual({
      old: { baseUrl: 'http://10.0.0.5:8000/v1', models: { a: {}, b: {} } },
      lab: { baseUrl: 'http://right/v1', models: {} },
    })
  })

  it('takes what is none for nothing', async () => {
    expect(
      await read('providers: { lab: { extra_headers: 3, extra_body: [1], models: 7, api_mode: telepathy } }'),
    ).toEqual({
      lab: { models: {} },
    })
  })
})
