import { expect, it } from 'vitest'
import { filterEnvironment, secretLooking } from './filter-environment.js'

it('takes secrets and unset values away and keeps the rest', () => {
  const env = { PATH: '/bin', OPENAI_API_KEY: 'k', GITHUB_TOKEN: 't', NOTHING: undefined }
  expect(filterEnvironment(env, { secretNames: ['OPENAI_API_KEY', 'GITHUB_TOKEN'] })).toEqual({ PATH: '/bin' })
})

it('keeps a secret that is asked for by name', () => {
  const filter = { secretNames: ['A_KEY', 'B_KEY'], keep: ['B_KEY', 'C_KEY'] }
  expect(filterEnvironment({ A_KEY: '1', B_KEY: '2' }, filter)).toEqual({ B_KEY: '2' })
})

const parted = (variable: string): [name: string, value: string] => {
  const at = variable.indexOf('=')
  return [variable.slice(0, at), variable.slice(at + 1)]
}

it.each([
  ...['DATABASE_URL=postgres://ada:hunter22@db.example.com/x', 'SENTRY_DSN=https://abc@o1.ingest.example.com/2'],
  ...[
    'MY_PAT=abcdefgh',
    'DB_PASS=hunter2',
    'npm_config__authToken=abcdefgh',
    'SLACK_WEBHOOK_URL=https://example.com/x',
  ],
  ...['NOTIFY=https://hooks.slack.com/services/T0/B0/abc', 'GITHUB_TOKEN=x1y2', 'AWS_ACCESS_KEY_ID=abcdefgh12345678'],
  ...['AWS_SECRET_ACCESS_KEY=abcdefgh', 'PGPASSWORD=hunter2', 'MYSQL_PWD=hunter2', 'REDISCLI_AUTH=hunter2'],
  ...['THING=ghp_0123456789abcdefghijABCDEFGHIJ012345', 'REDIS_URL=redis://cache.example.com', 'stripeKey=abcdef'],
  ...['PIP_INDEX_URL=https://ada:hunter22@packages.example.com/simple', 'SESSION_COOKIE=abcdef', 'OPENAI_KEY_2=abcdef'],
  ...['CONN=Server=db;password=hunter22', 'JWT=abcdef', 'COOKIE=a=b', 'apiKey=abcdef'],
])('takes %s for a secret', (variable) => {
  const [name, value] = parted(variable)
  expect(secretLooking({ [name]: value })).toEqual([name])
  expect(secretLooking({ [name]: value }, { keep: [name] })).toEqual([])
})

it.each([
  ...[
    'PATH=/usr/bin',
    'HOME=/home/ada',
    'SSH_AUTH_SOCK=/run/x',
    'GIT_AUTHOR_NAME=Ada',
    'MAX_TOKENS=4096',
    'LANG=C.UTF-8',
  ],
  ...['TOKENIZERS_PARALLELISM=false', 'DATABASE_URL=postgres://localhost:5432/test', 'DATABASE_URL=sqlite:///x.db'],
  ...[
    'GOOGLE_APPLICATION_CREDENTIALS=/home/ada/key.json',
    'KEYBOARD_LAYOUT=de',
    'HTTPS_PROXY=http://ada:x1y2z3@proxy:3128',
  ],
  ...['XDG_SESSION_ID=3', 'PASSIVE_MODE=fast', 'NODE_OPTIONS=--max-old-space-size=4096', 'EDITOR=vim', 'COMPASS=north'],
  ...['npm_config_registry=https://npm.example.com/', 'PATTERN=x', 'SSH_ASKPASS=/usr/bin/ask'],
])('takes %s for none', (variable) => {
  const [name, value] = parted(variable)
  expect(secretLooking({ [name]: value })).toEqual([])
})
