import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkConfig, homeLayout, loadConfig } from './index.js'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
})
afterEach(() => rm(home, { recursive: true }))

const load = async (quirks: string) => {
  await writeFile(homeLayout(home).config, `providers:\n  acme:\n    quirks:\n      ${quirks}\n`)
  return loadConfig({ home, env: {} })
}

describe('quirks of a provider', () => {
  it('hold what is said and nothing else', async () => {
    const { config, problems } = await load(
      'think_tags: [think]\n      refuses_output_limit: yes\n      call_ids: { max_chars: 9, exactly: true }',
    )
    expect(problems).toEqual([])
    expect(config.providers['acme']?.quirks).toEqual({
      think_tags: ['think'],
      refuses_output_limit: true,
      call_ids: { max_chars: 9, exactly: true },
    })
    await writeFile(homeLayout(home).config, 'providers: { acme: { base_url: "http://x/v1" } }')
    expect((await loadConfig({ home, env: {} })).config.providers['acme']).toEqual({ base_url: 'http://x/v1' })
  })

  it('of a wrong name are one line that names the valid ones', async () => {
    const { problems } = await load('think_tag: [think]')
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /config\.yaml:4:18: providers\.acme\.quirks\.think_tag must be named one of output_limit_parameter, .*, think_tags, .*credential_header, found the text "think_tag"\. Its other values are used; nothing was overwritten\.$/,
      ),
    ])
    expect(await checkConfig({ home, env: {} })).toHaveLength(1)
    expect((await load('repair: { start: yes }')).problems[0]?.message).toContain(
      'providers.acme.quirks.repair.start must be named one of merge_adjacent_users, start_with_user, end_with_user, assistant_after_results',
    )
  })

  it('of a wrong value are one line that says what is valid', async () => {
    expect((await load('reasoning_effort_shape: loud')).problems[0]?.message).toContain(
      'providers.acme.quirks.reasoning_effort_shape must be one of flat, nested, thinking, google, none, found the text "loud".',
    )
  })
})
