import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from './index.js'
import { withTerminalVariables } from './terminal-variables.js'

async function defaults() {
  const home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  return (await loadConfig({ home, env: {} })).config
}

it('lets variables go before the file, read like its values', async () => {
  const config = await defaults()
  const { config: changed, problems } = withTerminalVariables(config, {
    TERMINAL_ENV: 'docker',
    TERMINAL_TIMEOUT: '60',
    TERMINAL_DOCKER_NETWORK: 'no',
    TERMINAL_DOCKER_VOLUMES: '["/a:/b", "/c:/d:ro"]',
    TERMINAL_ENV_PASSTHROUGH: 'ONE, TWO',
    TERMINAL_DOCKER_ENV: '{"A": 1}',
    TERMINAL_SSH_PORT: '2222',
    TERMINAL_ISOLATION: 'off',
  })
  expect(problems).toEqual([])
  expect(changed).toEqual({
    ...config,
    terminal: {
      ...config.terminal,
      backend: 'docker',
      timeout: 60,
      docker_network: false,
      docker_volumes: ['/a:/b', '/c:/d:ro'],
      env_passthrough: ['ONE', 'TWO'],
      docker_env: { A: 1 },
      ssh_port: 2222,
      isolation: 'off',
    },
  })
})

it('names a variable that cannot be, and goes on without it', async () => {
  const config = await defaults()
  const variables = { TERMINAL_CONTAINER_CPU: 'many', TERMINAL_DOCKER_ENV: 'KEY=s3cret', TERMINAL_BACKEND: 'ssh' }
  const { config: changed, problems } = withTerminalVariables(config, variables)
  expect(problems).toEqual([
    'The variable TERMINAL_DOCKER_ENV must be a map, found a text that is no JSON; it is left out.',
    'The variable TERMINAL_CONTAINER_CPU must be a whole number of at least 0, found the text "many"; it is left out.',
  ])
  expect(changed.terminal).toEqual({ ...config.terminal, backend: 'ssh' })
})

it('changes nothing for empty variables and a working directory', async () => {
  const config = await defaults()
  const { config: same } = withTerminalVariables(config, {
    TERMINAL_ENV: '',
    TERMINAL_CWD: '/somewhere',
    TERM: 'xterm',
  })
  expect(same).toBe(config)
})
