import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS, readSettings } from './settings.js'

it('takes the section of a Hermes Agent as it comes, and says what else is so here', () => {
  const usual = {
    ...{
      backend: '',
      inactivity_timeout: 120,
      command_timeout: 30,
      snapshot_threshold: 15_000,
      record_sessions: false,
    },
    ...{ headed: false, allow_private_urls: false, engine: 'auto', auto_local_for_private_urls: true, cdp_url: '' },
    ...{ use_real_profile: false, real_profile_autoclose: false, real_profile_pin: '', allow_unsafe_evaluate: false },
    ...{ restrict_evaluate: false, dialog_policy: 'must_respond', dialog_timeout_s: 300, cloud_provider: '' },
    camofox: { managed_persistence: false },
  }
  expect(readSettings(usual)).toEqual({ settings: DEFAULT_SETTINGS, problems: [] })
  const changed = { cloud_provider: 'browserbase', allow_private_urls: true, engine: 'lightpanda', headed: true }
  const { settings, problems } = readSettings({ ...usual, ...changed })
  expect(settings).toEqual({ ...DEFAULT_SETTINGS, backend: 'browserbase', isHeaded: true })
  expect(problems.map(({ path, message }) => `${path[0]} ${message}`)).toEqual([
    expect.stringMatching(/^allow_private_urls has no effect here: .*browser\(http:\/\/localhost:\*\)/),
    expect.stringMatching(/^engine has no effect here: /),
  ])
})

it('goes by the newer name of where pages open', () => {
  expect(readSettings({ cloud_provider: 'firecrawl', backend: 'local' }).settings.backend).toBe('local')
  expect(readSettings({ cloud_provider: 'local' }).settings.backend).toBe('local')
  const wrong = readSettings({ cloud_provider: 'nimbus' })
  expect([wrong.settings.backend, wrong.problems[0]!.message]).toEqual(['auto', expect.stringContaining('browserbase')])
})
