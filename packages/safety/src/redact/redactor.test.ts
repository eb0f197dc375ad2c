import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor, createStreamRedactor } from '../index.js'

const SECRET = 'hunter2-&-"correct" horse'

describe('redactValues', () => {
  it.each<[string, string]>([
    ['as it is', `a ${SECRET} b`],
    ['in JSON', JSON.stringify({ key: SECRET })],
    ['in a URL', `?k=${encodeURIComponent(SECRET)}`],
    ['in a form', String(new URLSearchParams({ k: SECRET }))],
    ['in the address of a page', new URL(`http://x.example/?${SECRET}`).href],
    ['after the address of a page', new URL(`http://x.example/#${SECRET}`).href],
    ['in a path', new URL(`http://x.example/${SECRET}`).href],
    ...['', 'a', 'ab', 'abc'].map((before): [string, string] => [
      `in base64 after "${before}"`,
      btoa(`${before}${SECRET}:tail`),
    ]),
    ['in base64url', Buffer.from(`u:${SECRET}`).toString('base64url')],
  ])('finds a value %s', (_, text) => {
    const redacted = createRedactor({ secrets: [SECRET] }).redactValues(text)
    expect(redacted).toContain('[REDACTED]')
    expect(redacted).not.toContain(SECRET)
  })

  it('leaves short values, other text and shapes alone', () => {
    const { redactValues } = createRedactor({ secrets: ['abc', '', 'REDACTED'] })
    const text = 'abc sk-1234567890abcdefgh [REDACTED]'
    expect(redactValues(text)).toBe(text)
  })

  it('covers values that overlap, and values added later', () => {
    const redactor = createRedactor({ secrets: ['abcdefgh'] })
    redactor.add('efghijkl')
    expect(redactor.redactValues('xabcdefghijkly abcdefgh')).toBe('x[REDACTED]y [REDACTED]')
  })

  it('treats special characters as text', () => {
    expect(createRedactor({ secrets: ['a.*b$&c'] }).redactValues('a.*b$&c aXXbc')).toBe('[REDACTED] aXXbc')
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6 }), fc.string(), (secret, text) => {
        const { redactValues } = createRedactor({ secrets: [secret] })
        const once = redactValues(text + secret + text)
        if (secret.trim().length >= 6 && !'[REDACTED]'.includes(secret.trim())) expect(once).toContain('[REDACTED]')
        expect(redactValues(once)).toBe(once)
      }),
    )
  })
})

