import type { LogFields, Logger } from '@hermes/contracts'
import { expect, it } from 'vitest'
import { redactingLogger, secretsIn } from './home-secrets.js'

it('finds what stands under the names of secrets, however deep, and nothing else', () => {
  const config = {
    model: { default: 'gpt', api_key: 'a1', extra_headers: { 'X-Api-Key': 'a2', 'x-title': 'Hermes' } },
    providers: { work: { base_url: 'https://example.com', key_env: 'WORK_KEY', oauth: { client_secret: 'a3' } } },
    custom_providers: [{ name: 'x', api_key: 'a4' }],
    gateway: { api_server: { key: 'a5' } },
    agent: { max_turns: 3 },
    pool: [{ label: 'main', access: 'a6', refresh: 'a7', api_key: '' }],
  }
  expect(secretsIn(config)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'])
  expect(secretsIn(null)).toEqual([])
})

it('logs nothing of what is redacted, neither in the line nor beside it', () => {
  const lines: [string, string, LogFields | undefined][] = []
  const keep = (level: string) => (message: string, fields?: LogFields) => void lines.push([level, message, fields])
  const inner: Logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
  let made = 0
  const logger = redactingLogger(inner, () => {
    made++
    return (text) => text.replaceAll('s3cret', '***')
  })
  expect(made).toBe(0)
  logger.warn('Refused s3cret.', { message: 'key s3cret', attempt: 1 })
  logger.error('No s3cret.')
  expect(lines).toEqual([
    ['warn', 'Refused ***.', { message: 'key ***', attempt: 1 }],
    ['error', 'No ***.', {}],
  ])
  expect(made).toBe(1)
})