describe('redactShapes', () => {
  const { redactShapes } = createRedactor({ secrets: [] })

  it.each([
    ['key sk-proj-abcdefghijklmnop1234 end', 'key [REDACTED] end'],
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[REDACTED]'],
    ['AKIAIOSFODNN7EXAMPLE', '[REDACTED]'],
    ['Authorization: Bearer abcdef1234567890', 'Authorization: Bearer [REDACTED]'],
    ['eyJhbGciOiJI.eyJzdWIiOiIx.abc', '[REDACTED]'],
    ['password=hunter22 x', 'password=[REDACTED] x'],
    ['"api_key": "abcd1234"', '"api_key": "[REDACTED]"'],
    ['DB_PASSWORD: s3cr3t!', 'DB_PASSWORD: [REDACTED]'],
    ['postgres://ada:s3cret@db/x', 'postgres://ada:[REDACTED]@db/x'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nafter', '[REDACTED]\nafter'],
    ['-----BEGIN PRIVATE KEY-----\ncut off', '[REDACTED]'],
    [`gsk_${'aB3'.repeat(12)} x`, '[REDACTED] x'],
    [`pplx-${'aB3'.repeat(12)}`, '[REDACTED]'],
    [`SG.${'aB3'.repeat(7)}.${'aB3'.repeat(14)}`, '[REDACTED]'],
    [`ya29.${'aB3'.repeat(12)}`, '[REDACTED]'],
    [`xapp-1-${'AB3'.repeat(12)}`, '[REDACTED]'],
    [`M${'aB3'.repeat(8)}.Cl2FMQ.${'aB3'.repeat(9)}`, '[REDACTED]'],
    [`https://hooks.slack.com/services/T0/B0/${'aB3'.repeat(8)}`, 'https://hooks.slack.com/services/[REDACTED]'],
    [
      `https://discord.com/api/webhooks/12345678/${'aB3'.repeat(8)}`,
      'https://discord.com/api/webhooks/12345678/[REDACTED]',
    ],
    [`AccountName=a;AccountKey=${'aB3+'.repeat(8)}==`, 'AccountName=a;AccountKey=[REDACTED]'],
    ['Set-Cookie: session=abcdef; Path=/\nnext', 'Set-Cookie: [REDACTED]\nnext'],
    ['password=12345678', 'password=[REDACTED]'],
    ['tokens: abcdefgh', 'tokens: [REDACTED]'],
    [`POST /bot123:${'aB3'.repeat(6)}/getMe`, 'POST /bot[REDACTED]/getMe'],
    [`sk_${'aB3'.repeat(8)} fal_${'aB3'.repeat(8)} exa_${'aB3'.repeat(8)}`, '[REDACTED] [REDACTED] [REDACTED]'],
    [`hvs.${'aB3'.repeat(10)}`, '[REDACTED]'],
    ['GET https://api.example.com/v1?key=abcdef12&x=1', 'GET https://api.example.com/v1?key=[REDACTED]&x=1'],
    ['https://ada:p@ss@db.example.com/x', 'https://ada:[REDACTED]@db.example.com/x'],
    ['git clone https://0123456789abcdef@example.com/x', 'git clone https://[REDACTED]@example.com/x'],
  ])('hides %j', (text, expected) => {
    expect(redactShapes(text)).toBe(expected)
  })

  it.each([
    ...['the token is missing', 'task-force sk-ip', 'https://example.com/a:b', 'password: ', 'a secretary'],
    ...['max_tokens=4096', '"tokens": 12345', `export TOKEN=\${TOKEN}`, 'API_KEY=$API_KEY', '"token": null'],
    ...[
      '"prompt_tokens": 12345',
      'prompt_tokens=1200',
      'tokens_used: 45000',
      'token_count = 1234',
      'sk_learn_something_else',
    ],
    ...[
      'const token = getToken()',
      'const token = getToken(request)',
      'token: await.read(key, 1)',
      'ssh://git@example.com/x',
    ],
    ...['const password = getPassword()', 'fw_configuration_settings', 'the cookie jar'],
  ])('leaves %j alone', (text) => {
    expect(redactShapes(text)).toBe(text)
  })

  it('works together with known values', () => {
    expect(createRedactor({ secrets: ['plain-words'] }).redact('plain-words password=plain-words')).toBe(
      '[REDACTED] password=[REDACTED]',
    )
  })
})

describe('createStreamRedactor', () => {
  it('holds back only what may be the start of a secret', () => {
    const stream = createStreamRedactor(createRedactor({ secrets: ['hunter22'] }))
    expect(stream.feed('hello hun')).toBe('hello ')
    expect(stream.feed('gry hunt')).toBe('hungry ')
    expect(stream.feed('er22!')).toBe('[REDACTED]!')
    expect(stream.feed('hunter2')).toBe('')
    expect(stream.flush()).toBe('hunter2')
    expect(stream.feed('x')).toBe('x')
  })

  it('gives what the whole text would give, wherever it is cut', () => {
    // Few letters, so that secrets overlap themselves, each other and the cuts.
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 })
    const secrets = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 9 }), {
      minLength: 1,
      maxLength: 3,
    })
    fc.assert(
      fc.property(secrets, fc.array(text, { maxLength: 8 }), (values, chunks) => {
        const redactor = createRedactor({ secrets: values })
        const stream = createStreamRedactor(redactor)
        const shown = chunks.map((chunk) => stream.feed(chunk)).join('') + stream.flush()
        expect(shown).toBe(redactor.redactValues(chunks.join('')))
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 2000) },
    )
  })

  it('does not collect a stream that could go on being one secret', () => {
    const stream = createStreamRedactor(createRedactor({ secrets: ['aaaaaa'] }))
    const shown = Array.from({ length: 100 }, () => stream.feed('a'.repeat(50))).join('')
    expect(shown).toBe('[REDACTED]')
    expect(stream.flush()).toBe('')
  })
})
